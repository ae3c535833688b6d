// The control page and the live file of a publication as their owner has them: new, mapped for writing,
// locked.
#pragma once

#include <fcntl.h>

#include <string>
#include <utility>

#include "core/worker/base/file_descriptor.hpp"
#include "core/worker/shm/control_file.hpp"
#include "core/worker/shm/live_file.hpp"

namespace keysieve {

class WritableControlFile : public ControlFile {
 public:
  // Throws as ControlFile::open_read_only().
  explicit WritableControlFile(const SetFolder& folder)
      : WritableControlFile(folder, folder.open_file(kControlName, O_RDWR)) {}

  [[nodiscard]] ControlPage& writable_page() const noexcept {
    return *reinterpret_cast<ControlPage*>(region_.address());
  }
  // Whether the file was removed or replaced and so has lost its name.
  [[nodiscard]] bool is_removed() const noexcept;

  // For lock_page().
  [[nodiscard]] const FileDescriptor& file() const noexcept { return file_; }

 private:
  WritableControlFile(const SetFolder& folder, FileDescriptor file)
      : ControlFile(folder, file, MapAccess::ReadWrite), file_(std::move(file)) {}

  FileDescriptor file_;
};

// The bytes of a control page with nothing published, and a random instance.
std::array<std::byte, kPageBytes> new_control_page();

// The first fields of a live page.
struct PublicationStamp {
  std::uint64_t instance = 0;
  std::uint64_t publication = 0;
  std::uint64_t generation = 0;
  UnixSeconds published_at = 0;
  LayerGeometry layer{};
  HashSeed seed{};
  std::uint64_t live_keys = 0;
};

// The bytes of a live page, with its checksum; the layer's bytes follow it in the file.
std::array<std::byte, kPageBytes> new_live_page(const PublicationStamp& stamp);

// The lock that a loader holds on the page of its set as long as it lives, for seen sets as well: another
// loader cannot get it, even if the file `lock` was removed and made again. It ends when the descriptor is
// closed. Requires a descriptor that is open for writing. False: another loader has it. A worker that can
// open the page can lock it for reading; that is no obstacle. A file system without such locks is none
// either: the file `lock` then has to do. Throws CannotCreate, Permission; `path` is for messages.
bool lock_page(const FileDescriptor& page, const std::string& path);

}  // namespace keysieve
