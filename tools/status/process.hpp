// Facts about a process, from /proc.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/worker/base/clock.hpp"

namespace keysieve {

// Identifies a file the way the kernel does when it lists mappings. On some file systems, Btrfs for one, the
// device differs from that of stat(2).
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
  // Its command line, which names the pool of a php-fpm worker. Everything that is not printable UTF-8
  // becomes U+FFFD: any user can start a process whose name holds terminal commands.
  std::string program;
  UnixSeconds started_at = 0;
};

// All processes that run now. Throws MissingInput, Permission.
std::vector<pid_t> process_ids();

// Empty for kernel threads and processes that have ended. Nothing if the process belongs to another user and
// the caller has no CAP_SYS_PTRACE.
std::optional<std::vector<MappedFile>> files_mapped_by(pid_t pid);

// Nothing if it has ended.
std::optional<ProcessFacts> facts_of(pid_t pid);

}  // namespace keysieve
