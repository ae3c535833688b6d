// Targets below those that every kind reaches, down to the lowest of each kind. Which kinds reach 1e-9:
// sizing_test.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "core/builder/filters/sizing.hpp"
#include "core/worker/filters/bits.hpp"
#include "tests/core/filters/built_shards.hpp"
#include "tests/core/kind_ids.hpp"

namespace keysieve {
namespace {

using test::built_in;
using test::BuiltShards;
using test::never_added;

class LowTarget : public ::testing::TestWithParam<test::KindAndShardBytes> {
 protected:
  [[nodiscard]] static const FilterKind& kind() { return *find_filter_kind(std::get<0>(GetParam())); }
  [[nodiscard]] static std::uint32_t shard_bytes() { return std::get<1>(GetParam()); }
  [[nodiscard]] double target() const { return target_; }

  [[nodiscard]] Geometry geometry_for(std::uint64_t keys) const {
    return size_filter(kind(), {.keys = keys, .target_fpr = target_, .shard_bytes = shard_bytes()});
  }
  static std::uint64_t count_maybe(const BuiltShards& shards, const std::vector<KeyHash>& hashes) {
    return static_cast<std::uint64_t>(std::count_if(
        hashes.begin(), hashes.end(), [&](const KeyHash& hash) { return shards.may_contain(hash); }));
  }

 private:
  const double target_ = lowest_target(kind(), {.shard_bytes = shard_bytes()});
};

TEST_P(LowTarget, AnswersMaybeForEveryKeyAndForHardlyAnyOther) {
  const auto keys = built_in(20'000);
  const BuiltShards shards(kind(), geometry_for(keys.size()), keys);
  EXPECT_EQ(count_maybe(shards, keys), keys.size());
  EXPECT_LE(count_maybe(shards, never_added(100'000)), 3U) << "expected are at most 0.1";
}

// The mean over 200,000 keys: at such targets a few crowded blocks or narrow shards decide it.
TEST_P(LowTarget, IsMetByTheEstimateFromTheBytes) {
  constexpr std::uint64_t kKeys = 200'000;
  const Geometry geometry = geometry_for(kKeys);
  const BuiltShards shards(kind(), geometry, built_in(kKeys));
  EXPECT_LE(shards.estimated_fpr(), 1.05 * target() + 4.0 * shards.fpr_error());
  EXPECT_GE(shards.estimated_fpr(), 0.5 * target() - 4.0 * shards.fpr_error());
}

INSTANTIATE_TEST_SUITE_P(EveryKind, LowTarget,
                         ::testing::Combine(test::every_kind_id(), test::every_shard_size()),
                         test::name_of_kind_and_size);

// Kinds without a fill ratio compare each key by a number of bits: at 1e-9 that takes 29 to 31 of them in
// most shards, and the mean of 2^-width, which knows nothing of the estimate, must agree.
TEST(LowTargetWidths, AreThoseThatOneInABillionNeeds) {
  constexpr std::uint64_t kKeys = 200'000;
  for (const FilterKind& kind : filter_kinds()) {
    if (kind.fill_ratio != nullptr) continue;
    const Geometry geometry = size_filter(kind, {.keys = kKeys, .target_fpr = 1e-9});
    const BuiltShards shards(kind, geometry, built_in(kKeys));
    double mean = 0.0;
    for (std::uint32_t i = 0; i < geometry.shard_count; ++i) {
      const std::uint8_t width = shards.array().entries[i].width;
      EXPECT_GE(width, 25) << kind.name;
      mean += std::ldexp(1.0, -width) / geometry.shard_count;
    }
    EXPECT_GE(shards.estimated_fpr(), 0.5 * mean * (1 - 1e-9))
        << kind.name << ": a short column halves it at most";
    EXPECT_LE(shards.estimated_fpr(), mean * (1 + 1e-9)) << kind.name;
    EXPECT_LE(mean, 2e-9) << kind.name;
  }
}

// A lookup of fewer bits looks at the first ones of the same key. With 12 of the 30 bits that 1e-9 needs, the
// FPR is high enough to be counted: the share of set bits to the power of 12.
TEST(LowTargetBits, AreIndependentOfEachOther) {
  constexpr std::uint64_t kKeys = 20'000;
  constexpr std::uint64_t kAbsent = 400'000;
  int counted = 0;
  for (const FilterKind& kind : filter_kinds()) {
    const SizingRequest request{.keys = kKeys, .target_fpr = 1e-9};
    if (!test::is_bit_kind(kind) || !reaches_target(kind, request)) continue;
    const Geometry geometry = size_filter(kind, request);
    EXPECT_GE(geometry.params.hash_count, 29U);
    const BuiltShards shards(kind, geometry, built_in(kKeys));
    const double fill = fill_ratio(shards.bytes());
    EXPECT_NEAR(fill, 0.5, 0.05) << kind.name << ": the best k fills half of the bits";
    ShardArray array = shards.array();
    array.params.hash_count = 12;
    const Lookup lookup = kind.lookup(array.params, best_instruction_set());
    const auto is_maybe = [&](const KeyHash& hash) { return lookup.may_contain(array, hash); };
    if (!std::ranges::all_of(built_in(kKeys), is_maybe)) continue;  // its places depend on k
    ++counted;
    const auto maybe = std::ranges::count_if(never_added(kAbsent), is_maybe);
    double expected = 0.0;
    for (std::uint32_t i = 0; i < geometry.shard_count; ++i) {
      expected += kAbsent * std::pow(fill_ratio(array.shard_bytes(i)), 12.0) / geometry.shard_count;
    }
    EXPECT_NEAR(static_cast<double>(maybe), expected, 5.0 * std::sqrt(expected));
  }
  EXPECT_GE(counted, 1);
}

}  // namespace
}  // namespace keysieve
