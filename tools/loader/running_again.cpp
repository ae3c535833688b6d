#include "tools/loader/running_again.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <string>
#include <system_error>

#include "core/builder/base/folder_names.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

constexpr const char* kProgram = "/proc/self/exe";
// Whether it was ready (0 or 1), then the descriptors with the locks: "1 7 9".
constexpr const char* kVariable = "KEYSIEVED_PREDECESSOR";

void close_on_exec(int descriptor, bool is_closed) noexcept {
  ::fcntl(descriptor, F_SETFD, is_closed ? FD_CLOEXEC : 0);
}

// Libraries leave some open: hiredis its connections.
void close_all_on_exec() {
  std::error_code error;
  for (const std::string& name : names_in("/proc/self/fd", error)) {
    if (const int descriptor = std::stoi(name); descriptor > STDERR_FILENO) close_on_exec(descriptor, true);
  }
}

}  // namespace

Predecessor take_predecessor(const char* name) {
  Predecessor predecessor;
  const char* variable = std::getenv(kVariable);
  if (variable == nullptr) return predecessor;
  std::istringstream words(variable);
  ::unsetenv(kVariable);
  ::prctl(PR_SET_NAME, name);  // it would be "exe"
  predecessor.was_there = true;
  words >> predecessor.was_ready;
  for (int descriptor = -1; words >> descriptor;) {
    close_on_exec(descriptor, true);
    predecessor.locks.emplace_back(descriptor);
  }
  return predecessor;
}

void run_again(char* const* arguments, bool is_ready, std::span<const int> locks) {
  std::string left = is_ready ? "1" : "0";
  for (const int descriptor : locks) left += " " + std::to_string(descriptor);
  ::setenv(kVariable, left.c_str(), 1);
  close_all_on_exec();
  for (const int descriptor : locks) close_on_exec(descriptor, false);
  ::execv(kProgram, arguments);
  const int reason = errno;
  for (const int descriptor : locks) close_on_exec(descriptor, true);
  ::unsetenv(kVariable);
  throw_write_error(std::string("cannot run ") + kProgram + " again", reason);
}

}  // namespace keysieve
