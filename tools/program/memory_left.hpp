// How much more memory this process may take before something is killed for it. The loader asks before it
// populates a filter of a seen set, copies a snapshot, or publishes it in memory: what does not fit would
// have it killed, restarted, and killed again by the next attempt.
//
// Two things set limits, and the tightest one counts:
//   - the memory control group of this process and all groups above it, v2 (memory.max, memory.high) and v1
//     (memory.limit_in_bytes). In a container, those that the container can see.
//   - the machine: MemAvailable in /proc/meminfo. ProcSubset=pid of keysieved.service hides that file: then
//     what the NUMA nodes have free, with pages of files or with caches that the kernel can drop
//     (/sys/devices/system/node/node*/meminfo).
// What is left in a group is its limit minus what it uses. File pages (inactive_file and active_file, such as
// the cache that the loader has just read) count as free, since the kernel drops them before it kills. Swap
// does not count, although the kernel may get memory from there as well.
//
// Sources: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst of Linux, proc(5), cgroups(7).
//
// Any thread may call these functions. A call opens up to 4 files for each level of the groups and took 0.2
// ms with two levels (2 processors of a virtual machine, Linux 6.18). Other processes take memory too, so the
// answer may be out of date at once. What cannot be read or understood sets no limit, and is no error.
//
// `root`: the folder that is "/" for all files that are read. Only tests set it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace keysieve {

struct MemoryLimit {
  std::string file;               // the file with the limit, such as "/sys/fs/cgroup/web/memory.max"
  std::uint64_t limit_bytes = 0;  // of the machine: all of its memory
  std::uint64_t left_bytes = 0;   // 0 when more is used than the limit allows
};

// The limit that leaves the least; nullopt if there is none.
std::optional<MemoryLimit> tightest_memory_limit(const std::string& root = "");

// Throws CannotCreate unless `bytes` and a margin for the process itself are left. The message begins with
// `what`, for example "clicks: a window", and names what is needed, what is left, the limit and its file.
void check_memory_for(std::uint64_t bytes, const std::string& what, const std::string& root = "");

}  // namespace keysieve
