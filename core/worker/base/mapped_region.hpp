// A file's bytes, mapped into this process until the object is destroyed. Snapshots, control pages and live
// files are read through it. Boost.Interprocess maps them; only the .cpp includes it, because its headers are
// as long as all the others here together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/worker/base/bytes.hpp"
#include "core/worker/base/file_descriptor.hpp"

namespace boost::interprocess {
class mapped_region;
}

namespace keysieve {

enum class MapAccess : std::uint8_t { ReadOnly, ReadWrite };

class MappedRegion {
 public:
  MappedRegion() noexcept;  // nothing is mapped: no bytes
  MappedRegion(MappedRegion&& other) noexcept;
  MappedRegion& operator=(MappedRegion&& other) noexcept;
  ~MappedRegion();

  // Stays the same when the object is moved. Read from the object itself: no call and no extra load.
  [[nodiscard]] std::byte* address() const noexcept { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }

  // Which file it is, whatever its name.
  [[nodiscard]] const FileIdentity& identity() const noexcept { return identity_; }
  // What a path leads to, by device and inode and shows_its_path(): the file that is mapped, none, or another
  // one, as after a rename or a mount. Throws Permission, MissingInput if it cannot find out.
  enum class Found : std::uint8_t { This, None, Another };
  [[nodiscard]] Found found_at(const std::string& path) const;

  // Whether the path by which the file was opened leads to the bytes that are mapped, as far as the first
  // page shows. Ask when device and inode are the same. They stay so on overlayfs, when a file of a
  // lower layer is opened for writing. From then on the path leads to a copy in the upper layer, and a
  // mapping for reading stays with the file in the lower one. True without a look where that cannot be: on a
  // tmpfs, and if the file is mapped for writing; also if the path leads to nothing that can be read.
  [[nodiscard]] bool shows_its_path() const noexcept;

  // Waits until everything stored in it is on the disk; false when that fails.
  bool flush() noexcept;

 private:
  friend MappedRegion map_region(const FileDescriptor& file, MapAccess access, const std::string& path,
                                 std::size_t least_bytes);

  std::unique_ptr<boost::interprocess::mapped_region> region_;
  MutableBytes bytes_;
  FileIdentity identity_;
  std::string path_;  // empty: the mapping cannot part from it
};

// Maps all of a file, which was opened by `path`. Throws Data if it has fewer bytes than that, MissingInput,
// CannotCreate, Permission.
MappedRegion map_region(const FileDescriptor& file, MapAccess access, const std::string& path,
                        std::size_t least_bytes = 0);

inline Bytes bytes_of(const MappedRegion& region) noexcept {
  return {region.address(), region.size()};
}

}  // namespace keysieve
