// What /proc tells of a process.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.hpp"

namespace keysieve {

// A file as the kernel names it where it lists mappings. On some file systems, Btrfs for one, the device is
// another than that of stat(2).
struct FileId {
  dev_t device = 0;
  std::uint64_t inode = 0;
  auto operator<=>(const FileId&) const = default;
};

struct MappedFile {
  FileId id;
  std::string path;         // from the caller's root, whatever the process itself calls it
  bool is_removed = false;  // it has no name any more
  std::uint64_t begin = 0;  // address
  std::uint64_t bytes = 0;
};

struct ProcessFacts {
  uid_t uid = 0;
  // Its command line, which names the pool of a worker of php-fpm. What is no printable UTF-8 in it is
  // U+FFFD: anybody can start a process by a name that a terminal takes for orders.
  std::string program;
  UnixSeconds started_at = 0;
};

// All that run now. Throws MissingInput, Permission.
std::vector<pid_t> process_ids();

// Those of the kernel and those that have ended have none. Nothing: it is another user's, and the caller has
// no CAP_SYS_PTRACE.
std::optional<std::vector<MappedFile>> files_mapped_by(pid_t pid);

// Nothing: it has ended.
std::optional<ProcessFacts> facts_of(pid_t pid);

}  // namespace keysieve
