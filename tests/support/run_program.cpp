#include "tests/support/run_program.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>

#include "core/builder/base/file_io.hpp"
#include "tests/support/forked.hpp"

namespace keysieve::test {
namespace {

constexpr unsigned kTimeoutSeconds = 600;
constexpr int kCannotStart = 127;

// A file without a name: unlike a pipe it takes everything at once.
FileDescriptor unnamed_file() {
  FileDescriptor file(::memfd_create("stream", MFD_CLOEXEC));
  if (!file.is_open()) throw std::runtime_error("cannot open an unnamed file");
  return file;
}

std::string read_all(const FileDescriptor& file) {
  ::lseek(file.get(), 0, SEEK_SET);
  std::string text;
  std::array<char, 65536> buffer;
  ssize_t count = 0;
  while ((count = ::read(file.get(), buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// This process' environment, in which the variables of the call, "NAME=value", replace those of the same
// name.
std::vector<std::string> environment_of(const ProgramCall& call) {
  const auto name_of = [](const std::string& variable) { return variable.substr(0, variable.find('=') + 1); };
  std::vector<std::string> all = call.environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const auto is_replaced = [&](const std::string& own) {
      return std::string(*variable).starts_with(name_of(own));
    };
    if (std::ranges::none_of(call.environment, is_replaced)) all.emplace_back(*variable);
  }
  return all;
}

// Runs in the child of vfork(), which has the parent's memory, so it makes only system calls.
[[noreturn]] void become(unsigned most_seconds, char* const* arguments, char* const* environment,
                         const std::array<int, 3>& streams, pid_t parent) {
  for (int i = 0; i < 3; ++i) ::dup2(streams[static_cast<std::size_t>(i)], i);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kCannotStart);
  ::signal(SIGPIPE, SIG_DFL);  // which server_process.cpp ignores
  ::alarm(most_seconds);
  ::execvpe(arguments[0], arguments, environment);
  ::_exit(kCannotStart);
}

}  // namespace

pid_t start_program(const ProgramCall& call, const std::array<int, 3>& streams, unsigned most_seconds) {
  std::vector<std::string> words{call.program};
  words.insert(words.end(), call.arguments.begin(), call.arguments.end());
  const std::vector<char*> arguments = pointers_to(words);
  const std::vector<std::string> variables = environment_of(call);
  const std::vector<char*> environment = pointers_to(variables);
  const pid_t parent = ::getpid();
  // fork() copies the tables of all pages, 13 ms for 200 MB under AddressSanitizer; vfork() takes 2 ms.
  const pid_t child = ::vfork();
  if (child < 0) throw std::runtime_error("cannot fork for " + call.program);
  if (child == 0) {
    become(most_seconds, arguments.data(), environment.data(), streams, parent);
  }
  return child;
}

ProgramResult run_program(const ProgramCall& call) {
  const FileDescriptor input = unnamed_file();
  write_all(input, as_bytes(call.input), "standard input");
  ::lseek(input.get(), 0, SEEK_SET);
  const FileDescriptor output = unnamed_file();
  const FileDescriptor errors = unnamed_file();
  const pid_t child = start_program(call, {input.get(), output.get(), errors.get()}, kTimeoutSeconds);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status),
          .output = read_all(output),
          .errors = read_all(errors)};
}

}  // namespace keysieve::test
