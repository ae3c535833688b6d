// The control group of a process: what it and those around it allow.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace keysieve {

// The least memory.max of the process's control group and those above it (version 2, as this process sees
// them), in bytes; nothing where there is no limit, or /proc and /sys do not tell. `process`: "/proc/<pid>".
std::optional<std::uint64_t> memory_limit_of(const std::string& process);

}  // namespace keysieve
