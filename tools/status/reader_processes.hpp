// Which processes have publications of a directory attached, according to /proc. For operators; readers do
// not need it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/worker/base/clock.hpp"

namespace keysieve {

// One process and one publication that it has attached.
struct ReaderProcess {
  std::string set_name;
  std::uint64_t publication = 0;
  std::uint64_t bytes = 0;  // of the snapshot, in whole pages
  bool is_removed = false;  // it has no name any more: only its readers keep it in memory
  pid_t pid = 0;
  uid_t uid = 0;
  std::string program;         // its command line, printable
  UnixSeconds started_at = 0;  // start of the process; when it attached is unknown
};

struct ReaderProcesses {
  std::vector<ReaderProcess> readers;  // by set, publication and pid
  std::size_t unreadable = 0;  // processes of other users, which only CAP_SYS_PTRACE lets us look into
};

// All processes but the calling one. Throws MissingInput, Permission.
ReaderProcesses reader_processes(const std::string& directory);

}  // namespace keysieve
