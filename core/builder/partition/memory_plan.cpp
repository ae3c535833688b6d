#include "core/builder/partition/memory_plan.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostChunkBytes = std::uint64_t{64} << 10;
constexpr std::uint64_t kLeastChunkBytes = std::uint64_t{4} << 10;

// For what is not counted separately: the tables of the snapshot, code that is yet to be loaded, the
// allocator.
constexpr std::uint64_t kReserveBytes = 4 * kMiB;
// For each thread: its stack, the keys it reads (most_key_bytes of a key and the bytes read behind it), and
// the shard it builds.
constexpr std::uint64_t kThreadBytes = 2 * kMiB;
constexpr std::size_t kMostKeyBytes = kMiB / 4;
constexpr std::uint64_t kLeastSortBytes = kMiB;
constexpr std::uint64_t kLeastPerThread = kThreadBytes + kPartitions * kLeastChunkBytes + kLeastSortBytes;

// Memory beyond this per thread is better kept for hashes, which then need not be spilled, unless it is a
// small part of the whole: the tables of a large snapshot are taken from it.
constexpr std::uint64_t kMostSortBytes = 192 * kMiB;
constexpr std::uint64_t kSmallPart = 8;
// A hash to be sorted, its copy in order, and its share of the counts.
constexpr std::uint64_t kSortBytesPerHash = 2 * sizeof(KeyHash) + 8;

}  // namespace

MemoryPlan plan_memory(std::uint64_t limit_bytes, std::uint64_t resident, unsigned threads) {
  MemoryPlan plan{.threads = threads};
  if (limit_bytes == kNoMemoryLimit) return plan;
  const std::uint64_t fixed = resident + kReserveBytes;
  if (limit_bytes < fixed + kLeastPerThread) {
    // One more than needed: the resident size differs a little from run to run.
    throw Error(ErrorKind::Usage, "memory limit of " + std::to_string(limit_bytes / kMiB) +
                                      "M is too small: needs " +
                                      std::to_string((fixed + kLeastPerThread) / kMiB + 2) + "M or more");
  }
  plan.threads =
      static_cast<unsigned>(std::min<std::uint64_t>(threads, (limit_bytes - fixed) / kLeastPerThread));
  plan.most_key_bytes = kMostKeyBytes;
  const std::uint64_t shared = limit_bytes - fixed - plan.threads * kThreadBytes;
  const std::uint64_t chunks = plan.threads * kPartitions;
  const std::uint64_t chunk_bytes =
      std::clamp(std::bit_floor(shared / 4 / chunks), kLeastChunkBytes, kMostChunkBytes);
  const std::uint64_t most_sort_bytes = std::max(kMostSortBytes, shared / kSmallPart);
  const std::uint64_t sort_bytes = std::clamp(shared / 2 / plan.threads, kLeastSortBytes, most_sort_bytes);
  plan.chunk_hashes = chunk_bytes / sizeof(KeyHash);
  plan.kept_chunks = (shared - chunks * chunk_bytes - plan.threads * sort_bytes) / chunk_bytes;
  plan.piece_hashes = sort_bytes / kSortBytesPerHash;
  return plan;
}

MemoryPlan MemoryPlan::for_two_lists() const {
  MemoryPlan plan = *this;
  plan.chunk_hashes /= 2;
  if (piece_hashes == kNoMemoryLimit) return plan;
  plan.readers = 3;
  plan.piece_hashes /= plan.readers;
  return plan;
}

MemoryPlan MemoryPlan::less(std::uint64_t bytes) const {
  MemoryPlan plan = *this;
  if (piece_hashes == kNoMemoryLimit) return plan;
  const std::uint64_t hashes = bytes / kSortBytesPerHash / threads / readers + 1;
  if (hashes > piece_hashes / 2) {
    // Half of the memory for sorting, which is half of the shared memory, or a small part for each thread.
    const std::uint64_t shared = bytes * std::max<std::uint64_t>(4, 2 * kSmallPart / threads);
    throw Error(ErrorKind::Usage,
                "memory limit is too small for the tables of so large a snapshot: needs about " +
                    std::to_string((shared + threads * kThreadBytes) / kMiB + 64) + "M");
  }
  plan.piece_hashes -= hashes;
  return plan;
}

}  // namespace keysieve
