#include "tools/loader/adds/adds_mirror.hpp"

#include <gmock/gmock.h>
#include <sys/syscall.h>

#include <algorithm>
#include <fstream>

#include "core/builder/base/log_positions.hpp"
#include "core/worker/base/error.hpp"
#include "tests/support/call_faults.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Entries = std::vector<LogEntry>;

LogEntry add(std::uint64_t milliseconds, std::string key) {
  return {log_position(milliseconds, 0), std::move(key)};
}

Entries adds(std::uint64_t first, std::uint64_t count) {
  Entries entries;
  for (std::uint64_t at = first; at < first + count; ++at)
    entries.push_back(add(at, "key-" + std::to_string(at)));
  return entries;
}

std::vector<std::string> keys_after(const AddsMirror& mirror, const LogPosition& position = {}) {
  std::vector<std::string> keys;
  mirror.visit_after(position, [&](std::string_view key) { keys.emplace_back(key); });
  return keys;
}

class AddsMirrorTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return directory_ / "tags.adds"; }
  // What a loader finds that starts now.
  [[nodiscard]] std::vector<std::string> saved_keys() const {
    AddsMirror mirror(path());
    mirror.load();
    return keys_after(mirror);
  }

  TemporaryDirectory directory_;
  AddsMirror mirror_{path()};
};

TEST_F(AddsMirrorTest, HasAllThatItsFileHoldsOrSaysWhyNotWhateverFaultItMeets) {
  mirror_.merge(adds(1, 50));
  mirror_.save();
  CallFaults faults;
  int cannot_sync = 0;
  const auto load = [this] {
    AddsMirror mirror(path());
    mirror.load();
    if (keys_after(mirror).size() != 50) throw std::runtime_error("keys are lost");
    if (mirror.unsaved() == 50) throw std::runtime_error("unsaved");
  };
  const int calls = for_each_call_fault([&](const CallFault& fault, int at) {
    const FaultyEnd end = faults.meet(fault, at, load);
    EXPECT_THAT(end.message, Not(AnyOf(HasSubstr("lost"), HasSubstr("damaged"))));
    if (end.call == SYS_fsync && end.has_met_fault) {
      EXPECT_THAT(end.message, HasSubstr("unsaved"));
      ++cannot_sync;
    }
    return end.has_met_fault;
  });
  EXPECT_GT(calls, 5);
  EXPECT_GT(cannot_sync, 0);
}

TEST_F(AddsMirrorTest, TakesEachEntryOnce) {
  EXPECT_EQ(mirror_.merge(adds(1, 100)), LogPosition{});
  EXPECT_EQ(mirror_.merge(adds(1, 100)), std::nullopt);
  EXPECT_EQ(mirror_.merge(adds(51, 100)), log_position(100, 0));
  EXPECT_EQ(keys_after(mirror_), keys_of(adds(1, 150)));
}

TEST_F(AddsMirrorTest, CountsAndVisitsEntriesAfterAPosition) {
  mirror_.merge(adds(1, 10));
  EXPECT_EQ(mirror_.count_after(log_position(7, 0)), 3U);
  EXPECT_EQ(mirror_.count_after(log_position(7, 1)), 3U);
  EXPECT_EQ(keys_after(mirror_, log_position(8, 0)), (std::vector<std::string>{"key-9", "key-10"}));
  EXPECT_EQ(mirror_.count_after(log_position(10, 0)), 0U);
}

TEST_F(AddsMirrorTest, TakesAnOlderPartOfTheLog) {
  mirror_.merge(adds(100, 50));
  mirror_.save();
  EXPECT_EQ(mirror_.merge(adds(50, 60)), LogPosition{});
  mirror_.save();
  EXPECT_EQ(keys_after(mirror_), keys_of(adds(50, 100)));
  EXPECT_EQ(saved_keys(), keys_of(adds(50, 100)));
  mirror_.merge(adds(150, 10));
  mirror_.save();
  EXPECT_EQ(saved_keys(), keys_of(adds(50, 110)));
}

TEST_F(AddsMirrorTest, FillsTheGapsOfWhatItHas) {
  for (std::uint64_t at = 2; at <= 20; at += 2) mirror_.merge(adds(at, 1));
  EXPECT_EQ(mirror_.merge(adds(7, 4)), log_position(6, 0));
  EXPECT_EQ(mirror_.count_after({}), 12U);
  mirror_.merge(adds(1, 20));
  EXPECT_EQ(keys_after(mirror_), keys_of(adds(1, 20)));
}

// A failover to a server that had not got the last entries, and whose clock is behind.
TEST_F(AddsMirrorTest, KeepsBothKeysThatAPositionWasGivenTo) {
  const Entries before{add(1, "a"), add(2, "b"), add(3, "c")};
  const Entries after{add(1, "a"), add(2, "x"), add(3, "y"), add(4, "z")};
  mirror_.merge(before);
  for (int i = 0; i < 2; ++i) {
    mirror_.merge(after);
    mirror_.merge(before);
    mirror_.save();
    auto keys = saved_keys();
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(keys, (std::vector<std::string>{"a", "b", "c", "x", "y", "z"}));
  }
}

TEST_F(AddsMirrorTest, ForgetsWhatIsTrimmed) {
  mirror_.merge(adds(1, 10000));
  mirror_.save();
  mirror_.trim(log_position(9000, 0));
  mirror_.save();
  EXPECT_EQ(keys_after(mirror_), keys_of(adds(9001, 1000)));
  EXPECT_EQ(saved_keys(), keys_of(adds(9001, 1000)));
  mirror_.trim(log_position(20000, 0));
  mirror_.save();
  EXPECT_TRUE(saved_keys().empty());
  mirror_.merge(adds(20001, 1));
  mirror_.save();
  EXPECT_EQ(saved_keys(), keys_of(adds(20001, 1)));
}

TEST_F(AddsMirrorTest, KeepsWhatIsKnownOfTheLogAndCountsALossAsUnsaved) {
  const auto saved = [this] {
    AddsMirror mirror(path());
    mirror.load();
    return mirror.known_log();
  };
  KnownLog known{.witness = {.begun = log_position(1, 0), .position = log_position(9, 0), .ordinal = 9}};
  mirror_.know(known);
  EXPECT_EQ(mirror_.unsaved(), 0U) << "a mere step, for which nothing is written";
  mirror_.merge(adds(1, 9));
  mirror_.save();
  EXPECT_EQ(saved(), known);
  known.witness.lost_to = log_position(20, 0);
  known.is_gone = 1;
  mirror_.know(known);
  EXPECT_EQ(mirror_.unsaved(), 1U);
  mirror_.save();
  EXPECT_EQ(mirror_.unsaved(), 0U);
  EXPECT_EQ(saved(), known);
  mirror_.trim(log_position(9, 0));
  mirror_.save();
  EXPECT_EQ(saved(), known);
  std::ofstream(path(), std::ios::app) << "torn";
  mirror_.merge(adds(30, 1));
  mirror_.save();
  EXPECT_EQ(saved(), known);
  EXPECT_EQ(saved_keys(), keys_of(adds(30, 1)));
}

}  // namespace
}  // namespace keysieve::test
