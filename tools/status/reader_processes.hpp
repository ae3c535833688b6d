// Which processes have publications of a directory attached, as /proc tells. For those who look after a host;
// no reader needs to know.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/clock.hpp"

namespace keysieve {

// One process and one publication that it has attached.
struct ReaderProcess {
  std::string set_name;
  std::uint64_t publication = 0;
  std::uint64_t bytes = 0;  // of the snapshot, in whole pages
  bool is_removed = false;  // it has no name any more: its readers alone keep it in memory
  pid_t pid = 0;
  uid_t uid = 0;
  std::string program;         // its command line, printable
  UnixSeconds started_at = 0;  // of the process; when it attached, nobody knows
};

struct ReaderProcesses {
  std::vector<ReaderProcess> readers;  // by set, publication and pid
  std::size_t unreadable = 0;          // processes of other users, into which only CAP_SYS_PTRACE lets look
};

// All but the calling process. Throws MissingInput, Permission.
ReaderProcesses reader_processes(const std::string& directory);

}  // namespace keysieve
