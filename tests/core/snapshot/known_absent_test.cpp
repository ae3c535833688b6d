// Snapshots with known-absent keys: each key in the list is absent, and no key of the set is.
#include <gmock/gmock.h>

#include <cmath>
#include <memory>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/error.hpp"
#include "tests/core/kind_ids.hpp"
#include "tests/core/sample_snapshot.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::decode;
using test::may_contain;
using test::numbered_keys;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

using Keys = std::vector<std::string>;

const BuildSettings kDefaults{.set_name = "tags"};

void add_known_absent(SnapshotBuilder& builder, unsigned thread, const Keys& keys) {
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  builder.add_known_absent(thread, views);
}

SnapshotBytes build(BuildSettings settings, const Keys& keys, const Keys& known_absent) {
  settings.has_known_absent = true;
  SnapshotBuilder builder(settings);
  for (const std::string& key : keys) builder.add(key);
  add_known_absent(builder, 0, known_absent);
  return builder.finish();
}

int count_maybe(const SnapshotView& snapshot, const Keys& keys) {
  return static_cast<int>(
      std::ranges::count_if(keys, [&](const std::string& key) { return may_contain(snapshot, key); }));
}

class KnownAbsentConformance : public ::testing::TestWithParam<test::KindAndShardBytes> {
 protected:
  [[nodiscard]] static BuildSettings settings() {
    return {.set_name = "tags",
            .kind = find_filter_kind(std::get<0>(GetParam())),
            .shard_bytes = std::get<1>(GetParam())};
  }
};

TEST_P(KnownAbsentConformance, KnownAbsentKeysAreAbsentAndKeysOfTheSetAreNot) {
  const Keys keys = numbered_keys("key", 300);
  for (const int known_absent : {1, 30, 300, 3'000, 30'000}) {
    const Keys absent = numbered_keys("absent", known_absent);
    const SnapshotBytes snapshot = build(settings(), keys, absent);
    const SnapshotView view = decode(snapshot);
    EXPECT_EQ(count_maybe(view, keys), 300) << known_absent;
    EXPECT_EQ(count_maybe(view, absent), 0) << known_absent;
    EXPECT_EQ(view.header().known_absent, static_cast<std::uint64_t>(known_absent));
    EXPECT_EQ(view.header().key_count, 300U);
  }
}

