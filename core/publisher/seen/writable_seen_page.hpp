// The page of a seen set as its loader has it: new, and mapped for writing; and the switch in it.
#pragma once

#include <fcntl.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/publisher/shm/bypass.hpp"
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

// The emergency switch of a seen set: while it is on, workers neither look nor add; they answer as
// on_unavailable says, from their next call on. Lasts until `until` (Unix seconds), or until cleared when
// that is 0. Needs no lock, so it works while a loader runs, hangs or is stopped, and the loader keeps it
// when it begins or retires windows. Must run as the owner of the set's folder, or root. Throws MissingInput
// if the set was never begun here, Permission, NotTrusted, Data, Incompatible.
void set_seen_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until);
void clear_seen_bypass(const std::string& directory, std::string_view set_name);

inline PageBypass bypass_of(SeenPage& page) noexcept {
  return {page.state, SeenState::kBypassBit, page.bypass_until};
}

}  // namespace keysieve
