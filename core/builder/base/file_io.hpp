// Reads and writes whole files and stretches of them. `path` is for messages.
#pragma once

#include <optional>

#include "core/worker/base/file_descriptor.hpp"
#include "core/worker/base/mapped_region.hpp"

namespace keysieve {

// Writes all bytes by write(2), so that a full file system is ENOSPC here and not SIGBUS later. Throws
// CannotCreate, Permission; some bytes may be written then.
void write_all(const FileDescriptor& file, Bytes bytes, const std::string& path);
// Like write_all(), from `offset` on; several threads may write to a file at once.
void write_all_at(const FileDescriptor& file, std::uint64_t offset, Bytes bytes, const std::string& path);

// Reads from `offset` on, fewer bytes only at the end of the file; nothing if that fails, with errno set.
std::optional<std::size_t> read_up_to(const FileDescriptor& file, std::uint64_t offset, MutableBytes bytes);
// Reads exactly that many bytes, from `offset` on. Throws MissingInput, or Data when the file is shorter.
void read_all_at(const FileDescriptor& file, std::uint64_t offset, MutableBytes bytes,
                 const std::string& path);

// Opens an ordinary file that a user named, and maps all of it read-only. Throws MissingInput,
// Permission, and CannotCreate if it cannot be mapped.
MappedRegion map_file(const std::string& path);

}  // namespace keysieve
