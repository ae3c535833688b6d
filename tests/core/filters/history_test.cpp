// Random histories of one set, of every kind that keys can be added to, beside an exact one: what is in the
// set is never answered absent, whatever was built, added and removed before.
#include <rapidcheck/gtest.h>

#include <map>

#include "core/filters/bits.hpp"
#include "tests/core/filters/built_shards.hpp"

namespace keysieve {
namespace {

// Few keys, so that they are added twice and removed again often.
constexpr std::uint64_t kKeys = 400;

KeyHash hash_of(std::uint64_t number) {
  return hash_key(std::to_string(number), 7);
}

std::vector<KeyHash> drawn_keys() {
  const auto numbers =
      *rc::gen::unique<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, kKeys));
  std::vector<KeyHash> hashes;
  for (const std::uint64_t number : numbers) hashes.push_back(hash_of(number));
  return hashes;
}

const FilterKind& drawn_kind(bool (*is_wanted)(const FilterKind& kind)) {
  std::vector<const FilterKind*> kinds;
  for (const FilterKind& kind : filter_kinds()) {
    if (is_wanted(kind)) kinds.push_back(&kind);
  }
  return **rc::gen::elementOf(kinds);
}

Geometry drawn_geometry(const FilterKind& kind) {
  const auto shard_bytes = *rc::gen::elementOf(std::vector<std::uint32_t>{1024, 2048, 4096, 8192});
  const auto target_fpr = *rc::gen::elementOf(std::vector<double>{0.5, 0.1, 0.01, 0.0001});
  const auto effort = *rc::gen::elementOf(std::vector<Effort>{Effort::Normal, Effort::Max});
  return size_filter(kind, {.keys = *rc::gen::inRange<std::uint64_t>(1, kKeys),
                            .target_fpr = target_fpr,
                            .growth = *rc::gen::elementOf(std::vector<double>{1.0, 2.0, 50.0}),
                            .shard_bytes = shard_bytes,
                            .effort = effort});
}

void check_all(const test::BuiltShards& shards, const std::map<std::uint64_t, int>& copies) {
  for (const auto& [number, count] : copies) {
    if (count > 0) RC_ASSERT(shards.may_contain(hash_of(number)));
  }
}

RC_GTEST_PROP(History, NeverLosesAKeyThatWasBuiltIn, ()) {
  const FilterKind& kind = drawn_kind([](const FilterKind&) { return true; });
  const auto keys = drawn_keys();
  const test::BuiltShards shards(kind, drawn_geometry(kind), keys);
  for (const KeyHash& key : keys) RC_ASSERT(shards.may_contain(key));
}

RC_GTEST_PROP(History, NeverLosesAKeyThatWasAddedAndNotRemoved, ()) {
  const FilterKind& kind = drawn_kind([](const FilterKind& any) { return any.can_add(); });
  test::BuiltShards shards(kind, drawn_geometry(kind), {});
  std::map<std::uint64_t, int> copies;
  const auto steps = *rc::gen::container<std::vector<std::pair<std::uint64_t, bool>>>(
      rc::gen::pair(rc::gen::inRange<std::uint64_t>(0, kKeys / 4), rc::gen::arbitrary<bool>()));
  for (const auto& [number, is_removal] : steps) {
    if (is_removal && kind.can_remove()) {
      // As the contract asks: only what is there.
      if (copies[number] > 0) {
        RC_ASSERT(shards.remove(hash_of(number)));
        --copies[number];
      }
    } else if (shards.add(hash_of(number))) {
      ++copies[number];
    } else {
      RC_ASSERT(kind.capacity != nullptr);
    }
    check_all(shards, copies);
  }
}

RC_GTEST_PROP(History, EndsEmptyWhenAllIsRemoved, ()) {
  const FilterKind& kind = drawn_kind([](const FilterKind& any) { return any.can_remove(); });
  const auto keys = drawn_keys();
  test::BuiltShards shards(kind, drawn_geometry(kind), keys);
  for (const KeyHash& key : keys) RC_ASSERT(shards.remove(key));
  RC_ASSERT(count_set_bits(shards.bytes()) == 0U);
}

}  // namespace
}  // namespace keysieve
