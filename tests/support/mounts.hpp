// A new tmpfs of a given size, for tests of a full file system and of unlinked memory, and a namespace whose
// mounts are its own. Both need rights.
#pragma once

#include <sched.h>
#include <sys/mount.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "tests/support/forked.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {

// A mount over a folder, gone when the object is.
class Mounted {
 public:
  Mounted(const Mounted&) = delete;
  Mounted& operator=(const Mounted&) = delete;
  ~Mounted() {
    if (error_ == 0) ::umount2(path_.c_str(), MNT_DETACH);
  }

  // False if this user may not mount. Throws when mounting fails for another reason.
  [[nodiscard]] bool is_there() const {
    if (error_ != 0 && error_ != EPERM) throw std::runtime_error("cannot mount at " + path_);
    return error_ == 0;
  }
  // errno of the mount; 0: mounted.
  [[nodiscard]] int error() const noexcept { return error_; }

 protected:
  Mounted(std::string path, const char* type, const std::string& options, unsigned long flags = 0)
      : path_(std::move(path)) {
    if (::mount(type, path_.c_str(), type, flags, options.c_str()) != 0) error_ = errno;
  }

 private:
  std::string path_;
  int error_ = 0;
};

class MountedTmpfs : public Mounted {
 public:
  // `size` is that of mount(8), for example "256k"; `flags` are those of mount(2), for example MS_RDONLY.
  MountedTmpfs(std::string path, const std::string& size, unsigned long flags = 0)
      : Mounted(std::move(path), "tmpfs", "size=" + size, flags) {}
};

// From now on, the mounts of this process are its own, as after `unshare --mount`. False if it may not: in a
// container without privileges, and where the root is no mount point, as after chroot(8).
inline bool unshare_mounts() {
  return ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
}

inline bool can_unshare_mounts() {
  return run_in_process([] { return unshare_mounts() ? 0 : 1; }) == 0;
}

// An overlayfs over a folder, as a container has one over its image: what the folder holds is the lower
// layer. Needs rights.
class MountedOverlay : private TemporaryDirectory, public Mounted {
 public:
  explicit MountedOverlay(const std::string& path)
      : TemporaryDirectory(fast_folder()),
        Mounted(path, "overlay",
                "lowerdir=" + path + ",upperdir=" + made("upper") + ",workdir=" + made("work")) {}

 private:
  [[nodiscard]] std::string made(const std::string& layer) const {
    std::filesystem::create_directory(*this / layer);
    return *this / layer;
  }
};

// Mounts one over the directory of a test, or skips the test if that is not possible.
#define MOUNT_OVERLAY_OR_SKIP()                                                               \
  const ::keysieve::test::MountedOverlay overlay(directory_.path());                          \
  if (overlay.error() == EPERM || overlay.error() == EACCES) GTEST_SKIP() << "may not mount"; \
  if (overlay.error() == ENODEV) GTEST_SKIP() << "this kernel has no overlayfs";              \
  ASSERT_EQ(overlay.error(), 0)

}  // namespace keysieve::test
