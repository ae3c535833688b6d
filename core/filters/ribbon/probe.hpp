// Looks one key up in a ribbon shard. For absent keys the lookup ends in the blocks, where a kernel compares
// all columns; only keys that pass every column there are looked up in the last column.
#pragma once

#include "core/filters/ribbon/exemption.hpp"
#include "core/filters/ribbon/layout.hpp"
#include "core/filters/ribbon/row.hpp"
#include "core/filters/ribbon/system.hpp"

namespace keysieve::ribbon {

// The window of a row over consecutive bits. Reads whole bytes, at most one behind the window.
inline Row window_of_bits(const std::byte* bits, std::uint32_t start) noexcept {
  const std::byte* first = bits + start / 8;
  const auto skip = static_cast<int>(start % 8);
  const auto low = static_cast<Row>(load<Row>(first) >> skip);
  const auto high = static_cast<Row>(load<std::uint8_t>(first + kWindow / 8));
  return low | static_cast<Row>(high << 1 << (kWindow - 1 - skip));
}

// Whether a key that passed the shard's blocks passes its last column too; false for every key of a shard
// without keys.
inline bool passes_last_column(const ShardArray& array, std::uint64_t index, RowHash hash) noexcept {
  const std::byte* const shard = array.shard(index);
  const ShardEntry& entry = array.entries[index];
  if (entry.key_count == 0) return false;
  const Layout layout = Layout::of(array.params.shard_bytes, entry);
  if (layout.last_slots == 0) return true;
  const auto share = load<std::uint8_t>(shard + layout.share_offset());
  const bool exempt = is_exempt(hash.exemption(), layout.seed_of(shard, hash.position()), share);
  const Line line(layout.last_slots, load<std::uint16_t>(shard + layout.levels_offset()));
  const std::uint32_t start = line.start_of(hash.position());
  const auto window = window_of_bits(shard + layout.tail_offset, start);
  const bool wanted = hash.fingerprint() >> RowHash::kLastColumnBit != 0;
  // No branch on `exempt`, because it would be mispredicted for every other key of the set.
  return static_cast<bool>(exempt | (parity(window & hash.row()) == wanted));
}

// The columns of one window: `first` is the word of column 0 in the first block that it touches, `skip`
// counts the slots of that block before it. A column passes when column j gives bit j of the fingerprint. The
// first kLanes columns are compared inline, the others in a separate function, because few absent keys get
// there. The scalar kernel is the reference; the others are in kernels.hpp.
struct ScalarKernel {
  static constexpr std::uint32_t kLanes = kMostColumns;

  static bool first_pass(const std::byte* first, std::uint32_t columns, std::uint32_t skip, Row row,
                         std::uint32_t fingerprint) noexcept {
    for (std::uint32_t column = 0; column < columns; ++column, fingerprint >>= 1) {
      const Row window =
          window_of(first + bytes_of_words(column), columns * kWordBytes, static_cast<int>(skip));
      if (parity(window & row) != ((fingerprint & 1) != 0)) return false;
    }
    return true;
  }
  static bool others_pass(const std::byte* /*first*/, std::uint32_t /*columns*/, std::uint32_t /*skip*/,
                          Row /*row*/, std::uint32_t /*fingerprint*/) noexcept {
    return true;
  }

 private:
  static Row window_of(const std::byte* word, std::uint32_t stride, int skip) noexcept {
    Row window = 0;
    for (int at = 0; at < kWindow; at += static_cast<int>(kBlockSlots), word += stride) {
      window |= static_cast<Row>(load<std::uint32_t>(word)) << at;
    }
    const auto last = static_cast<Row>(load<std::uint32_t>(word));
    return window >> skip | last << 1 << (kWindow - 1 - skip);
  }
};

template <typename Kernel>
struct Probe {
  static constexpr bool kReadsEntry = true;

  const std::byte* window;  // first block that the key's window touches
  RowHash hash;
  std::uint32_t columns;
  std::uint32_t skip;  // slots of that block before the window

  [[gnu::always_inline]] inline void prepare(const ShardArray& array, std::uint64_t index,
                                             KeyHash key) noexcept {
    hash = RowHash(key, array.entries[index].seed);
    find_window(array, index);
  }

  [[gnu::always_inline]] inline void prefetch(const ShardArray& /*array*/, KeyHash /*key*/) const noexcept {
    const std::uint32_t bytes = (kWindow / kBlockSlots + 1) * columns * kWordBytes;
    __builtin_prefetch(window);
    __builtin_prefetch(window + kCacheLineBytes);
    __builtin_prefetch(window + bytes - 1);
  }

  [[nodiscard, gnu::always_inline]] inline bool may_contain(const ShardArray& array,
                                                            KeyHash key) const noexcept {
    return Kernel::first_pass(window, columns, skip, hash.row(), hash.fingerprint()) &&
           passes_rest(array, shard_of(key, array.shard_count), hash);
  }

 private:
  [[gnu::always_inline]] inline void find_window(const ShardArray& array, std::uint64_t index) noexcept {
    const ShardEntry& entry = array.entries[index];
    const Line line(slots_in(entry.block_count), entry.shape);
    const std::uint32_t start = line.start_of(hash.position());
    columns = entry.width;
    window = array.shard(index) + bytes_of_words(start / kBlockSlots * columns);
    skip = start % kBlockSlots;
  }

  // Few absent keys get here, so the values it needs are computed again instead of being kept.
  [[gnu::noinline]] static bool passes_rest(const ShardArray& array, std::uint64_t index,
                                            RowHash hash) noexcept {
    return (array.entries[index].width <= Kernel::kLanes || others_pass(array, index, hash)) &&
           passes_last_column(array, index, hash);
  }

  static bool others_pass(const ShardArray& array, std::uint64_t index, RowHash hash) noexcept {
    Probe probe;
    probe.hash = hash;
    probe.find_window(array, index);
    return Kernel::others_pass(probe.window, probe.columns, probe.skip, hash.row(), hash.fingerprint());
  }
};

}  // namespace keysieve::ribbon
