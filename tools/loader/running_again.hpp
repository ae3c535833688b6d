// A reload runs the program again in the same process, so that it begins as any start does. The locks of seen
// sets pass to it, and are never free in between.
#pragma once

#include <span>
#include <vector>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve {

// What the program before has left in this process.
struct Predecessor {
  bool was_there = false;
  bool was_ready = false;  // it had told systemd so
  std::vector<FileDescriptor> locks{};
};

// Reads an environment variable, and removes it. `name` is the program's, for ps and pkill.
Predecessor take_predecessor(const char* name);

// The program is that of /proc/self/exe, even if an upgrade has replaced its file. `arguments`: those of
// main(). The new program keeps only the standard streams and the locks open. Signals that are
// blocked stay so, and pending ones reach it. Throws CannotCreate; then this program goes on, with
// every descriptor above the standard streams marked close-on-exec.
[[noreturn]] void run_again(char* const* arguments, bool is_ready, std::span<const int> locks);

}  // namespace keysieve
