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

// XXH3-64 of xxHash 0.8, as hash("xxh3") of PHP gives it too. If one of these ever changed, no existing
// snapshot could be read.
TEST(KeyHash, GivesTheKnownAnswers) {
  const std::vector<KnownAnswer> known{
      {"", 0, {0x2d06800538d394c2}},
      {"", 1, {0x4dc5b0cc826f6703}},
      {"a", 0, {0xe6c632b61e964e1f}},
      {"a", 0x0123456789abcdef, {0xfcf369f9e7541d1b}},
      {std::string("a\0", 2), 0, {0x0d78baac08237ddb}},
      {"tags", 1, {0x331cfe4feb039e87}},
      {"初音ミク", 0, {0x69db53461825b5e9}},
      {"初音ミク", 0x0123456789abcdef, {0xbfd22a44fd9c79f9}},
      {"the quick brown fox jumps over the lazy dog", 1, {0xc64714c8bf416cd9}},
      {std::string(200, 'x'), 0, {0x50ef124fb1e4de53}},
      {std::string(1 << 20, '\0'), 1, {0x9d7d2e9aaa03f330}},
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
    EXPECT_EQ(shard_of({0}, count), 0U);
    EXPECT_EQ(shard_of({UINT64_MAX}, count), count - 1);
  }
}

std::vector<KeyHash> hashes_of_numbers(std::uint64_t count) {
  std::vector<KeyHash> hashes;
  for (std::uint64_t i = 0; i < count; ++i) hashes.push_back(hash_key(std::to_string(i), 7));
  return hashes;
}

TEST(ShardOf, NeverFallsInShardOrder) {
  std::vector<KeyHash> hashes = hashes_of_numbers(10'000);
  std::sort(hashes.begin(), hashes.end());
  for (const std::uint32_t count : {1U, 3U, 64U, 999U, 4294967295U}) {
    EXPECT_TRUE(std::is_sorted(hashes.begin(), hashes.end(), [=](const KeyHash& a, const KeyHash& b) {
      return shard_of(a, count) < shard_of(b, count);
    })) << count;
  }
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
