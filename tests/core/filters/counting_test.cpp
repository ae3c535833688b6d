// Counters next to the shards of each kind that can count.
#include "core/builder/filters/counting.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "tests/core/filters/built_shards.hpp"

namespace keysieve {
namespace {

using test::added_later;
using test::built_in;
using test::never_added;

// One shard and its counters.
class CountedShard {
 public:
  explicit CountedShard(const FilterKind& kind, FilterParams params = {.shard_bytes = 1024, .hash_count = 7})
      : kind_(kind),
        params_(params),
        shard_(params.shard_bytes),
        counters_(counters_bytes_of(params.shard_bytes)) {}

  void add(KeyHash hash) { kind_.counting->add(shard_, counters_, params_, hash); }
  bool remove(KeyHash hash) { return kind_.counting->remove(shard_, counters_, params_, hash); }

  [[nodiscard]] bool may_contain(KeyHash hash) const {
    const ShardEntry entry{.key_count = 1};
    const ShardArray array{shard_.data(), &entry, 1, params_};
    return kind_.lookup(params_, best_instruction_set()).may_contain(array, hash);
  }
  [[nodiscard]] std::uint64_t set_bits() const { return count_set_bits(shard_); }
  [[nodiscard]] bool bits_fit_counters() {
    const CounterArray array(counters_);
    for (std::uint64_t bit = 0; bit < 8 * shard_.size(); ++bit) {
      if (test_bit(shard_.data(), bit) != (array.at(bit) != 0)) return false;
    }
    return true;
  }
  [[nodiscard]] const std::vector<std::byte>& counters() const { return counters_; }

 private:
  const FilterKind& kind_;
  FilterParams params_;
  std::vector<std::byte> shard_;
  std::vector<std::byte> counters_;
};

std::vector<const FilterKind*> counting_kinds() {
  std::vector<const FilterKind*> kinds;
  for (const FilterKind& kind : filter_kinds()) {
    if (kind.can_count()) kinds.push_back(&kind);
  }
  return kinds;
}

TEST(Counting, IsSupportedByBloom) {
  EXPECT_TRUE(filter_kind_named("bloom").can_count());
  for (const FilterKind* kind : counting_kinds()) EXPECT_TRUE(kind->can_add()) << kind->name;
}

TEST(Counting, SetsTheSameBitsAsABuild) {
  const auto keys = built_in(500);
  for (const FilterKind* kind : counting_kinds()) {
    const FilterParams params{.shard_bytes = 1024, .hash_count = 7};
    std::vector<std::byte> built(params.shard_bytes);
    ShardEntry entry;
    kind->build(built, entry, params, keys);
    CountedShard counted(*kind, params);
    for (const KeyHash& key : keys) counted.add(key);
    EXPECT_EQ(counted.set_bits(), count_set_bits(built));
    for (const KeyHash& key : keys) EXPECT_TRUE(counted.may_contain(key));
  }
}

TEST(Counting, ForgetsOnlyTheRemovedKeys) {
  const auto kept = built_in(300);
  const auto gone = added_later(300);
  for (const FilterKind* kind : counting_kinds()) {
    CountedShard shard(*kind);
    for (const KeyHash& key : kept) shard.add(key);
    const std::vector<std::byte> before = shard.counters();
    for (const KeyHash& key : gone) shard.add(key);
    for (const KeyHash& key : gone) EXPECT_TRUE(shard.remove(key));
    EXPECT_EQ(shard.counters(), before);
    EXPECT_TRUE(shard.bits_fit_counters());
    for (const KeyHash& key : kept) EXPECT_TRUE(shard.may_contain(key));
    for (const KeyHash& key : kept) EXPECT_TRUE(shard.remove(key));
    EXPECT_EQ(shard.set_bits(), 0U);
  }
}

TEST(Counting, ChangesNothingWhenTheKeyIsCertainlyAbsent) {
  for (const FilterKind* kind : counting_kinds()) {
    CountedShard shard(*kind);
    for (const KeyHash& key : built_in(500)) shard.add(key);
    const std::vector<std::byte> before = shard.counters();
    int refused = 0;
    for (const KeyHash& key : never_added(500)) {
      if (shard.may_contain(key)) continue;
      EXPECT_FALSE(shard.remove(key));
      ++refused;
    }
    EXPECT_GT(refused, 450);
    EXPECT_EQ(shard.counters(), before);
  }
}

TEST(Counting, NeverLowersASaturatedCounter) {
  const KeyHash often = built_in(1).front();
  for (const FilterKind* kind : counting_kinds()) {
    CountedShard shard(*kind);
    for (std::uint32_t i = 0; i < CounterArray::kSaturated - 1; ++i) shard.add(often);
    for (std::uint32_t i = 0; i < CounterArray::kSaturated - 1; ++i) EXPECT_TRUE(shard.remove(often));
    EXPECT_FALSE(shard.remove(often)) << "14 counted exactly";
    EXPECT_EQ(shard.set_bits(), 0U);

    for (std::uint32_t i = 0; i < CounterArray::kSaturated + 5; ++i) shard.add(often);
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(shard.remove(often)) << "nothing is lowered";
    EXPECT_TRUE(shard.may_contain(often)) << "nobody knows how often it was added";
    EXPECT_TRUE(shard.bits_fit_counters());
  }
}

// If some positions of a key are equal, the key counts there that many times.
TEST(Counting, CountsAPositionAsOftenAsAKeyHasIt) {
  for (const FilterKind* kind : counting_kinds()) {
    for (const KeyHash& key : built_in(2'000)) {
      CountedShard shard(*kind, {.shard_bytes = 1024, .hash_count = 32});
      shard.add(key);
      EXPECT_TRUE(shard.remove(key));
      EXPECT_FALSE(shard.remove(key));
      EXPECT_EQ(shard.set_bits(), 0U);
    }
  }
}

RC_GTEST_PROP(Counting, NeverLosesAKeyThatWasAddedAndNotRemoved, ()) {
  const FilterKind& kind = **rc::gen::elementOf(counting_kinds());
  const auto hash_count = *rc::gen::inRange<std::uint8_t>(1, 33);
  CountedShard shard(kind, {.shard_bytes = 1024, .hash_count = hash_count});
  const auto keys = built_in(40);
  std::map<std::uint64_t, int> copies;
  const auto steps = *rc::gen::container<std::vector<std::pair<std::uint64_t, bool>>>(
      rc::gen::pair(rc::gen::inRange<std::uint64_t>(0, 40), rc::gen::arbitrary<bool>()));
  for (const auto& [number, is_removal] : steps) {
    if (!is_removal) {
      shard.add(keys[number]);
      ++copies[number];
    } else if (copies[number] > 0) {  // the contract allows only keys that are there
      RC_ASSERT(shard.remove(keys[number]));
      --copies[number];
    }
    RC_ASSERT(shard.bits_fit_counters());
    for (const auto& [added, count] : copies) RC_ASSERT(count == 0 || shard.may_contain(keys[added]));
  }
}

}  // namespace
}  // namespace keysieve
