#include "core/partition/hash_partitions.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kChunksPerSlab = 64;

}  // namespace

std::uint64_t Partition::size() const noexcept {
  std::uint64_t hashes = spilled.size();
  for (const auto& span : in_memory) hashes += span.size();
  return hashes;
}

HashPartitions::HashPartitions(const MemoryPlan& plan, std::string temporary_folder)
    : plan_(plan), temporary_folder_(std::move(temporary_folder)) {
  for (unsigned thread = 0; thread < plan.threads; ++thread) {
    writers_.push_back(std::make_unique<Writer>(*this));
  }
}

void HashPartitions::Writer::make_room(std::size_t partition) {
  Chunk& chunk = chunks_[partition];
  if (chunk.begin != nullptr) {
    if (owner_->kept_chunks_++ >= owner_->plan_.kept_chunks) {
      owner_->partitions_[partition].spilled.append({chunk.begin, chunk.end}, owner_->temporary_folder_);
      chunk.next = chunk.begin;
      return;
    }
    full_[partition].push_back(chunk.begin);
  }
  chunk.begin = chunk.next = owner_->new_chunk();
  chunk.end = chunk.begin + owner_->plan_.chunk_hashes;
}

// The first chunks of all partitions may remain nearly empty; huge pages would make them resident.
KeyHash* HashPartitions::new_chunk() {
  const std::lock_guard lock(mutex_);
  const std::size_t chunk_bytes = plan_.chunk_hashes * sizeof(KeyHash);
  if (chunks_left_ == 0) {
    const bool is_first = slabs_.size() * kChunksPerSlab < plan_.threads * kPartitions;
    slabs_.emplace_back(kChunksPerSlab * chunk_bytes, is_first ? Pages::Small : Pages::Huge);
    chunks_left_ = kChunksPerSlab;
  }
  --chunks_left_;
  return reinterpret_cast<KeyHash*>(slabs_.back().get() + chunks_left_ * chunk_bytes);
}

void HashPartitions::finish_writing() {
  for (std::size_t i = 0; i < kPartitions; ++i) {
    auto& in_memory = partitions_[i].in_memory;
    for (const auto& writer : writers_) {
      for (KeyHash* full : writer->full_[i]) in_memory.emplace_back(full, plan_.chunk_hashes);
      const Writer::Chunk& open = writer->chunks_[i];
      if (open.next != open.begin) in_memory.emplace_back(open.begin, open.next);
    }
  }
  writers_.clear();
}

}  // namespace keysieve
