// Shard table entries that no build has made. An entry that passes a kind's fault_of() must never lead a
// lookup out of the shard, whatever the shard's bytes are; AddressSanitizer watches, because each shard is an
// allocation of its own.
#include <gmock/gmock.h>

#include <random>

#include "core/builder/filters/sizing.hpp"
#include "core/worker/filters/lookup_of.hpp"
#include "core/worker/filters/ribbon.hpp"
#include "tests/core/kind_ids.hpp"
#include "tests/support/hash_key.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;
using ::testing::IsNull;

FilterParams params_of(const FilterKind& kind, std::uint32_t shard_bytes = kDefaultShardBytes) {
  return size_filter(kind, {.keys = 1'000, .target_fpr = 0.01, .shard_bytes = shard_bytes}).params;
}

class EveryEntry : public ::testing::TestWithParam<std::uint8_t> {
 protected:
  [[nodiscard]] static const FilterKind& kind() { return *find_filter_kind(GetParam()); }
};

// A quarter of 20 blocks has 5, so its end may come 5 blocks earlier. With a negative length, readers that
// count with signed numbers would answer otherwise than this one.
TEST(RibbonEntry, HasAFaultIfAQuarterOfItsLineEndsBeforeItBegins) {
  const FilterKind& kind = *find_filter_kind(Ribbon::kId);
  const auto fault_of = [&](std::array<std::uint32_t, ribbon::kLevelCount> levels, std::uint8_t width) {
    const auto shape = static_cast<std::uint16_t>(levels[0] | levels[1] << 5 | levels[2] << 10);
    return kind.fault_of(params_of(kind),
                         {.key_count = 1, .width = width, .block_count = 20, .shape = shape});
  };
  EXPECT_THAT(fault_of({16, 16, 16}, 7), IsNull());
  EXPECT_THAT(fault_of({11, 6, 11}, 7), IsNull());
  EXPECT_THAT(fault_of({21, 16, 11}, 7), IsNull());
  EXPECT_THAT(fault_of({0, 0, 0}, 0), IsNull()) << "nothing is looked up in it";
  for (const auto levels : std::array<std::array<std::uint32_t, 3>, 4>{
           {{10, 16, 16}, {22, 16, 16}, {16, 22, 16}, {16, 16, 22}}}) {
    EXPECT_THAT(fault_of(levels, 7), HasSubstr("a quarter of its line ends before it begins"))
        << levels[0] << " " << levels[1] << " " << levels[2];
  }
}

// Most random entries have a fault, so small changes of good ones are tried as well.
TEST_P(EveryEntry, WithoutFaultIsSafeOverAnyBytes) {
  std::mt19937_64 random(20141119);
  std::vector<KeyHash> keys(3'000);
  for (KeyHash& key : keys) key = {random()};
  int without_fault = 0;
  for (int round = 0; round < 2'000; ++round) {
    const std::uint32_t shard_bytes = kMinShardBytes << random() % 4;
    const auto counts = kind().hash_counts;
    const FilterParams params{.shard_bytes = shard_bytes, .hash_count = counts[random() % counts.size()]};
    std::vector<std::byte> shard(shard_bytes);
    ShardEntry entry;
    if (round % 3 != 0) {
      kind().build(shard, entry, params, std::span(keys).first(random() % 100 * shard_bytes / 4096));
    }
    for (std::uint64_t changes = random() % 4; changes > 0; --changes) {
      auto& byte = reinterpret_cast<std::uint8_t*>(&entry)[random() % sizeof entry];
      byte = static_cast<std::uint8_t>(random() % 2 == 0 ? random() : byte + random() % 5 - 2);
    }
    if (kind().fault_of(params, entry) != nullptr) continue;
    ++without_fault;
    for (std::byte& byte : shard) byte = static_cast<std::byte>(random());

    const ShardArray array{shard.data(), &entry, 1, params};
    for (int i = 0; i < 50; ++i) {
      const KeyHash hash{i < 2 ? 0 - static_cast<std::uint64_t>(i) : random()};
      const bool expected = kind().lookup(params, InstructionSet::Scalar).may_contain(array, hash);
      for (const InstructionSet instructions : instruction_sets()) {
        bool many = !expected;
        kind().lookup(params, instructions).may_contain_many(array, {&hash, 1}, &many);
        ASSERT_EQ(kind().lookup(params, instructions).may_contain(array, hash), expected);
        ASSERT_EQ(many, expected);
      }
    }
    const double fpr = kind().estimated_fpr(shard, entry, params);
    ASSERT_TRUE(fpr >= 0.0 && fpr <= 1.0) << fpr;
    if (kind().fill_ratio != nullptr) {
      ASSERT_LE(kind().fill_ratio(shard, entry, params), 1.0);
    }
  }
  EXPECT_GT(without_fault, 100);
}

INSTANTIATE_TEST_SUITE_P(OfEveryKind, EveryEntry, test::every_kind_id(), test::name_of_kind);

}  // namespace
}  // namespace keysieve
