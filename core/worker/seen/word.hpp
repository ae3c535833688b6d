// A word of 128 bits that holds the tags of keys, up to 31. The more tags it holds, the shorter they are: a
// new one makes the others give up bits, so a word is never too full to take a key, but is wrong more often.
// Tags are only ever added, each by one compare-and-set on the whole word. So of all processes that add a key
// exactly one finds it missing.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>

#include "core/worker/hash/key_hash.hpp"
#include "core/worker/seen/compare_and_set.hpp"

namespace keysieve {

inline constexpr unsigned kWordBits = 128;

inline constexpr unsigned kTagCountBits = 5;
inline constexpr unsigned kMostTags = (1U << kTagCountBits) - 1;
// The rest of a hash of 64 bits would add little.
inline constexpr unsigned kMostTagBits = 60;

// The length of each tag in a word that holds so many.
constexpr unsigned tag_bits(unsigned tags) noexcept {
  return tags == 0 ? kMostTagBits : std::min(kMostTagBits, (kWordBits - kTagCountBits) / tags);
}

constexpr std::uint64_t low_bits(std::uint64_t word, unsigned bits) noexcept {
  return word & ((std::uint64_t{1} << bits) - 1);
}

namespace detail {

// What finds a tag among several at once: the lowest and the highest bit of each.
struct TagPlaces {
  Uint128 lowest = 0;
  Uint128 highest = 0;
};
inline constexpr auto kTagPlaces = [] {
  std::array<TagPlaces, kMostTags + 1> all{};
  for (unsigned tags = 0; tags <= kMostTags; ++tags) {
    for (unsigned i = 0; i < tags; ++i) all[tags].lowest |= Uint128{1} << (i * tag_bits(tags));
    all[tags].highest = all[tags].lowest << (tag_bits(tags) - 1);
  }
  return all;
}();

}  // namespace detail

// What a word holds: the number of tags in the five highest bits, below them the tags in the order in which
// they came, the first one lowest.
struct WordValue {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  [[nodiscard]] constexpr unsigned tags() const noexcept {
    return static_cast<unsigned>(high >> (64 - kTagCountBits));
  }
  // index: below tags(). Has tag_bits(tags()) bits.
  [[nodiscard]] std::uint64_t tag(unsigned index) const noexcept {
    const unsigned bits = tag_bits(tags());
    return low_bits(static_cast<std::uint64_t>(all_tags() >> (index * bits)), bits);
  }
  // Whether one of them has the lowest bits of `tag`. Compares all at once: subtracting 1 from each
  // difference borrows into its highest bit if it is 0. Source: Warren, "Hacker's Delight", "Find first
  // 0-byte", for fields of any length.
  [[nodiscard]] bool has(std::uint64_t tag) const noexcept {
    const detail::TagPlaces& places = detail::kTagPlaces[tags()];
    const Uint128 difference = all_tags() ^ places.lowest * low_bits(tag, tag_bits(tags()));
    return ((difference - places.lowest) & ~difference & places.highest) != 0;
  }
  // The value with one more tag. Requires tags() < kMostTags.
  [[nodiscard]] constexpr WordValue with(std::uint64_t tag) const noexcept {
    const unsigned before = tag_bits(tags());
    const unsigned after = tag_bits(tags() + 1);
    Uint128 all = all_tags();
    if (after != before) {
      Uint128 shorter = 0;
      for (unsigned i = 0; i < tags(); ++i)
        shorter |= Uint128{low_bits(static_cast<std::uint64_t>(all >> (i * before)), after)} << (i * after);
      all = shorter;
    }
    all |= Uint128{low_bits(tag, after)} << (tags() * after);
    return {static_cast<std::uint64_t>(all),
            static_cast<std::uint64_t>(all >> 64) | std::uint64_t{tags() + 1} << (64 - kTagCountBits)};
  }

  friend bool operator==(const WordValue&, const WordValue&) = default;

 private:
  [[nodiscard]] constexpr Uint128 all_tags() const noexcept {
    return Uint128{low_bits(high, 64 - kTagCountBits)} << 64 | low;
  }
};

// Holds each tag that there can be: 31 of 3 bits, which are all numbers below 8.
inline constexpr WordValue kEveryTag = [] {
  WordValue value;
  for (unsigned tag = 0; tag < kMostTags; ++tag) value = value.with(tag);
  return value;
}();

struct alignas(16) Word {
  std::atomic<std::uint64_t> low;
  std::atomic<std::uint64_t> high;

  // Pairs with compare_and_set(). Sequentially consistent, because a call looks here after it has loaded the
  // set's `state` (SeenReader::add()). On x86-64 and arm64 that costs no more than acquire. Both halves
  // belong together, since each new value has another number of tags in its high half. Adding a tag changes
  // that once, so one that has changed more often is a hostile worker's: every key counts as seen there.
  [[nodiscard]] WordValue load() const noexcept {
    WordValue value;
    if (is_read_as_a_whole(value)) [[likely]]
      return value;
    return load_again();
  }

  // For a word that no other thread sees.
  void store_alone(const WordValue& value) noexcept {
    low.store(value.low, std::memory_order_relaxed);
    high.store(value.high, std::memory_order_relaxed);
  }

  // False if the word does not hold `before`: nothing has changed then. True: sequentially consistent.
  [[nodiscard]] bool compare_and_set(const WordValue& before, const WordValue& after) noexcept {
    return compare_and_set_16_bytes(this, before.low, before.high, after.low, after.high);
  }

 private:
  [[nodiscard]] bool is_read_as_a_whole(WordValue& value) const noexcept {
    value.high = high.load(std::memory_order_seq_cst);
    value.low = low.load(std::memory_order_acquire);
    return high.load(std::memory_order_relaxed) == value.high;
  }
  // Apart from the hot path, which a count would make longer.
  [[nodiscard, gnu::cold, gnu::noinline]] WordValue load_again() const noexcept {
    WordValue value;
    for (unsigned changes = 1; changes <= kMostTags; ++changes) {
      if (is_read_as_a_whole(value)) return value;
    }
    return kEveryTag;
  }
};
static_assert(sizeof(Word) == 16 && std::atomic<std::uint64_t>::is_always_lock_free);

}  // namespace keysieve
