// The file that holds the control page of a set, mapped: read-only by readers, writable by its owner.
#pragma once

#include <sys/types.h>

#include "core/base/file_descriptor.hpp"
#include "core/base/mapped_region.hpp"
#include "core/shm/control_page.hpp"
#include "core/shm/set_folder.hpp"

namespace keysieve {

class ControlFile {
 public:
  // Throws MissingInput, Permission, NotTrusted, Data, Incompatible; all name the file.
  static ControlFile open_read_only(const SetFolder& folder);
  static ControlFile open_writable(const SetFolder& folder);

  [[nodiscard]] const ControlPage& page() const noexcept {
    return *reinterpret_cast<const ControlPage*>(region_.address());
  }
  // Only of a writable one.
  [[nodiscard]] ControlPage& writable_page() const noexcept {
    return *reinterpret_cast<ControlPage*>(region_.address());
  }

  // What a path leads to, by device and inode: this file, none, or another one, as after a rename or a mount.
  // Throws Permission, MissingInput where that cannot be told.
  enum class Found : std::uint8_t { This, None, Another };
  [[nodiscard]] Found found_at(const std::string& path) const;

  [[nodiscard]] const FileIdentity& identity() const noexcept { return identity_; }

  // Of a writable one: whether the file has lost its name, having been removed or replaced.
  [[nodiscard]] bool is_removed() const noexcept;

  // Of a writable one: keeps other publishers away as long as this object lives; false while another does.
  // `path` is for the message. Throws CannotCreate, Permission.
  [[nodiscard]] bool hold(const std::string& path) const;

 private:
  ControlFile(const SetFolder& folder, int open_flags, MapAccess access);

  FileDescriptor file_;  // closed once it is mapped, if read-only
  MappedRegion region_;
  FileIdentity identity_;
};

}  // namespace keysieve
