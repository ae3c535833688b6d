// The page of a seen set as its loader has it: new, and mapped for writing.
#pragma once

#include <fcntl.h>

#include <utility>
#include <vector>

#include "core/worker/seen/seen_page.hpp"

namespace keysieve {

class WritableSeenPageFile : public SeenPageFile {
 public:
  // Throws as SeenPageFile.
  explicit WritableSeenPageFile(const SetFolder& folder)
      : WritableSeenPageFile(folder, folder.open_file(kSeenPageName, O_RDWR)) {}

  [[nodiscard]] SeenPage& writable_page() const noexcept {
    return *reinterpret_cast<SeenPage*>(region_.address());
  }
  // For lock_page().
  [[nodiscard]] const FileDescriptor& file() const noexcept { return file_; }

 private:
  WritableSeenPageFile(const SetFolder& folder, FileDescriptor file)
      : SeenPageFile(folder, file, MapAccess::ReadWrite), file_(std::move(file)) {}

  FileDescriptor file_;
};

// The bytes of a page without filters.
std::vector<std::byte> new_seen_page(const HashSeed& seed, OnUnavailable on_unavailable);

}  // namespace keysieve
