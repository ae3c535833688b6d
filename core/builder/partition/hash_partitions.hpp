// The hashes of a list of keys, split by their first bits while the keys are read. Each of the 256 partitions
// can be sorted on its own, and their order is shard order. As many stay in memory as the plan allows; the
// rest go to temporary files that are written and read from front to back.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/builder/base/page_memory.hpp"
#include "core/builder/partition/memory_plan.hpp"
#include "core/builder/partition/shard_order.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "core/worker/hash/key_hash.hpp"

namespace keysieve {

// The hashes of partition `index`, below kPartitions.
constexpr HashRange range_of_partition(std::size_t index) noexcept {
  constexpr std::uint64_t kSpan = UINT64_MAX / kPartitions + 1;
  return {{index * kSpan}, {index * kSpan + (kSpan - 1)}};
}

constexpr std::size_t partition_of(const KeyHash& hash) noexcept {
  constexpr int kShift = 64 - std::countr_zero(kPartitions);
  return hash.word >> kShift;
}

// A temporary file of the hashes that do not fit into memory: appended to, then read from its beginning. It
// has no name, so it disappears with the process, even after a crash.
class SpillFile {
 public:
  // Any thread. The file is created in `folder` when it is first needed. Throws CannotCreate or Permission
  // that names the folder.
  void append(std::span<const KeyHash> hashes, const std::string& folder);

  // Size of everything appended so far; must not be called during an append.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  // Reads hashes from number `first` on until `hashes` is full or the file ends; returns how many. Any
  // thread, but not during an append. Throws MissingInput that names the folder.
  std::size_t read(std::uint64_t first, std::span<KeyHash> hashes, const std::string& folder) const;

 private:
  std::mutex mutex_;
  FileDescriptor file_;
  std::uint64_t size_ = 0;
};

// Points into the memory of its HashPartitions. One thread at a time.
struct Partition {
  std::vector<std::span<KeyHash>> in_memory;
  SpillFile spilled;
  bool is_sorted = false;  // if so, all of it is in memory, in shard order and without duplicates

  [[nodiscard]] std::uint64_t size() const noexcept;
};

// Owns all memory and files of its partitions. First each thread adds hashes by its own writer; then, after
// finish_writing(), any thread may use partitions, but one thread each.
class HashPartitions {
 public:
  // Temporary files are created in `temporary_folder`, when they are needed. Throws std::bad_alloc.
  HashPartitions(const MemoryPlan& plan, std::string temporary_folder);

  // Takes the hashes of one thread.
  class Writer {
   public:
    explicit Writer(HashPartitions& owner) : owner_(&owner) {}

    // Throws std::bad_alloc, or what SpillFile::append() throws.
    void add(const KeyHash& hash) {
      Chunk& chunk = chunks_[partition_of(hash)];
      if (chunk.next == chunk.end) [[unlikely]]
        make_room(partition_of(hash));
      *chunk.next++ = hash;
    }

   private:
    friend class HashPartitions;
    struct Chunk {
      KeyHash* begin = nullptr;
      KeyHash* next = nullptr;
      KeyHash* end = nullptr;
    };
    void make_room(std::size_t partition);

    HashPartitions* owner_;
    std::array<Chunk, kPartitions> chunks_{};
    std::array<std::vector<KeyHash*>, kPartitions> full_{};
  };

  // Each thread uses its own number, below plan.threads.
  [[nodiscard]] Writer& writer(unsigned thread) { return *writers_[thread]; }

  // Call once, after the last hash was added, when no thread adds any more. Throws what SpillFile::append()
  // throws.
  void finish_writing();

  // `index`: below kPartitions. After finish_writing().
  [[nodiscard]] Partition& partition(std::size_t index) noexcept { return partitions_[index]; }
  [[nodiscard]] const std::string& temporary_folder() const noexcept { return temporary_folder_; }

 private:
  KeyHash* new_chunk();

  MemoryPlan plan_;
  std::string temporary_folder_;
  std::atomic<std::uint64_t> kept_chunks_{0};
  std::vector<std::unique_ptr<Writer>> writers_;
  std::array<Partition, kPartitions> partitions_{};

  std::mutex mutex_;  // guards the two below
  std::vector<PageMemory> slabs_;
  std::size_t chunks_left_ = 0;  // in the last slab
};

}  // namespace keysieve
