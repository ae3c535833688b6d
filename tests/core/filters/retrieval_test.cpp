#include "core/builder/filters/retrieval.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "tests/core/filters/built_shards.hpp"

namespace keysieve {
namespace {

using test::built_in;
using test::never_added;

// A second level of one shard.
class SecondLevel {
 public:
  explicit SecondLevel(std::uint32_t bytes) : level_(bytes), bytes_(std::make_unique<std::byte[]>(bytes)) {}

  bool build(std::span<const KeyHash> ones, std::span<const KeyHash> zeros) {
    const auto seed = build_retrieval({bytes_.get(), level_}, ones, zeros);
    if (seed) seed_ = *seed;
    return seed.has_value();
  }
  void fill(std::byte byte, std::uint8_t seed) {
    std::fill_n(bytes_.get(), level_, byte);
    seed_ = seed;
  }

  [[nodiscard]] bool bit_of(KeyHash hash) const {
    // Without a filter, the second level alone. Exactly as long as needed, for AddressSanitizer.
    ShardArray array(bytes_.get(), nullptr, 1, {.shard_bytes = 0, .retrieval_bytes = level_}, &seed_);
    RetrievalProbe probe;
    probe.prepare(array, hash);
    return probe.bit();
  }
  [[nodiscard]] std::uint64_t count_ones(std::span<const KeyHash> hashes) const {
    return static_cast<std::uint64_t>(std::ranges::count_if(hashes, [&](KeyHash h) { return bit_of(h); }));
  }
  [[nodiscard]] int seed() const { return seed_; }

 private:
  std::uint32_t level_;
  std::unique_ptr<std::byte[]> bytes_;
  std::uint8_t seed_ = 0;
};

TEST(Retrieval, GivesEveryKeyItsBit) {
  for (const std::uint64_t keys : {0U, 1U, 2U, 63U, 64U, 65U, 500U, 4'000U, 8'000U}) {
    const auto ones = built_in(keys);
    const auto zeros = never_added(keys / 3);
    SecondLevel level(retrieval_bytes_for(static_cast<double>(ones.size() + zeros.size())));
    ASSERT_TRUE(level.build(ones, zeros)) << keys;
    EXPECT_EQ(level.count_ones(ones), ones.size()) << keys;
    EXPECT_EQ(level.count_ones(zeros), 0U) << keys;
  }
}

// The smallest size that sizing gives, for as many keys as it is meant for.
TEST(Retrieval, FindsASeedLongBeforeTheLast) {
  for (const std::uint64_t keys : {1'000U, 4'000U, 16'000U, 32'000U}) {
    SecondLevel level(retrieval_bytes_for(static_cast<double>(keys)));
    ASSERT_TRUE(level.build(built_in(keys), {})) << keys;
    EXPECT_LT(level.seed(), 64) << keys;
  }
}

TEST(Retrieval, FindsNoSeedForMoreKeysThanBits) {
  SecondLevel level(kRetrievalUnit);
  EXPECT_FALSE(level.build(built_in(8 * kRetrievalUnit + 1), {}));
}

TEST(Retrieval, ReadsOnlyItsOwnBytes) {
  for (const std::uint32_t bytes : {kRetrievalUnit, 7 * kRetrievalUnit}) {
    SecondLevel level(bytes);
    for (int seed = 0; seed < 256; seed += 51) {
      level.fill(std::byte{0xff}, static_cast<std::uint8_t>(seed));
      static_cast<void>(level.count_ones(built_in(2'000)));
    }
  }
}

}  // namespace
}  // namespace keysieve
