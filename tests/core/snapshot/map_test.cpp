// Maps: each key of the map has its value, whatever the shard sizes, bits and instructions. Other keys are
// absent, or have some value at the FPR.
#include <gmock/gmock.h>

#include <cmath>
#include <random>

#include "core/worker/base/error.hpp"
#include "tests/core/sample_snapshot.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve::test {
namespace {

using ::testing::HasSubstr;

BuildSettings map_settings(std::uint32_t shard_bytes = kDefaultShardBytes) {
  return {.set_name = "tiers", .kind = find_filter_kind("ribbon"), .shard_bytes = shard_bytes, .seed = kSeed};
}

// The value of a key below 2^bits, the same at each call.
std::uint32_t value_of(std::string_view key, unsigned bits) {
  return static_cast<std::uint32_t>(hash_key(key, {1'234}).word >> (64 - bits));
}

struct BuiltMap {
  MapValues values{1};
  SnapshotBytes bytes{kPageBytes};

  BuiltMap(BuildSettings settings, const std::vector<std::string>& keys, unsigned bits,
           const std::vector<std::string>& known_absent = {}) {
    settings.values = &values;
    settings.has_known_absent = !known_absent.empty();
    SnapshotBuilder builder(settings);
    for (const std::string& key : keys) {
      builder.add(key);
      values.add(0, hash_of(key), value_of(key, bits));
    }
    for (const std::string_view key : known_absent) builder.add_known_absent(0, {&key, 1});
    if (values.finish()) throw std::logic_error("a key with two values");
    bytes = builder.finish();
  }
};

MapAnswer find(const SnapshotView& map, std::string_view key) {
  return map.find(map.hasher()(key));
}

// The same by the other lookup, and by each set of instructions.
void expect_all_lookups_agree(const SnapshotView& map, const std::vector<std::string>& keys) {
  std::vector<KeyHash> hashes;
  for (const std::string& key : keys) hashes.push_back(map.hasher()(key));
  for (const InstructionSet instructions : instruction_sets()) {
    const Lookup lookup = map.kind().lookup(map.shards().params, instructions);
    std::vector<MapAnswer> answers(hashes.size());
    lookup.find_many(map.shards(), hashes, answers.data());
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      ASSERT_EQ(answers[i], map.find(hashes[i])) << keys[i];
      ASSERT_EQ(lookup.find(map.shards(), hashes[i]), answers[i]) << keys[i];
      ASSERT_EQ(lookup.may_contain(map.shards(), hashes[i]), answers[i] != kAbsent) << keys[i];
    }
  }
}

class MapOfShardBytes : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(MapOfShardBytes, HasTheValueOfEachKeyForAnyNumberOfBitsByAllLookups) {
  const std::vector<std::string> keys = numbered_keys("key", 3'000);
  for (const double fpr : {0.5, 0.01, 1e-3, 1e-9}) {
    for (const unsigned bits : {1U, 7U, 8U, 16U, 24U, 31U, 32U}) {
      BuildSettings settings = map_settings(GetParam());
      settings.target_fpr = fpr;
      const BuiltMap map(settings, keys, bits);
      const SnapshotView view = decode(map.bytes);
      EXPECT_TRUE(view.is_map());
      EXPECT_EQ(view.header().value_bits, bits);
      for (const std::string& key : keys) ASSERT_EQ(find(view, key), value_of(key, bits)) << bits;
      if (fpr == 0.01) expect_all_lookups_agree(view, numbered_keys("key", 4'000));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryShardSize, MapOfShardBytes, ::testing::Values(1024, 2048, 4096, 8192));

TEST(Map, GivesOtherKeysAValueAtItsTargetOnly) {
  BuildSettings settings = map_settings();
  settings.target_fpr = std::ldexp(1.0, -10);
  const BuiltMap map(settings, numbered_keys("key", 100'000), 16);
  const SnapshotView view = decode(map.bytes);
  constexpr int kAsked = 400'000;
  int wrong = 0;
  for (const std::string& key : numbered_keys("other", kAsked)) wrong += find(view, key) == kAbsent ? 0 : 1;
  const double expected = kAsked * settings.target_fpr;
  EXPECT_LT(wrong, expected + 4 * std::sqrt(expected));
  EXPECT_GT(wrong, expected / 2) << "or it takes more memory than it needs";
  EXPECT_LT(view.header().estimated_fpr, 1.02 * settings.target_fpr);
  EXPECT_LT(view.bits_per_key(), 26 * 1.05);
}

TEST(Map, GivesNoKnownAbsentKeyAValue) {
  const std::vector<std::string> keys = numbered_keys("key", 5'000);
  const std::vector<std::string> absent = numbered_keys("absent", 50'000);
  for (const unsigned bits :
       {1U, 9U}) {  // with one bit, every other key that passes the filter has the value 0
    const BuiltMap map(map_settings(), keys, bits, absent);
    const SnapshotView view = decode(map.bytes);
    for (const std::string& key : absent) ASSERT_EQ(find(view, key), kAbsent) << key;
    for (const std::string& key : keys) ASSERT_EQ(find(view, key), value_of(key, bits)) << key;
    expect_all_lookups_agree(view, absent);
  }
}

TEST(Map, MayBeEmpty) {
  const BuiltMap map(map_settings(), {}, 16);
  const SnapshotView view = decode(map.bytes);
  for (const std::string& key : numbered_keys("other", 1'000)) EXPECT_EQ(find(view, key), kAbsent);
}

TEST(Map, IsRefusedForKindsThatHaveNoValues) {
  const MapValues values(1);
  BuildSettings settings = map_settings();
  settings.kind = find_filter_kind("bloom");
  settings.values = &values;
  EXPECT_THAT(message_of<ErrorKind::Usage>([&] { SnapshotBuilder builder(settings); }),
              HasSubstr("bloom cannot have values; kinds that can: ribbon"));
}

TEST(MapValues, FindsAKeyWithTwoValues) {
  MapValues values(2);
  for (const std::uint32_t value : {7U, 7U, 8U}) values.add(value % 2, hash_of("pear"), value);
  values.add(1, hash_of("apple"), 7);
  const auto conflict = values.finish();
  ASSERT_TRUE(conflict);
  EXPECT_EQ(conflict->hash, hash_of("pear"));
  EXPECT_EQ(conflict->first, 7U);
  EXPECT_EQ(conflict->second, 8U);
}

// Whatever the bytes of a shard are, a lookup stays inside. The copy ends with the snapshot, so that
// AddressSanitizer sees each access behind it.
TEST(Map, AnswersFromAnyBytes) {
  std::mt19937_64 random(5);
  for (const unsigned bits : {1U, 16U, 32U}) {
    const BuiltMap map(map_settings(1024), numbered_keys("key", 300), bits);
    const SnapshotView view = decode(map.bytes);
    const TableSpan shards = view.header().shards;
    for (int round = 0; round < 20; ++round) {
      SnapshotBytes hostile = copy_of(map.bytes.get());
      for (std::size_t i = 0; i < shards.bytes; ++i) {
        hostile.get()[shards.offset + i] = static_cast<std::byte>(random());
      }
      const SnapshotView forged = SnapshotView::decode(hostile.get(), "forged", Check::Tables);
      expect_all_lookups_agree(forged, numbered_keys("key", 600));
    }
  }
}

}  // namespace
}  // namespace keysieve::test
