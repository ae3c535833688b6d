#include "core/builder/partition/hash_partitions.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "core/builder/base/file_io.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kChunksPerSlab = 64;

// For messages: the file no longer has a name of its own.
std::string temporary_file_in(const std::string& folder) {
  return "temporary file in " + folder;
}

FileDescriptor make_file(const std::string& folder) {
  std::string path = folder + "/keysieve.XXXXXX";
  FileDescriptor file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file.is_open()) throw_write_error(temporary_file_in(folder), errno);
  ::unlink(path.c_str());
  return file;
}

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

// The first chunks of all partitions may stay nearly empty; huge pages would make them resident.
KeyHash* HashPartitions::new_chunk() {
  const std::lock_guard lock(mutex_);
  const std::size_t chunk_bytes = plan_.chunk_hashes * sizeof(KeyHash);
  if (chunks_left_ == 0) {
    const bool is_first = slabs_.size() * kChunksPerSlab < plan_.threads * kPartitions;
    slabs_.push_back(take_pages(kChunksPerSlab * chunk_bytes, is_first ? Pages::Small : Pages::Huge));
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

void SpillFile::append(std::span<const KeyHash> hashes, const std::string& folder) {
  const std::lock_guard lock(mutex_);
  if (!file_.is_open()) file_ = make_file(folder);
  write_all(file_, std::as_bytes(hashes), temporary_file_in(folder));
  size_ += hashes.size();
}

std::size_t SpillFile::read(std::uint64_t first, std::span<KeyHash> hashes, const std::string& folder) const {
  const auto wanted =
      hashes.first(static_cast<std::size_t>(std::min<std::uint64_t>(hashes.size(), size_ - first)));
  read_all_at(file_, first * sizeof(KeyHash), std::as_writable_bytes(wanted), temporary_file_in(folder));
  return wanted.size();
}

}  // namespace keysieve
