// A new tmpfs of a given size, for tests of a full file system and of unlinked memory. Needs the right to
// mount.
#pragma once

#include <sys/mount.h>

#include <cerrno>
#include <stdexcept>
#include <string>

namespace keysieve::test {

class MountedTmpfs {
 public:
  // `size` is that of mount(8), for example "256k"; `flags` are those of mount(2), for example MS_RDONLY.
  MountedTmpfs(std::string path, const std::string& size, unsigned long flags = 0) : path_(std::move(path)) {
    if (::mount("tmpfs", path_.c_str(), "tmpfs", flags, ("size=" + size).c_str()) != 0) error_ = errno;
  }
  MountedTmpfs(const MountedTmpfs&) = delete;
  MountedTmpfs& operator=(const MountedTmpfs&) = delete;
  ~MountedTmpfs() {
    if (error_ == 0) ::umount2(path_.c_str(), MNT_DETACH);
  }

  // False if this user may not mount. Throws when mounting fails for another reason.
  [[nodiscard]] bool is_there() const {
    if (error_ != 0 && error_ != EPERM) throw std::runtime_error("cannot mount a tmpfs at " + path_);
    return error_ == 0;
  }
  // errno of the mount; 0: mounted.
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  std::string path_;
  int error_ = 0;
};

}  // namespace keysieve::test
