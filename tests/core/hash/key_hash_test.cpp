#include "core/worker/hash/key_hash.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/hash_key.hpp"

namespace keysieve {
namespace {

struct KnownAnswer {
  std::string key;
  HashSeed seed;
  KeyHash hash;
};

// As hash("xxh3") of PHP gives them with the secret that docs/snapshot_format.md describes. If one of these
// ever changed, no existing snapshot could be read.
TEST(KeyHash, GivesTheKnownAnswers) {
  const std::vector<KnownAnswer> known{
      {"", {1}, {0xaa0b8b929b7a2630}},
      {"", {0x0123456789abcdef, 0xfedcba9876543210}, {0x33d9e8fd4e4257be}},
      {"a", {1}, {0xb0923f6fa366dfa0}},
      {"a", {0x0123456789abcdef, 0xfedcba9876543210}, {0xd5a4616b8b360c47}},
      {std::string("a\0", 2), {1}, {0xec64b1002373db34}},
      {std::string("a\0", 2), {0x0123456789abcdef, 0xfedcba9876543210}, {0x60694194a0eae920}},
      {"tags", {1}, {0x1c133c3deaeaefc6}},
      {"tags", {0x0123456789abcdef, 0xfedcba9876543210}, {0xcff69adab5c76f55}},
      {"初音ミク", {1}, {0x6ce41928ca9dabb9}},
      {"初音ミク", {0x0123456789abcdef, 0xfedcba9876543210}, {0xd41c46706f551e6d}},
      {"the quick brown fox jumps over the lazy dog", {1}, {0x1088ced734649087}},
      {"the quick brown fox jumps over the lazy dog",
       {0x0123456789abcdef, 0xfedcba9876543210},
       {0x863fbde163fc2ac7}},
      {"a key of 24 bytes in all", {1}, {0x747ee2c7d76783cb}},
      {"a key of 24 bytes in all", {0x0123456789abcdef, 0xfedcba9876543210}, {0x4cfd1234d6c209e4}},
      {std::string(200, 'x'), {1}, {0xd5d585a52ce82e0a}},
      {std::string(200, 'x'), {0x0123456789abcdef, 0xfedcba9876543210}, {0x8c51a9af723dde53}},
      {std::string(1 << 20, '\0'), {1}, {0x624439f8fb3bea61}},
      {std::string(1 << 20, '\0'), {0x0123456789abcdef, 0xfedcba9876543210}, {0xc6d0dd0233090d68}},
  };
  for (const auto& [key, seed, hash] : known) {
    EXPECT_EQ(hash_key(key, seed), hash) << key.substr(0, 50) << " seed " << seed.low;
  }
}

TEST(KeyHasher, AgreesWithXxHashForEveryLength) {
  std::string key;
  for (std::size_t length = 0; length <= 300; ++length) {
    for (const HashSeed& seed : {HashSeed{1, 0}, HashSeed{0, 1}, HashSeed{UINT64_MAX, UINT64_MAX}}) {
      const KeyHasher hasher(seed);
      EXPECT_EQ(hasher(key), hash_by_library(key, hasher.secret())) << length << " bytes, seed " << seed.low;
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

}  // namespace
}  // namespace keysieve
