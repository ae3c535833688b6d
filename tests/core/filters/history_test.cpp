// Random histories of a set of every kind that supports adding, compared with an exact set: a key in the set
// never comes back as absent, whatever was built, added and removed before.
#include <gtest/gtest.h>
// After GoogleTest, which it does not include itself.
#include <rapidcheck/gtest.h>

#include <ostream>

#include "core/builder/filters/bits.hpp"
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

const FilterKind& drawn_kind(bool (*is_wanted)(const FilterKind& kind)) {
  std::vector<const FilterKind*> kinds;
  for (const FilterKind& kind : filter_kinds()) {
    if (is_wanted(kind)) kinds.push_back(&kind);
  }
  return **rc::gen::elementOf(kinds);
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

struct Step {
  bool is_removal;
  std::size_t number;  // of a key that is there, or of a new one

  friend std::ostream& operator<<(std::ostream& out, const Step& step) {
    return out << (step.is_removal ? "remove " : "add ") << step.number;
  }
};

std::vector<Step> drawn_steps() {
  return *rc::gen::container<std::vector<Step>>(
      rc::gen::construct<Step>(rc::gen::arbitrary<bool>(), rc::gen::inRange<std::size_t>(0, kMostKeys)));
}

RC_GTEST_PROP(History, NeverLosesAKeyThatWasBuiltIn, ()) {
  const FilterKind& kind = drawn_kind([](const FilterKind&) { return true; });
  const auto keys = drawn_keys();
  const test::BuiltShards shards(kind, drawn_geometry(kind, keys.size()), keys);
  for (const KeyHash& key : keys) RC_ASSERT(shards.may_contain(key));
}

// A key may be there more than once. The contract allows removing only keys that are there.
RC_GTEST_PROP(History, NeverLosesAKeyThatWasAddedAndNotRemoved, ()) {
  const FilterKind& kind = drawn_kind([](const FilterKind& any) { return any.can_add(); });
  std::vector<KeyHash> there = drawn_keys();
  test::BuiltShards shards(kind, drawn_geometry(kind, there.size()), there);
  for (const auto& [is_removal, number] : drawn_steps()) {
    if (is_removal && kind.can_remove() && !there.empty()) {
      const auto at = there.begin() + static_cast<std::ptrdiff_t>(number % there.size());
      RC_ASSERT(shards.remove(*at));
      there.erase(at);
    } else if (const KeyHash key = numbered_hash(number); shards.add(key)) {
      there.push_back(key);
    } else {
      RC_ASSERT(kind.capacity != nullptr);
    }
    for (const KeyHash& key : there) RC_ASSERT(shards.may_contain(key));
  }
}

RC_GTEST_PROP(History, EndsEmptyWhenAllIsRemoved, ()) {
  const FilterKind& kind = drawn_kind([](const FilterKind& any) { return any.can_remove(); });
  const auto keys = drawn_keys();
  test::BuiltShards shards(kind, drawn_geometry(kind, keys.size()), keys);
  for (const KeyHash& key : keys) RC_ASSERT(shards.remove(key));
  RC_ASSERT(count_set_bits(shards.bytes()) == 0U);
}

}  // namespace
}  // namespace keysieve
