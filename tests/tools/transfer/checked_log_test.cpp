#include "tools/transfer/checked_log.hpp"

#include <gmock/gmock.h>

#include "core/builder/base/log_positions.hpp"
#include "core/worker/base/clock.hpp"
#include "tests/simulation/server.hpp"
#include "tests/support/store_calls.hpp"

namespace keysieve::test {
namespace {

constexpr LogPosition kNever{};
constexpr std::uint64_t kHour = 3'600'000;

LogPosition at(std::uint64_t milliseconds) {
  return log_position(milliseconds, 0);
}

// A log whose entries the case writes. Their positions are small numbers.
class CheckedLogTest : public ::testing::Test {
 protected:
  CheckedLogTest() { log().begun = at(1); }

  ServerContents::Log& log() { return server_.contents.logs[kLog]; }
  // 0: a key of another client, which has no ordinal.
  void put_key(std::uint64_t ordinal, std::uint64_t milliseconds) {
    log().entries[at(milliseconds)] = {.position = at(milliseconds), .key = "key", .ordinal = ordinal};
    log().end = std::max(log().end, at(milliseconds));
    log().count = std::max(log().count, ordinal);
  }
  void put_mark(std::uint64_t milliseconds) { log().end = at(milliseconds); }
  void trim(std::uint64_t milliseconds) { server_.trim(kLog, at(milliseconds)); }
  // The last entries are gone, as after a failover.
  void fall_back_to(std::uint64_t milliseconds) {
    log().entries.erase(log().entries.upper_bound(at(milliseconds)), log().entries.end());
    log().end = at(milliseconds);
    log().count = 0;
    for (const auto& [position, entry] : log().entries) log().count = std::max(log().count, entry.ordinal);
  }
  [[nodiscard]] CheckedLog read(const LogWitness& known, const LogPosition& trimmed_to = kNever,
                                const LogPosition& behind_since = kNever, std::uint64_t is_gone = 0) {
    CheckedLog checked(server_, kLog, {known, behind_since, is_gone}, trimmed_to);
    checked.read_to_end();
    return checked;
  }
  void expect_whole(const LogWitness& known, const LogPosition& trimmed_to = kNever) {
    const CheckedLog checked = read(known, trimmed_to);
    EXPECT_FALSE(checked.has_lost());
    EXPECT_FALSE(checked.is_behind());
    EXPECT_EQ(checked.known().lost_to, kNever);
  }
  void expect_behind(const LogWitness& known) {
    const CheckedLog checked = read(known);
    EXPECT_TRUE(checked.is_behind());
    EXPECT_FALSE(checked.has_lost());
    EXPECT_EQ(checked.known(), known) << "nothing that lasts";
  }
  void expect_lost(const LogWitness& known, std::uint64_t up_to) {
    const CheckedLog checked = read(known);
    EXPECT_TRUE(checked.has_lost());
    EXPECT_FALSE(checked.is_behind());
    EXPECT_EQ(checked.known().lost_to, at(up_to));
    EXPECT_EQ(read(checked.known()).known().lost_to, at(up_to)) << "and no further when it is read again";
  }

