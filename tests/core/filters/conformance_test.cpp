// What every filter kind must do, at every shard size. A new kind is tested here as soon as it is in the
// registry.
#include <gtest/gtest.h>

#include "core/builder/filters/sizing.hpp"
#include "core/worker/filters/bits.hpp"
#include "core/worker/filters/lookup_of.hpp"
#include "tests/core/filters/built_shards.hpp"
#include "tests/core/kind_ids.hpp"

namespace keysieve {
namespace {

using test::built_in;
using test::BuiltShards;
using test::hashes_of_numbers;
using test::never_added;

class FilterConformance : public ::testing::TestWithParam<test::KindAndShardBytes> {
 protected:
  [[nodiscard]] static const FilterKind& kind() { return *find_filter_kind(std::get<0>(GetParam())); }
  [[nodiscard]] static std::uint32_t shard_bytes() { return std::get<1>(GetParam()); }

  [[nodiscard]] static Geometry geometry_for(std::uint64_t keys, double target_fpr = 0.01) {
    return size_filter(kind(), {.keys = keys, .target_fpr = target_fpr, .shard_bytes = shard_bytes()});
  }
  static std::uint64_t count_maybe(const BuiltShards& shards, const std::vector<KeyHash>& hashes) {
    return static_cast<std::uint64_t>(std::count_if(
        hashes.begin(), hashes.end(), [&](const KeyHash& hash) { return shards.may_contain(hash); }));
  }
};

TEST_P(FilterConformance, AnswersMaybeForEveryKey) {
  const auto keys = built_in(20'000);
  EXPECT_EQ(count_maybe(BuiltShards(kind(), geometry_for(keys.size()), keys), keys), keys.size());
}

TEST_P(FilterConformance, AnswersMaybeForEveryKeyWithEveryHashCount) {
  const auto keys = built_in(2'000);
  const auto others = never_added(2'000);
  for (const std::uint8_t k : kind().hash_counts) {
    const FilterParams params{.shard_bytes = shard_bytes(), .hash_count = k};
    const BuiltShards shards(kind(), params, 6, keys);
    EXPECT_EQ(count_maybe(shards, keys), keys.size()) << "k = " << int{k};
    EXPECT_LT(count_maybe(shards, others), others.size()) << "k = " << int{k};
  }
}

TEST_P(FilterConformance, AnswersMaybeForEveryKeyOfAnOverloadedSet) {
  const auto keys = built_in(60'000);  // a single shard must hold them at 8 KiB
  const Geometry tight = geometry_for(1'000);
  const BuiltShards shards(kind(), tight, keys);
  EXPECT_EQ(count_maybe(shards, keys), keys.size());
  for (std::uint32_t i = 0; i < tight.shard_count; ++i)
    EXPECT_EQ(kind().fault_of(tight.params, shards.array().entries[i]), nullptr);
}

// Small sets are not prefetched; large ones prefetch the shard table as well.
TEST_P(FilterConformance, AnswersABatchAsItAnswersSingleKeysInSetsOfEverySize) {
  constexpr std::uint64_t kKeys = 5'000;
  constexpr std::size_t kProbes = 500;
  const auto keys = built_in(kKeys);
  const auto probes = hashes_of_numbers(kKeys - kProbes / 2, kProbes);
  const FilterParams params = geometry_for(kKeys).params;
  const auto fewest_prefetched = static_cast<std::uint32_t>(kCachedBytes / shard_bytes() + 1);
  for (const std::uint32_t shard_count : {fewest_prefetched - 1, fewest_prefetched, kCachedEntries + 1}) {
    const BuiltShards shards(kind(), params, shard_count, keys);
    for (const InstructionSet instructions : instruction_sets()) {
      std::array<bool, kProbes> results{};
      shards.lookup(instructions).may_contain_many(shards.array(), probes, results.data());
      for (std::size_t i = 0; i < kProbes; ++i) {
        shards.lookup(instructions).prefetch(shards.array(), probes[i]);
        ASSERT_EQ(results[i], shards.may_contain(probes[i])) << i << ", " << shard_count << " shards";
      }
    }
  }
}

TEST_P(FilterConformance, GivesTheSameAnswersWithEveryInstructionSet) {
  constexpr std::uint64_t kKeys = 3'000;
  const auto keys = built_in(kKeys);
  const auto probes = hashes_of_numbers(kKeys / 2, 20'000);
  for (const std::uint8_t k : kind().hash_counts) {
    const FilterParams params{.shard_bytes = shard_bytes(), .hash_count = k};
    // One shard with many keys, one with the usual number, and sparse ones.
    for (const std::uint32_t shard_count : {1U, 4U, 40U}) {
      const BuiltShards shards(kind(), params, shard_count, keys);
      const Lookup scalar = shards.lookup(InstructionSet::Scalar);
      for (const InstructionSet instructions : instruction_sets()) {
        const Lookup lookup = shards.lookup(instructions);
        std::array<bool, 100> results{};
        for (std::size_t i = 0; i < probes.size(); ++i) {
          const bool expected = scalar.may_contain(shards.array(), probes[i]);
          ASSERT_EQ(lookup.may_contain(shards.array(), probes[i]), expected) << i << ", k = " << int{k};
          if (i % results.size() == 0) {
            lookup.may_contain_many(shards.array(), std::span(probes).subspan(i, results.size()),
                                    results.data());
          }
          ASSERT_EQ(results[i % results.size()], expected) << i << ", k = " << int{k};
        }
      }
    }
  }
}

TEST_P(FilterConformance, AnswersAbsentFromAnEmptyShard) {
  const BuiltShards shards(kind(), geometry_for(1), {});
  EXPECT_EQ(count_maybe(shards, built_in(10'000)), 0U);
  EXPECT_EQ(shards.array().entries[0].key_count, 0U);
  EXPECT_EQ(shards.estimated_fpr(), 0.0);
}

TEST_P(FilterConformance, HoldsASingleKey) {
  const auto key = built_in(1);
  const BuiltShards shards(kind(), geometry_for(1), key);
  EXPECT_EQ(count_maybe(shards, key), 1U);
  EXPECT_LE(count_maybe(shards, never_added(10'000)), 1U) << "whose fingerprint is the same by chance";
  EXPECT_EQ(shards.array().entries[0].key_count, 1U);
}

TEST_P(FilterConformance, FillsOnlyOneShardWhenAllKeysBelongThere) {
  constexpr std::uint32_t kShards = 8;
  constexpr std::uint32_t kFull = 3;
  auto keys = built_in(4'000);
  std::erase_if(keys, [](const KeyHash& hash) { return shard_of(hash, kShards) != kFull; });
  const BuiltShards shards(kind(), {&kind(), geometry_for(4'000).params, kShards}, keys);
  EXPECT_EQ(count_maybe(shards, keys), keys.size());
  for (std::uint32_t i = 0; i < kShards; ++i) {
    EXPECT_EQ(shards.array().entries[i].key_count, i == kFull ? keys.size() : 0U);
    EXPECT_EQ(count_set_bits(shards.array().shard_bytes(i)) > 0, i == kFull);
  }
}

// Targets below those that every kind reaches. The mean over 200,000 keys: at such targets a few crowded
// blocks or narrow shards decide it.
TEST_P(FilterConformance, MeetsTheLowestTargetOfTheKind) {
  const auto keys = built_in(200'000);
  const double target = lowest_target(kind(), {.shard_bytes = shard_bytes()});
  const BuiltShards shards(kind(), geometry_for(keys.size(), target), keys);
  EXPECT_EQ(count_maybe(shards, keys), keys.size());
  EXPECT_LE(count_maybe(shards, never_added(100'000)), 3U) << "expected are at most 0.1";
  EXPECT_LE(shards.estimated_fpr(), 1.05 * target + 4.0 * shards.fpr_error());
  EXPECT_GE(shards.estimated_fpr(), 0.5 * target - 4.0 * shards.fpr_error());
}

INSTANTIATE_TEST_SUITE_P(EveryKind, FilterConformance,
                         ::testing::Combine(test::every_kind_id(), test::every_shard_size()),
                         test::name_of_kind_and_size);

}  // namespace
}  // namespace keysieve
