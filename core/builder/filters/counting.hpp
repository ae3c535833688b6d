// Counters for the bits of a Bloom filter, 4 bits each: how many keys set that bit. They make it possible to
// remove keys. They are stored next to a shard, never in it, so lookups do not see them. Source: Fan, Cao,
// Almeida, Broder, "Summary cache" (2000).
#pragma once

#include "core/builder/filters/bits.hpp"
#include "core/builder/filters/filter_kind.hpp"

namespace keysieve {

// The counters of one shard; counter i is half of byte i / 2, the lower half for even i.
class CounterArray {
 public:
  // A saturated counter has lost count, so it is never lowered, and its bit stays set. This is rare: at the
  // best k a bit is set by 0.7 keys on average, and by 15 or more with probability 1.6e-15.
  static constexpr std::uint32_t kSaturated = 15;

  explicit CounterArray(MutableBytes counters) noexcept : counters_(counters) {}

  [[nodiscard]] std::uint32_t at(std::uint64_t bit) const noexcept {
    return std::to_integer<std::uint32_t>(counters_[bit / 2]) >> shift_of(bit) & 0xf;
  }
  void raise(std::uint64_t bit) noexcept {
    if (at(bit) != kSaturated) counters_[bit / 2] = change(bit, 1);
  }
  // The counter must not be 0. Returns false when it is saturated and stays as it is.
  bool lower(std::uint64_t bit) noexcept {
    if (at(bit) == kSaturated) return false;
    counters_[bit / 2] = change(bit, -1);
    return true;
  }

 private:
  static int shift_of(std::uint64_t bit) noexcept { return bit % 2 == 0 ? 0 : 4; }
  [[nodiscard]] std::byte change(std::uint64_t bit, int by) const noexcept {
    return static_cast<std::byte>(std::to_integer<int>(counters_[bit / 2]) + (by << shift_of(bit)));
  }

  MutableBytes counters_;
};

template <typename Policy>
struct CountingOf {
  static void add(MutableBytes shard, MutableBytes counters, const FilterParams& params,
                  KeyHash hash) noexcept {
    CounterArray array(counters);
    typename Policy::Positions positions(params, remix(hash));
    for (int i = 0; i < params.hash_count; ++i) {
      const std::uint64_t bit = positions.next();
      array.raise(bit);
      set_bit(shard.data(), bit);
    }
  }

  static bool remove(MutableBytes shard, MutableBytes counters, const FilterParams& params,
                     KeyHash hash) noexcept {
    CounterArray array(counters);
    typename Policy::Positions positions(params, remix(hash));
    bool is_lowered = false;
    for (int i = 0; i < params.hash_count; ++i) {
      const std::uint64_t bit = positions.next();
      if (array.at(bit) == 0) {
        restore(array, params, hash, i);
        return false;
      }
      is_lowered |= array.lower(bit);
    }
    clear_bits(shard, array, params, hash);
    return is_lowered;
  }

 private:
  // Puts the first `count` of a key's counters back to what they were before they were lowered.
  static void restore(CounterArray& array, const FilterParams& params, KeyHash hash, int count) noexcept {
    typename Policy::Positions positions(params, remix(hash));
    for (int i = 0; i < count; ++i) array.raise(positions.next());
  }

  static void clear_bits(MutableBytes shard, const CounterArray& array, const FilterParams& params,
                         KeyHash hash) noexcept {
    typename Policy::Positions positions(params, remix(hash));
    for (int i = 0; i < params.hash_count; ++i) {
      const std::uint64_t bit = positions.next();
      if (array.at(bit) == 0) clear_bit(shard.data(), bit);
    }
  }
};

template <typename Policy>
inline constexpr Counting kCountingOf{CountingOf<Policy>::add, CountingOf<Policy>::remove};

}  // namespace keysieve
