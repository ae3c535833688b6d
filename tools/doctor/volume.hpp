// A directory that is a volume of a pod, whose rights the pod's securityContext gives.
#pragma once

#include <sys/stat.h>

namespace keysieve {

// As kubelet makes an emptyDir for the pod's fsGroup.
inline bool is_volume(const struct stat& status) noexcept {
  constexpr mode_t kMode = S_ISGID | S_IWOTH;
  return status.st_uid == 0 && (status.st_mode & kMode) == kMode;
}

}  // namespace keysieve
