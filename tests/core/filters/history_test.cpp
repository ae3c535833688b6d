// Random sets of every kind, also overfull ones: a key that was built in never comes back as absent.
#include <gtest/gtest.h>
// After GoogleTest, which it does not include itself.
#include <rapidcheck/gtest.h>

#include "tests/core/filters/built_shards.hpp"

namespace keysieve {
namespace {

constexpr std::uint64_t kMostKeys = 1'500;

KeyHash numbered_hash(std::uint64_t number) {
  static const KeyHasher hasher({7});
  return hasher(std::to_string(number));
}

// Enough to fill small shards, and to overfill those that were sized for fewer.
std::vector<KeyHash> drawn_keys() {
  std::vector<KeyHash> hashes(*rc::gen::inRange<std::uint64_t>(0, kMostKeys));
  const auto first = *rc::gen::arbitrary<std::uint32_t>();
  for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = numbered_hash(first + i);
  return hashes;
}

// For about that many keys.
Geometry drawn_geometry(const FilterKind& kind, std::uint64_t keys) {
  const auto shard_bytes =
      *rc::gen::weightedElement<std::uint32_t>({{3, 1024}, {1, 2048}, {1, 4096}, {1, 8192}});
  const auto target_fpr = *rc::gen::elementOf(std::vector<double>{0.5, 0.1, 0.01, 0.0001});
  return size_filter(kind, {.keys = *rc::gen::inRange<std::uint64_t>(keys / 2, keys + 1) + 1,
                            .target_fpr = target_fpr,
                            .growth = *rc::gen::elementOf(std::vector<double>{1.0, 1.2, 10.0}),
                            .shard_bytes = shard_bytes});
}

RC_GTEST_PROP(History, NeverLosesAKeyThatWasBuiltIn, ()) {
  const FilterKind& kind = filter_kinds()[*rc::gen::inRange<std::size_t>(0, filter_kinds().size())];
  const auto keys = drawn_keys();
  const test::BuiltShards shards(kind, drawn_geometry(kind, keys.size()), keys);
  for (const KeyHash& key : keys) RC_ASSERT(shards.may_contain(key));
}

}  // namespace
}  // namespace keysieve
