#include "core/hash/key_hash.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace keysieve {
namespace {

struct KnownAnswer {
  std::string key;
  std::uint64_t seed;
  KeyHash hash;
};

// XXH3-128 of xxHash 0.8. If one of these ever changed, no existing snapshot could be read.
TEST(KeyHash, GivesTheKnownAnswers) {
  const std::vector<KnownAnswer> known{
      {"", 0, {0x6001c324468d497f, 0x99aa06d3014798d8}},
      {"", 1, {0x6131b78f753823cd, 0xd9265cc53bb2b9ae}},
      {"a", 0, {0xe6c632b61e964e1f, 0xa96faf705af16834}},
      {"a", 0x0123456789abcdef, {0xfcf369f9e7541d1b, 0x80aaf8f6eb40cdad}},
      {std::string("a\0", 2), 0, {0x0d78baac08237ddb, 0xfe6c33c14011b578}},
      {"tags", 1, {0x6b9e9a74b3a601da, 0x1b713f6f78e18313}},
      {"初音ミク", 0, {0x81c0717e7e82fec1, 0xc5be222bf27de122}},
      {"初音ミク", 0x0123456789abcdef, {0xde84bd657c515b16, 0x86343cddfa43647f}},
      {"the quick brown fox jumps over the lazy dog", 1, {0xd88cbd1081f3dc2f, 0x3c0e89688f7e2ddd}},
      {std::string(200, 'x'), 0, {0x0f7bed28ebd8500d, 0x062dfbe359870f1a}},
      {std::string(1 << 20, '\0'), 1, {0x9d7d2e9aaa03f330, 0x24e80750698e8add}},
  };
  for (const auto& [key, seed, hash] : known) {
    EXPECT_EQ(hash_key(key, seed), hash) << key.substr(0, 50) << " seed " << seed;
  }
}

TEST(KeyHasher, AgreesWithXxHashForEveryLength) {
  std::string key;
  for (std::size_t length = 0; length <= 300; ++length) {
    for (const std::uint64_t seed : {UINT64_C(0), UINT64_C(1), UINT64_C(0x0123456789abcdef), UINT64_MAX}) {
      EXPECT_EQ(KeyHasher(seed)(key), hash_by_library(key, seed)) << length << " bytes, seed " << seed;
    }
    key.push_back(static_cast<char>(length * 37 + 11));
  }
}

TEST(ShardOf, StaysBelowTheShardCount) {
  for (const std::uint32_t count : {1U, 2U, 3U, 1000U, 4294967295U}) {
    EXPECT_EQ(shard_of({0, 0}, count), 0U);
    EXPECT_EQ(shard_of({0, UINT64_MAX}, count), count - 1);
  }
}

TEST(ShardOf, LooksAtTheHighHalfOnly) {
  EXPECT_EQ(shard_of({0, 0x8000000000000000}, 1000), 500U);
  EXPECT_EQ(shard_of({UINT64_MAX, 0x8000000000000000}, 1000), 500U);
}

std::vector<KeyHash> hashes_of_numbers(std::uint64_t count) {
  std::vector<KeyHash> hashes;
  for (std::uint64_t i = 0; i < count; ++i) hashes.push_back(hash_key(std::to_string(i), 7));
  return hashes;
}

TEST(ShardOf, NeverFallsInShardOrder) {
  std::vector<KeyHash> hashes = hashes_of_numbers(10'000);
  std::sort(hashes.begin(), hashes.end(), in_shard_order);
  for (const std::uint32_t count : {1U, 3U, 64U, 999U, 4294967295U}) {
    EXPECT_TRUE(std::is_sorted(hashes.begin(), hashes.end(), [=](const KeyHash& a, const KeyHash& b) {
      return shard_of(a, count) < shard_of(b, count);
    })) << count;
  }
}

TEST(ShardOrder, DistinguishesHashesWithTheSameHighHalf) {
  EXPECT_TRUE(in_shard_order({1, 5}, {2, 5}));
  EXPECT_FALSE(in_shard_order({2, 5}, {1, 5}));
  EXPECT_FALSE(in_shard_order({1, 5}, {1, 5}));
  EXPECT_TRUE(in_shard_order({9, 4}, {1, 5}));
}

// Chi-square over 997 shards; mean 996, standard deviation sqrt(2 * 996), accepted within 4 of them.
TEST(ShardOf, SpreadsKeysEvenly) {
  constexpr std::uint32_t kShards = 997;
  constexpr std::uint64_t kKeys = 200'000;
  std::vector<double> keys_of_shard(kShards);
  for (const KeyHash& hash : hashes_of_numbers(kKeys)) ++keys_of_shard[shard_of(hash, kShards)];
  const double expected = static_cast<double>(kKeys) / kShards;
  double chi_square = 0;
  for (const double keys : keys_of_shard) chi_square += (keys - expected) * (keys - expected) / expected;
  EXPECT_NEAR(chi_square, kShards - 1, 4 * std::sqrt(2.0 * (kShards - 1)));
}

}  // namespace
}  // namespace keysieve
