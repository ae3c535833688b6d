#include "core/builder/partition/shard_order.hpp"

#include <gtest/gtest.h>

#include <random>

namespace keysieve {
namespace {

using Hashes = std::vector<KeyHash>;

Hashes sorted(Hashes hashes, const HashRange& range = {}) {
  Hashes scratch(hashes.size());
  std::vector<std::uint32_t> counts;
  const auto result = sort_distinct(hashes, range, scratch.data(), counts);
  return {result.begin(), result.end()};
}

Hashes sorted_plainly(Hashes hashes) {
  sort_and_dedupe(hashes);
  return hashes;
}

Hashes random_hashes(std::size_t count, const HashRange& range = {}) {
  std::mt19937_64 random(count);
  std::uniform_int_distribution<std::uint64_t> word(range.first.word, range.last.word);
  Hashes hashes(count);
  for (KeyHash& hash : hashes) hash = {word(random)};
  return hashes;
}

TEST(SortHashes, SortsAndDedupesLikeStdSort) {
  for (const std::size_t count : {0U, 1U, 2U, 3U, 100U, 4095U, 4096U, 30000U, 300000U}) {
    Hashes hashes = random_hashes(count);
    hashes.insert(hashes.end(), hashes.begin(), hashes.begin() + static_cast<std::ptrdiff_t>(count / 3));
    EXPECT_EQ(sorted(hashes), sorted_plainly(hashes)) << count;
  }
}

TEST(SortHashes, SortsInsideNarrowRanges) {
  const std::uint64_t first = 0x1234567800000000;
  for (const std::uint64_t width :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 20, std::uint64_t{1} << 50}) {
    const HashRange range{{first}, {first + width}};
    for (const std::size_t count : {1'000U, 100'000U}) {
      const Hashes hashes = random_hashes(count, range);
      EXPECT_EQ(sorted(hashes, range), sorted_plainly(hashes)) << width;
    }
  }
}

// A list may hold one key a million times, and attackers who make keys may know the seed.
TEST(SortHashes, SortsHashesThatAreNotEvenlySpread) {
  Hashes alternating;
  for (std::uint64_t i = 0; i < 300'000; ++i) alternating.push_back({i % 2});
  EXPECT_EQ(sorted(alternating), (Hashes{{0}, {1}}));
  Hashes close;
  for (std::uint64_t i = 100'000; i > 0; --i) close.push_back({i * 7919 % 100'000});
  EXPECT_EQ(sorted(close), sorted_plainly(close));
}

TEST(SortHashes, SortsBothEndsOfTheRange) {
  const Hashes ends{{UINT64_MAX}, {0}, {UINT64_MAX}, {0}};
  EXPECT_EQ(sorted(ends), sorted_plainly(ends));
}

}  // namespace
}  // namespace keysieve
