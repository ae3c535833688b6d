// A temporary file of the hashes that memory has no room for: appended to, then read from its beginning. It
// has no name and goes with the process, whatever happens to that.
#pragma once

#include <mutex>
#include <span>
#include <string>

#include "core/base/file_descriptor.hpp"
#include "core/hash/key_hash.hpp"

namespace keysieve {

class SpillFile {
 public:
  // Any thread. The file is made in `folder` when it is first needed. Throws CannotCreate or
  // Permission that names the folder.
  void append(std::span<const KeyHash> hashes, const std::string& folder);

  // Of all that was appended; not while anybody appends.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  // Hashes from number `first` on: fills `hashes`, or up to the end of the file; returns how many.
  std::size_t read(std::uint64_t first, std::span<KeyHash> hashes, const std::string& folder) const;

 private:
  std::mutex mutex_;
  FileDescriptor file_;
  std::uint64_t size_ = 0;
};

}  // namespace keysieve
