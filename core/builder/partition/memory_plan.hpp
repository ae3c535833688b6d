// How a build divides the memory it may use. Used by the builder and by hash_partitions.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/worker/hash/key_hash.hpp"

namespace keysieve {

inline constexpr std::size_t kPartitions = 256;
inline constexpr std::uint64_t kNoMemoryLimit = UINT64_MAX;

struct MemoryPlan {
  unsigned threads = 1;
  std::size_t chunk_hashes = 4096;              // each thread fills one chunk per partition: 64 KiB
  std::uint64_t kept_chunks = kNoMemoryLimit;   // full chunks that stay in memory; the rest is spilled
  std::uint64_t piece_hashes = kNoMemoryLimit;  // hashes that a thread sorts at a time
  std::size_t most_key_bytes = SIZE_MAX;        // there is no room for a longer key
  std::uint64_t readers = 1;                    // that share the memory for sorting of a thread

  // The plan of each of two lists that are partitioned in the same memory. The second one has as many hashes
  // in memory again, for the shards at hand.
  [[nodiscard]] MemoryPlan for_two_lists() const;
  // This plan without `bytes` of its memory for sorting, which something else needs. Throws Usage when that
  // is more than half of it.
  [[nodiscard]] MemoryPlan less(std::uint64_t bytes) const;
};

// Plans for at most `threads` threads, or fewer if the limit has no room for them. `limit_bytes` covers
// everything that the process holds; `resident` is what it holds already. Throws Usage that says how much one
// thread needs.
MemoryPlan plan_memory(std::uint64_t limit_bytes, std::uint64_t resident, unsigned threads);

}  // namespace keysieve
