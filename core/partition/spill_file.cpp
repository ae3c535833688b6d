#include "core/partition/spill_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "core/base/error.hpp"

namespace keysieve {
namespace {

// What messages name: the file has lost its own name.
std::string temporary_file_in(const std::string& folder) {
  return "temporary file in " + folder;
}

FileDescriptor make_file(const std::string& folder) {
  std::string path = folder + "/keysieve.XXXXXX";
  FileDescriptor file(::mkostemp(path.data(), O_CLOEXEC));
  if (!file.is_open()) throw_write_error(temporary_file_in(folder), errno);
  ::unlink(path.c_str());
  return file;
}

}  // namespace

void SpillFile::append(std::span<const KeyHash> hashes, const std::string& folder) {
  const std::lock_guard lock(mutex_);
  if (!file_.is_open()) file_ = make_file(folder);
  write_all(file_, std::as_bytes(hashes), temporary_file_in(folder));
  size_ += hashes.size();
}

std::size_t SpillFile::read(std::uint64_t first, std::span<KeyHash> hashes, const std::string& folder) const {
  const auto wanted =
      hashes.first(static_cast<std::size_t>(std::min<std::uint64_t>(hashes.size(), size_ - first)));
  read_all_at(file_, first * sizeof(KeyHash), std::as_writable_bytes(wanted), temporary_file_in(folder));
  return wanted.size();
}

}  // namespace keysieve
