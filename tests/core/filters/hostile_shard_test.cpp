// Hashes that no good hash function gives, in numbers that leave a shard too little room: no build fails.
// Optimised, since the kinds that are built by trial try in vain for long.
#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

#include "core/filters/sizing.hpp"
#include "tests/core/filters/built_shards.hpp"
#include "tests/core/kind_ids.hpp"

namespace keysieve {
namespace {

using test::BuiltShards;

class HostileShard : public ::testing::TestWithParam<std::tuple<std::uint8_t, std::uint32_t>> {};

TEST_P(HostileShard, IsAnsweredMaybeForEveryKey) {
  const auto [id, shard_bytes] = GetParam();
  const FilterKind& kind = *find_filter_kind(id);
  using Pattern = KeyHash (*)(std::uint64_t number);
  constexpr std::array<Pattern, 5> kPatterns{
      [](std::uint64_t i) {
        return KeyHash{i, i};
      },
      [](std::uint64_t i) {
        return KeyHash{i << 48, i};
      },
      [](std::uint64_t i) {
        return KeyHash{~(i << 20), i};
      },
      [](std::uint64_t i) {
        return KeyHash{i % 3, i};
      },  // hardly any of them differ for the shard
      [](std::uint64_t i) {
        return KeyHash{i * 0x100000001, i};
      },
  };
  const FilterParams params{.shard_bytes = shard_bytes, .hash_count = kind.hash_counts().front()};
  for (const Pattern pattern : kPatterns) {
    for (const std::uint64_t count : {1U, 2U, 3U, 64U, 129U, 700U, 5'000U, 20'000U}) {
      std::vector<KeyHash> keys;
      for (std::uint64_t i = 0; i < count; ++i) keys.push_back(pattern(i));
      const BuiltShards shards(kind, params, 1, keys);
      ASSERT_EQ(shards.array().entries[0].key_count, count);
      ASSERT_EQ(kind.fault_of(params, shards.array().entries[0]), nullptr);
      ASSERT_TRUE(
          std::all_of(keys.begin(), keys.end(), [&](KeyHash key) { return shards.may_contain(key); }));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryKind, HostileShard,
                         ::testing::Combine(::testing::ValuesIn(test::all_kind_ids()),
                                            ::testing::Values(1024U, 2048U, 4096U, 8192U)),
                         [](const auto& instance) {
                           return std::string(find_filter_kind(std::get<0>(instance.param))->name) + "_" +
                                  std::to_string(std::get<1>(instance.param));
                         });

}  // namespace
}  // namespace keysieve
