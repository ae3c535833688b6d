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
class MountedOverlay {
 public:
  explicit MountedOverlay(std::string path) : path_(std::move(path)), layers_(fast_folder()) {
    std::filesystem::create_directory(layers_ / "upper");
    std::filesystem::create_directory(layers_ / "work");
    const std::string options =
        "lowerdir=" + path_ + ",upperdir=" + layers_ / "upper" + ",workdir=" + layers_ / "work";
    if (::mount("overlay", path_.c_str(), "overlay", 0, options.c_str()) != 0) error_ = errno;
  }
  MountedOverlay(const MountedOverlay&) = delete;
  MountedOverlay& operator=(const MountedOverlay&) = delete;
  ~MountedOverlay() {
    if (error_ == 0) ::umount2(path_.c_str(), MNT_DETACH);
  }

  // errno of the mount; 0: mounted.
  [[nodiscard]] int error() const noexcept { return error_; }

 private:
  std::string path_;
  TemporaryDirectory layers_;
  int error_ = 0;
};

// Mounts one over the directory of a test, or skips the test if that is not possible.
#define MOUNT_OVERLAY_OR_SKIP()                                                               \
  const ::keysieve::test::MountedOverlay overlay(directory_.path());                          \
  if (overlay.error() == EPERM || overlay.error() == EACCES) GTEST_SKIP() << "may not mount"; \
  if (overlay.error() == ENODEV) GTEST_SKIP() << "this kernel has no overlayfs";              \
  ASSERT_EQ(overlay.error(), 0)

}  // namespace keysieve::test
