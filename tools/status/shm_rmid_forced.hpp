// Whether the kernel removes segments that no process has attached. Then seen sets are lost when keysieved
// stops while no worker has them. For the doctor and keysieved.
//
// Source: Documentation/admin-guide/sysctl/kernel.rst of Linux, shm_rmid_forced.
#pragma once

#include <string>
#include <string_view>

namespace keysieve {

inline constexpr const char* kShmRmidForcedFile = "/proc/sys/kernel/shm_rmid_forced";

// False too if the file cannot be read: keysieved.service hides it (ProcSubset=pid).
bool is_shm_rmid_forced(const std::string& file = kShmRmidForcedFile);

// What to say then.
inline constexpr std::string_view kShmRmidForced =
    "kernel.shm_rmid_forced is 1: when keysieved stops while no worker has a seen set, its memory is "
    "removed, "
    "and its keys with it";

}  // namespace keysieve
