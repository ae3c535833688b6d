// The group of the PHP workers, as people name it.
#pragma once

#include <sys/types.h>

#include <string>

namespace keysieve {

// Throws UsageError for a group that the system does not know.
gid_t group_named(const std::string& name);

}  // namespace keysieve
