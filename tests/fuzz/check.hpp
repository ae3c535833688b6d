// What must hold for every input.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve::fuzz {

inline void check(bool holds) {
  if (!holds) std::abort();
}

// The input of a fuzz target as a file that has a path, without a disk: for readers that open their input.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* data, std::size_t size) : file_(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (!file_.is_open() || ::write(file_.get(), data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(file_.get()); }

 private:
  FileDescriptor file_;
};

}  // namespace keysieve::fuzz
