#include "core/worker/seen/seen_reader.hpp"

#include <array>

#include "core/publisher/seen/new_segment.hpp"
#include "core/worker/seen/seen_facts.hpp"
#include "tests/core/seen/seen_sets.hpp"

namespace keysieve {
namespace {

using test::append;
using test::at;
using test::is_new;
using test::numbered_hash;
using test::was_seen;

class SeenReaderTest : public test::SeenSets {
 protected:
  // Appends filters one after the other and retires those that have expired: more than a page has room for.
  void append_many(SeenWriter& writer, int count) {
    for (int i = 0; i < count; ++i) {
      append(writer, {next_window()});
      if (i % 100 == 0) writer.retire(at(windows_));
    }
    writer.retire(at(windows_));
  }
  // Expires as soon as the one after it is there.
  SeenPlan next_window() { return plan(++windows_); }

  UnixSeconds windows_ = 0;
};

TEST_F(SeenReaderTest, RemembersTheKeysOfOlderWindows) {
  SeenWriter writer = started_writer();
  SeenReader reader = this->reader();
  for (std::uint64_t window = 0; window < 10; ++window) {
    EXPECT_TRUE(is_new(reader, numbered_hash(window)));
    append(writer, {plan()});
    for (std::uint64_t key = 0; key <= window; ++key) {
      EXPECT_TRUE(was_seen(reader, numbered_hash(key)));
      EXPECT_FALSE(is_new(reader, numbered_hash(key)));
    }
  }
  EXPECT_EQ(reader.attached(), writer.state());
  EXPECT_EQ(reader.filters().size(), 11U);
}

TEST_F(SeenReaderTest, AddsKeysToTheNewestFilterAlone) {
  SeenWriter writer = started_writer();
  SeenReader reader = this->reader();
  EXPECT_TRUE(reader.follow());
  append(writer, {plan(), plan()});
  EXPECT_TRUE(is_new(reader, numbered_hash(1)));
  EXPECT_FALSE(writer.filters()[0].filter.may_contain(numbered_hash(1)));
  EXPECT_FALSE(writer.filters()[1].filter.may_contain(numbered_hash(1)));
  EXPECT_TRUE(writer.filters()[2].filter.may_contain(numbered_hash(1)));
}

TEST_F(SeenReaderTest, ForgetsOnlyWhatHasExpired) {
  SeenWriter writer = new_writer({plan(100)});
  SeenReader reader = this->reader();
  EXPECT_TRUE(is_new(reader, numbered_hash(1)));
  append(writer, {plan(200)});
  EXPECT_TRUE(is_new(reader, numbered_hash(2)));
  EXPECT_EQ(writer.retire(at(99)), 0U);
  EXPECT_FALSE(is_new(reader, numbered_hash(1)));
  EXPECT_EQ(writer.retire(at(100)), 1U);
  EXPECT_FALSE(was_seen(reader, numbered_hash(1)));
  EXPECT_TRUE(is_new(reader, numbered_hash(1)));
  EXPECT_FALSE(is_new(reader, numbered_hash(2)));
  EXPECT_EQ(reader.filters().size(), 1U);
}

TEST_F(SeenReaderTest, CatchesUpAfterAnyNumberOfWindows) {
  SeenWriter writer = new_writer({next_window()});
  SeenReader reader = this->reader();
  for (const int windows : {1, 100, 511, 512, 600, 1'023, 1'024, 1'500}) {
    SCOPED_TRACE(windows);
    const auto key = static_cast<std::uint64_t>(windows);
    EXPECT_TRUE(is_new(reader, numbered_hash(key)));
    append_many(writer, windows);
    EXPECT_TRUE(is_new(reader, numbered_hash(key))) << "it was only in a filter that is gone";
    EXPECT_FALSE(is_new(reader, numbered_hash(key)));
    EXPECT_EQ(reader.attached(), writer.state());
  }
}

TEST_F(SeenReaderTest, CatchesUpWithinACall) {
  SeenWriter writer = new_writer({next_window()});
  for (const int windows : {1, 511, 512, 600, 1'024, 1'025}) {
    SCOPED_TRACE(windows);
    const auto key = static_cast<std::uint64_t>(windows);
    SeenReader reader = this->reader();
    ASSERT_TRUE(reader.follow());
    append_many(writer, windows);
    SeenReader later = this->reader();
    EXPECT_TRUE(is_new(later, numbered_hash(2 * key)));
    EXPECT_EQ(reader.add_if_new(numbered_hash(2 * key)), SeenAnswer::Seen);
    ASSERT_TRUE(reader.is_ready()) << reader.reason();
    append_many(writer, windows);
    EXPECT_EQ(reader.add_if_new(numbered_hash(2 * key + 1)), SeenAnswer::New);
    EXPECT_FALSE(is_new(later, numbered_hash(2 * key + 1)));
  }
}

// The loader has come round in the page since, and written other windows over their entries.
TEST_F(SeenReaderTest, TellsTheFactsOfTheFiltersThatAreAttached) {
  SeenWriter writer = new_writer({plan(1)});
  SeenReader reader = this->reader();
  EXPECT_TRUE(is_new(reader, numbered_hash(1)));
  append(writer, {plan(2)});
  EXPECT_EQ(writer.retire(at(2)), 1U);
  for (std::uint32_t i = 0; i < kSeenEntries; ++i) writer.show();
  const SeenFacts facts = seen_facts(reader);
  EXPECT_EQ(facts.filters, 1U);
  EXPECT_EQ(facts.newest_ends, 1);
  EXPECT_EQ(facts.keys, 1);
}

// Another call may have added the key by its other hash.
TEST_F(SeenReaderTest, DoesNotKnowWhenThePageIsReplacedByOneOfAnotherSeedDuringTheCall) {
  for (const HashSeed& seed : {kOtherSeed, kSeed}) {
    SeenWriter writer = started_writer();
    SeenReader reader = this->reader();
    ASSERT_TRUE(reader.follow());
    std::array<bool, 1> are_new{};
    writer.create(seed, OnUnavailable::New);
    append(writer, {plan()});
    const HashSeed before = reader.seed();
    EXPECT_EQ(reader.add_if_new(numbered_hash(1)), seed == before ? SeenAnswer::New : SeenAnswer::Unknown);
    EXPECT_TRUE(reader.follow());
    EXPECT_EQ(reader.seed(), seed);
    writer.create(before, OnUnavailable::New);
    append(writer, {plan()});
    EXPECT_EQ(reader.add_many_if_new({{numbered_hash(2)}}, are_new.data()), seed == before ? 1U : 0U);
  }
}

TEST_F(SeenReaderTest, IsBypassedUntilTheEndOfTheBypassEvenWithoutALoader) {
  SeenWriter writer = started_writer();
  SeenReader reader = this->reader();
  EXPECT_TRUE(is_new(reader, numbered_hash(1)));
  const auto bypass = [&](UnixSeconds until) {
    writer.page().bypass_until = until;
    writer.page().state.fetch_or(SeenState::kBypassBit);
  };
  bypass(0);
  EXPECT_FALSE(reader.follow());
  EXPECT_EQ(reader.availability(), Availability::Bypassed);
  EXPECT_EQ(reader.reason(), "bypassed by an operator");
  append(writer, {plan()});
  EXPECT_TRUE(writer.state().is_bypassed);
  EXPECT_FALSE(reader.follow()) << "filters change, it stays";
  EXPECT_EQ(reader.attached(), writer.state());
  writer.clear_expired_bypass(kForever);
  EXPECT_TRUE(writer.state().is_bypassed) << "it has no end";
  bypass(unix_now() + 2);
  reader.check_soon();
  EXPECT_FALSE(reader.follow());
  EXPECT_TRUE(test::eventually([&] {
    reader.check_soon();
    return reader.follow();
  }));
  EXPECT_GE(unix_now(), writer.page().bypass_until);
  EXPECT_FALSE(is_new(reader, numbered_hash(1)));
  writer.clear_expired_bypass(writer.page().bypass_until - 1);
  EXPECT_TRUE(writer.state().is_bypassed);
  writer.clear_expired_bypass(writer.page().bypass_until);
  EXPECT_FALSE(writer.state().is_bypassed);
  EXPECT_TRUE(is_new(reader, numbered_hash(2)));
}

TEST_F(SeenReaderTest, DoesNotKnowWhenABypassBeginsDuringTheCall) {
  const SeenWriter writer = started_writer();
  SeenReader reader = this->reader();
  EXPECT_TRUE(reader.follow());
  writer.page().state.fetch_or(SeenState::kBypassBit);
  EXPECT_EQ(reader.add_if_new(numbered_hash(1)), SeenAnswer::Unknown);
  EXPECT_EQ(reader.availability(), Availability::Bypassed);
}

TEST_F(SeenReaderTest, KeepsNoFileOpenAndNoSegmentThatIsRetired) {
  SeenWriter writer = new_writer({next_window()});
  const auto open_files = [] {
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
  };
  const auto mapped_segments = [] {
    std::ifstream maps("/proc/self/maps");
    int count = 0;
    for (std::string line; std::getline(maps, line);)
      count += line.find("/SYSV") != std::string::npos ? 1 : 0;
    return count;
  };
  const auto files_before = open_files();
  const int segments_before = mapped_segments();
  SeenReader reader = this->reader();
  EXPECT_TRUE(reader.follow());
  EXPECT_EQ(open_files(), files_before);
  for (int i = 0; i < 20; ++i) {
    append(writer, {next_window()});
    writer.retire(at(windows_));
    EXPECT_TRUE(reader.follow());
    EXPECT_EQ(mapped_segments(), segments_before + 1);
  }
}

// Batches of keys, which a worker adds in one call.
class SeenBatch : public test::SeenSets {
 protected:
  static std::vector<KeyHash> hashes(std::uint64_t first, std::uint64_t count) {
    std::vector<KeyHash> all;
    for (std::uint64_t i = 0; i < count; ++i) all.push_back(numbered_hash(first + i));
    return all;
  }
};

TEST_F(SeenBatch, OfAnySizeIsAnsweredWithAnyNumberOfFilters) {
  SeenWriter writer = new_writer();
  SeenPlan large = plan();
  large.size.words *= 64;
  SeenReader reader = this->reader();
  std::uint64_t first = 0;
  for (const std::size_t filters : {1U, 2U, 255U, 257U, 512U}) {
    while (writer.filters().size() < filters)
      append(writer, {writer.filters().size() + 1 == filters ? large : plan()});
    for (const std::uint64_t keys : {1U, 255U, 256U, 257U, 600U}) {
      const std::vector<KeyHash> batch = hashes(first, keys);
      const auto are_new = std::make_unique<bool[]>(keys);
      ASSERT_TRUE(reader.follow());
      EXPECT_EQ(reader.add_many_if_new(batch, are_new.get()), keys);
      EXPECT_EQ(std::count(&are_new[0], &are_new[0] + keys, true), static_cast<std::ptrdiff_t>(keys));
      first += keys;
    }
  }
}

TEST_F(SeenBatch, FollowsAFilterThatIsAppendedMeanwhile) {
  SeenWriter writer = started_writer();
  SeenReader reader = this->reader();
  EXPECT_TRUE(reader.follow());
  append(writer, {plan()});
  std::array<bool, 20> are_new{};
  EXPECT_EQ(reader.add_many_if_new(hashes(0, 20), are_new.data()), 20U);
  EXPECT_EQ(std::count(are_new.begin(), are_new.end(), true), 20);
  SeenReader later = this->reader();
  EXPECT_TRUE(later.follow());
  EXPECT_EQ(later.add_many_if_new(hashes(0, 20), are_new.data()), 20U);
  EXPECT_EQ(std::count(are_new.begin(), are_new.end(), true), 0);
}

TEST_F(SeenBatch, EndsWhereTheSetBecomesUnavailable) {
  SeenWriter writer = started_writer();
  SeenReader reader = this->reader();
  for (std::uint64_t key = 0; key < 5; ++key) EXPECT_TRUE(is_new(reader, numbered_hash(key)));
  append(writer, {plan()});
  remove_segment(writer.filters()[1].segment.key());
  std::array<bool, 10> are_new{};
  EXPECT_EQ(reader.add_many_if_new(hashes(0, 10), are_new.data()), 5U)
      << "those that were seen; the next one needs the newer filter";
  EXPECT_THAT(are_new, ::testing::Each(false));
  EXPECT_FALSE(reader.is_ready());
}

}  // namespace
}  // namespace keysieve
