// Opens the files of stores in folders.
#pragma once

#include <fcntl.h>

#include <cerrno>
#include <string>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve {

// As open(), but follows no link and does not wait for the other end of a FIFO. It does wait for a lease,
// which an NFS server has on a file for each client that reads it: only regular files can have one.
inline FileDescriptor open_store_file(const std::string& path, int flags, mode_t mode = 0) {
  flags |= O_NOFOLLOW | O_CLOEXEC;
  FileDescriptor file(::open(path.c_str(), flags | O_NONBLOCK, mode));
  if (!file.is_open() && errno == EWOULDBLOCK) file = FileDescriptor(::open(path.c_str(), flags, mode));
  return file;
}

}  // namespace keysieve
