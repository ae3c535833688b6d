// An overlayfs over a folder, as a container has one over its image: what the folder holds is the lower
// layer. Needs rights.
#pragma once

#include <sys/mount.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {

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
