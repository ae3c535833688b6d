// The second level of a shard in a set with known-absent keys: a bit for each key of the set (1) and for each
// known-absent key that passes the shard's filter (0), without the keys. So a key of the set keeps its maybe,
// such a known-absent key becomes absent, and any other key gets either bit with equal probability.
//
// It is a ribbon of one column: a key's bit is the parity of 64 bits of the shard under the key's row.
// Source: Dillinger, Hübschle-Schneider, Sanders, Walzer, "Fast succinct retrieval and approximate membership
// using ribbon" (2022).
#pragma once

#include <cstdint>

#include "core/worker/filters/lookup_kind.hpp"

namespace keysieve {

// What the second level derives from a key.
class RetrievalHash {
 public:
  // The multiplier comes from wyhash too. Filters use another one, so that what lets a known-absent key pass
  // the filter says nothing about its row.
  RetrievalHash(KeyHash hash, std::uint8_t seed) noexcept
      : mixed_(fold(hash.word ^ kG * seed, 0x8EBC6AF09C88C6E3)) {}

  // The first byte of the 64 bits under the key's row. The second level has `bytes` bytes, at least 8.
  [[nodiscard]] std::uint32_t first_byte(std::uint32_t bytes) const noexcept {
    return reduce(mixed_ >> 32, bytes - 7);
  }
  [[nodiscard]] std::uint64_t row() const noexcept { return mixed_ * kA; }

 private:
  std::uint64_t mixed_;
};

// Finds the bit of one key.
struct RetrievalProbe {
  const std::byte* window;
  std::uint64_t row;

  [[gnu::always_inline]] inline void prepare(const ShardArray& array, KeyHash hash) noexcept {
    const std::uint64_t index = array.index_of(hash);
    const RetrievalHash retrieval(hash, array.retrieval_seeds[index]);
    window =
        array.shard(index) + array.params.shard_bytes + retrieval.first_byte(array.params.retrieval_bytes);
    row = retrieval.row();
  }
  [[gnu::always_inline]] inline void prefetch() const noexcept { __builtin_prefetch(window); }
  [[nodiscard, gnu::always_inline]] inline bool bit() const noexcept {
    return __builtin_parityll(load<std::uint64_t>(window) & row) != 0;
  }
};

}  // namespace keysieve
