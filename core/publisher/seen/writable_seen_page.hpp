// The page of a seen set, mapped so that its loader can write to it.
#pragma once

#include <fcntl.h>

#include <utility>

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

}  // namespace keysieve
