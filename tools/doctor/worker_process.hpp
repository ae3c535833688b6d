// What /proc tells about a worker of php-fpm: nothing where its number is not one of this process's
// namespace, or it may not be looked into.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "tools/doctor/user.hpp"

namespace keysieve {

// Whether the extension that it has loaded has lost its name since: a newer one has taken its place.
bool is_replaced_in(pid_t pid);

// Its AppArmor profile or SELinux context; empty when neither confines it.
std::string security_label_of(pid_t pid);

// Whose rights it has, and its root.
std::optional<User> user_of(pid_t pid);

// RLIMIT_AS; nothing: no limit.
std::optional<std::uint64_t> address_space_of(pid_t pid);

}  // namespace keysieve