// Full shards.
TEST_P(KnownAbsentConformance, UnknownKeysMeetTheTarget) {
  const Keys keys = numbered_keys("key", 10'000);
  const Keys absent = numbered_keys("absent", 20'000);
  const SnapshotBytes snapshot = build(settings(), keys, absent);
  const SnapshotView view = decode(snapshot);
  EXPECT_EQ(count_maybe(view, keys), 10'000);
  EXPECT_EQ(count_maybe(view, absent), 0);
  constexpr int kUnknown = 20'000;
  const double expected = kUnknown * view.header().estimated_fpr;
  EXPECT_LE(view.header().estimated_fpr, 0.0105);
  EXPECT_NEAR(count_maybe(view, numbered_keys("unknown", kUnknown)), expected, 5.0 * std::sqrt(expected));
}

TEST_P(KnownAbsentConformance, HoldsAtTheLowestTargetOfTheKind) {
  BuildSettings lowest = settings();
  lowest.target_fpr = lowest_target(*lowest.kind, {.shard_bytes = lowest.shard_bytes});
  lowest.growth = 1.5;
  const Keys keys = numbered_keys("key", 2'000);
  const Keys absent = numbered_keys("absent", 2'000);
  const SnapshotBytes snapshot = build(lowest, keys, absent);
  const SnapshotView view = decode(snapshot);
  EXPECT_EQ(count_maybe(view, keys), 2'000);
  EXPECT_EQ(count_maybe(view, absent), 0);
  EXPECT_LE(count_maybe(view, numbered_keys("unknown", 20'000)), 2);
}

TEST_P(KnownAbsentConformance, EveryInstructionSetAnswersBatchesAndSingleKeysAlike) {
  for (const double growth : {1.0, 100.0}) {  // in the second-level cache, and beyond
    BuildSettings sized = settings();
    sized.growth = growth;
    const SnapshotBytes snapshot = build(sized, numbered_keys("key", 10'000), numbered_keys("absent", 5'000));
    ASSERT_EQ(snapshot.get().size() > (std::size_t{512} << 10), growth > 1.0);
    const SnapshotView view = decode(snapshot);
    std::vector<KeyHash> probes;
    for (const char* prefix : {"key", "absent", "unknown"}) {
      for (const std::string& key : numbered_keys(prefix, 333)) probes.push_back(view.hasher()(key));
    }
    const Lookup scalar = view.kind().lookup(view.shards().params, InstructionSet::Scalar);
    for (const InstructionSet instructions : instruction_sets()) {
      const Lookup lookup = view.kind().lookup(view.shards().params, instructions);
      const auto results = std::make_unique<bool[]>(probes.size());
      lookup.may_contain_many(view.shards(), probes, results.get());
      for (std::size_t i = 0; i < probes.size(); ++i) {
        ASSERT_EQ(results[i], scalar.may_contain(view.shards(), probes[i])) << i;
        ASSERT_EQ(results[i], lookup.may_contain(view.shards(), probes[i])) << i;
      }
    }
  }
}

// Sets that are large only because they are to grow let no absent key pass the filter.
TEST(KnownAbsent, BatchesFromALargeSetAskTheSecondLevel) {
  const SnapshotBytes bytes =
      build(kDefaults, numbered_keys("key", 450'000), numbered_keys("absent", 10'000));
  ASSERT_GT(bytes.get().size(), std::size_t{512} << 10);
  const SnapshotView view = decode(bytes);
  std::vector<KeyHash> hashes(view.known_absent_sample().begin(), view.known_absent_sample().end());
  ASSERT_EQ(hashes.size(), kKnownAbsentSample) << "of those that pass the filter";
  for (const std::string& key : numbered_keys("key", 64)) hashes.push_back(view.hasher()(key));
  std::array<bool, 2 * kKnownAbsentSample> results{};
  view.may_contain_many(hashes, results.data());
  for (std::size_t i = 0; i < hashes.size(); ++i) EXPECT_EQ(results[i], i >= kKnownAbsentSample) << i;
}

INSTANTIATE_TEST_SUITE_P(EveryKind, KnownAbsentConformance,
                         ::testing::Combine(test::every_kind_id(), ::testing::Values(1024U, 2048U, 4096U)),
                         test::name_of_kind_and_size);

TEST(KnownAbsent, AKeyInBothListsCountsAsAKeyOfTheSet) {
  BuildSettings settings{.set_name = "tags", .has_known_absent = true};
  SnapshotBuilder builder(settings);
  for (const std::string& key : numbered_keys("key", 100)) builder.add(key);
  add_known_absent(builder, 0, numbered_keys("key", 10));
  add_known_absent(builder, 0, {"absent", "absent"});
  const SnapshotBytes snapshot = builder.finish();
  EXPECT_EQ(builder.keys_in_both_lists(), 10U);
  EXPECT_EQ(builder.known_absent_given(), 12U);
  EXPECT_EQ(decode(snapshot).header().known_absent, 1U);
  EXPECT_EQ(count_maybe(decode(snapshot), numbered_keys("key", 100)), 100);
}

TEST(KnownAbsent, AnEmptyListMakesAnOrdinarySnapshot) {
  const BuildSettings settings{.set_name = "tags", .built_at = 1, .build_id = {1}};
  const Keys keys = numbered_keys("key", 3'000);
  EXPECT_THAT(as_text(build(settings, keys, {}).get()),
              ::testing::Eq(as_text(test::build_snapshot(settings, keys).get())));
}

TEST(KnownAbsent, ASetWithoutKeysAnswersAbsentForAll) {
  const SnapshotBytes snapshot = build(kDefaults, {}, numbered_keys("absent", 1'000));
  EXPECT_EQ(count_maybe(decode(snapshot), numbered_keys("absent", 1'000)), 0);
  EXPECT_EQ(count_maybe(decode(snapshot), numbered_keys("unknown", 1'000)), 0);
}

// Others say nothing of the second level.
TEST(KnownAbsent, TheHeaderHoldsASampleOfThoseThatPassTheFilterIfAnyDo) {
  const SnapshotBytes few = build(kDefaults, numbered_keys("key", 10), {"absent"});
  EXPECT_THAT(decode(few).known_absent_sample(), ElementsAreArray({decode(few).hasher()("absent")}));
  const SnapshotBytes many = build(kDefaults, numbered_keys("key", 10'000), numbered_keys("absent", 50'000));
  const SnapshotView snapshot = decode(many);
  const FilterParams filter{.shard_bytes = kDefaults.shard_bytes,
                            .hash_count = snapshot.shards().params.hash_count};
  const Lookup first_level = snapshot.kind().lookup(filter, InstructionSet::Scalar);
  EXPECT_EQ(snapshot.known_absent_sample().size(), kKnownAbsentSample);
  for (const KeyHash hash : snapshot.known_absent_sample()) {
    EXPECT_TRUE(first_level.may_contain(snapshot.shards(), hash));
    EXPECT_FALSE(snapshot.may_contain(hash));
  }
}

TEST(KnownAbsent, AGeometryIsKeptAsLongAsItsSecondLevelsHaveRoom) {
  const Keys keys = numbered_keys("key", 20'000);
  BuildSettings settings = kDefaults;
  const SnapshotBytes before = build(settings, keys, numbered_keys("absent", 20'000));
  settings.like = geometry_of(decode(before));
  const auto is_kept = [&](int known_absent) {
    const SnapshotBytes after = build(settings, keys, numbered_keys("absent", known_absent));
    const Geometry geometry = geometry_of(decode(after));
    return geometry.shard_count == settings.like->shard_count &&
           geometry.params.hash_count == settings.like->params.hash_count &&
           geometry.params.retrieval_bytes == settings.like->params.retrieval_bytes;
  };
  EXPECT_TRUE(is_kept(20'500));
  EXPECT_FALSE(is_kept(200'000));
  EXPECT_FALSE(is_kept(0));
}

TEST(KnownAbsent, AHundredKnownAbsentKeysPerKeyAreAbsentInFullShards) {
  const Keys keys = numbered_keys("key", 2'000);
  const Keys absent = numbered_keys("absent", 200'000);
  for (const char* kind : {"split_block_bloom", "cuckoo", "binary_fuse", "ribbon"}) {
    const SnapshotBytes snapshot =
        build({.set_name = "tags", .kind = &filter_kind_named(kind), .shard_bytes = 1024}, keys, absent);
    EXPECT_GE(decode(snapshot).header().shard_count, 2U) << kind;
    EXPECT_EQ(count_maybe(decode(snapshot), keys), 2'000) << kind;
    EXPECT_EQ(count_maybe(decode(snapshot), absent), 0) << kind;
  }
}

// An application that collects what it did not find lists only keys that passed this very filter.
TEST(KnownAbsent, AListOfKeysThatAllPassTheFilterHasRoom) {
  const Keys keys = numbered_keys("key", 20'000);
  const SnapshotBytes before = build(kDefaults, keys, {"absent"});
  Keys passing = numbered_keys("unknown", 500'000);
  std::erase_if(passing, [&](const std::string& key) { return !may_contain(decode(before), key); });
  ASSERT_GT(passing.size(), 2'000U);
  BuildSettings settings = kDefaults;
  settings.like = geometry_of(decode(before));
  const SnapshotBytes snapshot = build(settings, keys, passing);
  EXPECT_EQ(count_maybe(decode(snapshot), keys), 20'000);
  EXPECT_EQ(count_maybe(decode(snapshot), passing), 0);
  EXPECT_EQ(decode(snapshot).header().shard_count, settings.like->shard_count);
  EXPECT_GT(decode(snapshot).header().retrieval_bytes, settings.like->params.retrieval_bytes);
}

TEST(KnownAbsent, ShardsOf8KiBLeaveNoRoom) {
  EXPECT_THAT(test::message_of<ErrorKind::Usage>(
                  [] { build({.set_name = "tags", .shard_bytes = 8192}, {"key"}, {"absent"}); }),
              HasSubstr("8192 bytes leave no room for known-absent keys"));
}

}  // namespace
}  // namespace keysieve