  Server server_{"redis:server"};
  LogWitness second_{.begun = at(1), .position = at(20), .lost_to = {}, .ordinal = 2};  // of the keys below
  void put_three_keys() {
    for (const std::uint64_t ordinal : {1U, 2U, 3U}) put_key(ordinal, 10 * ordinal);
  }
};

TEST_F(CheckedLogTest, HasWhatWasKnownAndGoesOn) {
  put_three_keys();
  put_mark(35);
  expect_whole(second_);
  EXPECT_EQ(read(second_).known(), (LogWitness{at(1), at(30), {}, 3}));
  fall_back_to(20);
  expect_whole(second_);
}

TEST_F(CheckedLogTest, IsKnownFromNothing) {
  expect_whole({});
  EXPECT_EQ(read({}).known(), (LogWitness{at(1), {}, {}, 0}));
  put_three_keys();
  EXPECT_EQ(read({}).known(), (LogWitness{at(1), at(30), {}, 3}));
  trim(30);
  EXPECT_EQ(read({}).known(), (LogWitness{at(1), {}, {}, 3}));
  put_key(4, 40);
  expect_whole({at(1), {}, {}, 3});
}

// Some of what was known may be read again, from before it.
TEST_F(CheckedLogTest, IsReadFromAnyPlaceBeforeWhatWasKnown) {
  put_three_keys();
  for (const LogWitness& known : {second_, LogWitness{at(1), {}, {}, 2}}) {
    CheckedLog checked(server_, kLog, {.witness = known}, {});
    checked.read_after({}, 100);
    EXPECT_FALSE(checked.has_lost());
    EXPECT_EQ(checked.known(), (LogWitness{at(1), at(30), {}, 3}));
  }
}

TEST_F(CheckedLogTest, MayBeTrimmedEvenIfItsReaderHasNotHeardOfIt) {
  put_three_keys();
  trim(20);
  expect_whole(second_);
  expect_whole(second_, at(20));
  trim(30);
  expect_lost(second_, 30);  // the third: it was never known, and need not have been trimmed
  expect_whole(second_, at(30));
}

TEST_F(CheckedLogTest, MayBeALateCopy) {
  put_three_keys();
  expect_behind({.begun = at(1), .position = {}, .lost_to = {}, .ordinal = 7});  // of a trimmed one
  log().begun = at(300);
  expect_behind({.begun = at(400), .position = at(500), .lost_to = {}, .ordinal = 2});
  log().begun = at(1);
  fall_back_to(10);
  expect_behind(second_);
  log() = {};
  expect_behind(second_);
}

TEST_F(CheckedLogTest, HasLostKeysIfOthersStandInTheirPlace) {
  put_key(1, 10);
  put_key(2, 25);
  expect_lost(second_, 25);
}

// As many as there were, at positions that were read already: the clock of the server is behind.
TEST_F(CheckedLogTest, HasLostKeysIfOthersStandBeforeThem) {
  put_key(1, 10);
  put_key(2, 15);
  expect_behind(second_);
  put_key(3, 30);
  expect_lost(second_, 30);
}

// Five were restored, and five have come since.
TEST_F(CheckedLogTest, HasLostKeysThoughItsCountIsAsItWas) {
  for (std::uint64_t ordinal = 1; ordinal <= 5; ++ordinal) put_key(ordinal, 10 * ordinal);
  for (std::uint64_t ordinal = 6; ordinal <= 10; ++ordinal) put_key(ordinal, 100 + ordinal);
  expect_lost({at(1), at(100), {}, 10}, 106);
}

TEST_F(CheckedLogTest, HasLostKeysIfItGoesOnWithoutThem) {
  put_key(1, 10);
  put_mark(35);
  expect_lost(second_, 35);
}

TEST_F(CheckedLogTest, HasLostKeysBetweenOthers) {
  put_three_keys();
  put_key(5, 50);
  expect_lost(second_, 50);
  expect_lost({}, 50);
  expect_whole(second_, at(45));  // trimmed, as far as this reader has heard
}

TEST_F(CheckedLogTest, HasLostAllKeysOfAnotherLog) {
  put_three_keys();
  const LogWitness of_another{.begun = at(2), .position = at(20), .lost_to = {}, .ordinal = 2};
  log().begun = at(300);
  expect_lost(of_another, 300);
  EXPECT_EQ(read(of_another, {}, at(250), 1).known().lost_to, at(250)) << "it was gone already";
  EXPECT_EQ(read(of_another, {}, at(900), 1).known().lost_to, at(300)) << "the clock was ahead then";
  EXPECT_EQ(read(of_another, {}, at(250)).known().lost_to, at(300)) << "it may have got keys since";
  EXPECT_EQ(read(of_another).known().ordinal, 3U);
}

TEST_F(CheckedLogTest, HasLostNoMoreThanWhatWasThereBeforeItLackedKeys) {
  put_three_keys();
  const LogWitness known{.begun = at(1), .position = at(25), .lost_to = {}, .ordinal = 9};
  const CheckedLog checked = read(known, {}, at(26));
  EXPECT_TRUE(checked.has_lost());
  EXPECT_LE(checked.known().lost_to, at(26));
}

TEST_F(CheckedLogTest, MayLoseNoticesAndGetKeysOfOtherClients) {
  put_key(1, 10);
  put_key(0, 12);
  put_key(2, 20);
  put_key(0, 25);
  put_mark(35);
  expect_whole({at(1), at(10), {}, 1});
  const LogWitness known = read(second_).known();
  EXPECT_EQ(known, (LogWitness{at(1), at(25), {}, 2}));
  fall_back_to(25);
  expect_whole(known);
  put_key(3, 30);
  expect_whole(known);
}

TEST_F(CheckedLogTest, IsComparedTheSameHoweverManyAreReadAtATime) {
  for (std::uint64_t ordinal = 1; ordinal <= 1000; ++ordinal) put_key(ordinal, 10 * ordinal);
  expect_whole(second_);
  expect_lost({at(1), at(21), {}, 2}, 30);
  EXPECT_EQ(read({at(1), at(21), {}, 2}).known().ordinal, 1000U);
}

// A server whose clock is wrong by years must not make every build useless for years.
TEST_F(CheckedLogTest, HasLostNothingFarInTheFuture) {
  const auto now = static_cast<std::uint64_t>(unix_now_ms());
  put_key(1, now + 8760 * kHour);
  const LogWitness known = read({}).known();
  log() = {.entries = {}, .begun = at(now + 8760 * kHour), .end = {}, .count = 0, .trimmed_to = {}};
  const LogPosition lost_to = read(known).known().lost_to;
  EXPECT_GE(lost_to, at(now + kHour));
  EXPECT_LT(lost_to, at(now + 2 * kHour));
}

}  // namespace
}  // namespace keysieve::test
