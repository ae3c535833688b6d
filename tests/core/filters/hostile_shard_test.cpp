// Hashes that no good hash function gives, in numbers that leave a shard too little room: no build fails.
// Built with optimisation, since kinds that build by trial try in vain for a long time.
#include <gtest/gtest.h>

#include <algorithm>

#include "core/builder/filters/sizing.hpp"
#include "tests/core/filters/built_shards.hpp"
#include "tests/core/kind_ids.hpp"

namespace keysieve {
namespace {

using test::BuiltShards;

class HostileShard : public ::testing::TestWithParam<test::KindAndShardBytes> {};

TEST_P(HostileShard, AnswersMaybeForEveryKey) {
  const auto [id, shard_bytes] = GetParam();
  const FilterKind& kind = *find_filter_kind(id);
  // i % 3: hardly any of them differ.
  using Pattern = std::uint64_t (*)(std::uint64_t number);
  constexpr std::array<Pattern, 5> kPatterns{
      [](std::uint64_t i) { return i; },
      [](std::uint64_t i) { return i << 48; },
      [](std::uint64_t i) { return ~(i << 20); },
      [](std::uint64_t i) { return i % 3; },
      [](std::uint64_t i) { return i * 0x100000001; },
  };
  const FilterParams params{.shard_bytes = shard_bytes, .hash_count = kind.hash_counts.front()};
  for (const Pattern word_of : kPatterns) {
    for (const std::uint64_t count : {1U, 2U, 3U, 64U, 129U, 700U, 5'000U, 20'000U}) {
      std::vector<KeyHash> keys;
      for (std::uint64_t i = 0; i < count; ++i) keys.push_back({word_of(i)});
      const BuiltShards shards(kind, params, 1, keys);
      ASSERT_EQ(shards.array().entries[0].key_count, count);
      ASSERT_EQ(kind.fault_of(params, shards.array().entries[0]), nullptr);
      ASSERT_TRUE(
          std::all_of(keys.begin(), keys.end(), [&](KeyHash key) { return shards.may_contain(key); }));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryKind, HostileShard,
                         ::testing::Combine(test::every_kind_id(), test::every_shard_size()),
                         test::name_of_kind_and_size);

}  // namespace
}  // namespace keysieve
