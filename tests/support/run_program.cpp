#include "tests/support/run_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <sstream>
#include <stdexcept>

#include "core/builder/base/file_io.hpp"
#include "tests/support/forked.hpp"

namespace keysieve::test {
namespace {

constexpr unsigned kTimeoutSeconds = 600;
constexpr int kCannotStart = 127;

FileDescriptor opened(int descriptor, const std::string& what) {
  if (descriptor < 0) throw std::runtime_error("cannot open " + what);
  return FileDescriptor(descriptor);
}

// A file without a name: unlike a pipe it takes everything at once.
FileDescriptor unnamed_file() {
  return opened(::memfd_create("stream", MFD_CLOEXEC), "an unnamed file");
}

std::string read_to_end(const FileDescriptor& file) {
  std::string text;
  std::array<char, 65536> buffer;
  ssize_t count = 0;
  // A terminal returns EIO once no process has it open any more.
  while ((count = ::read(file.get(), buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

std::string read_all(const FileDescriptor& file) {
  ::lseek(file.get(), 0, SEEK_SET);
  return read_to_end(file);
}

struct Terminal {
  FileDescriptor here;
  FileDescriptor there;
};

Terminal open_terminal() {
  Terminal terminal{opened(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), "a terminal"), {}};
  ::grantpt(terminal.here.get());
  ::unlockpt(terminal.here.get());
  terminal.there = opened(::open(::ptsname(terminal.here.get()), O_RDWR | O_NOCTTY | O_CLOEXEC),
                          "the terminal's other end");
  return terminal;
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

// Finds it as execvp(3) does.
std::string path_of(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + program).c_str(), X_OK) == 0) return folder + "/" + program;
  }
  throw std::runtime_error(program + " is not installed");
}

// Runs in the child of vfork(), which has the parent's memory, so it makes only system calls. The C
// library's functions that change the user would change the parent's threads too.
[[noreturn]] void become(const std::optional<uid_t>& user, unsigned most_seconds,
                         const FileDescriptor& program, char* const* arguments, char* const* environment,
                         const std::array<int, 3>& streams, pid_t parent) {
  for (int i = 0; i < 3; ++i) ::dup2(streams[static_cast<std::size_t>(i)], i);
  if (user && (::syscall(SYS_setgroups, 0, nullptr) != 0 || ::syscall(SYS_setgid, *user) != 0 ||
               ::syscall(SYS_setuid, *user) != 0)) {
    ::_exit(kCannotStart);
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kCannotStart);
  ::alarm(most_seconds);
  // The program was opened before, because another user may not reach the path.
  ::fexecve(program.get(), arguments, environment);
  ::_exit(kCannotStart);
}

struct PipeEnds {
  FileDescriptor reading;
  FileDescriptor writing;
};

PipeEnds open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("cannot make a pipe");
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

}  // namespace

pid_t start_program(const ProgramCall& call, const std::array<int, 3>& streams, unsigned most_seconds) {
  const FileDescriptor program =
      opened(::open(path_of(call.program).c_str(), O_RDONLY | O_CLOEXEC), call.program);
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
    become(call.user, most_seconds, program, arguments.data(), environment.data(), streams, parent);
  }
  return child;
}

ProgramResult run_program(const ProgramCall& call) {
  const FileDescriptor input = unnamed_file();
  write_all(input, as_bytes(call.input), "standard input");
  ::lseek(input.get(), 0, SEEK_SET);
  const FileDescriptor output =
      call.output_to ? opened(::open(call.output_to->c_str(), O_WRONLY | O_CLOEXEC), *call.output_to)
                     : unnamed_file();
  const bool on_terminal = call.errors_on_terminal || call.typed;
  Terminal terminal;
  FileDescriptor errors;
  if (on_terminal) {
    terminal = open_terminal();
  } else {
    errors = unnamed_file();
  }
  if (call.typed) write_all(terminal.here, as_bytes(*call.typed), "what is typed");

  const std::array streams{call.typed ? terminal.there.get() : input.get(), output.get(),
                           on_terminal ? terminal.there.get() : errors.get()};
  const pid_t child = start_program(call, streams, kTimeoutSeconds);

  ProgramResult result;
  if (on_terminal) {
    terminal.there.close();
    result.errors = read_to_end(terminal.here);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  if (!call.output_to) result.output = read_all(output);
  if (!on_terminal) result.errors = read_all(errors);
  return result;
}

PipedProgram::PipedProgram(const ProgramCall& call) : errors_(unnamed_file()) {
  PipeEnds input = open_pipe();
  PipeEnds output = open_pipe();
  pid_ = start_program(call, {input.reading.get(), output.writing.get(), errors_.get()});
  input_ = std::move(input.writing);
  output_ = std::move(output.reading);
}

PipedProgram::~PipedProgram() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void PipedProgram::write(const std::string& text) const {
  write_all(input_, as_bytes(text), "standard input");
}

std::string PipedProgram::line() {
  for (;;) {
    const std::size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      const std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    pollfd output{.fd = output_.get(), .events = POLLIN, .revents = 0};
    std::array<char, 4096> buffer{};
    const int ready = ::poll(&output, 1, static_cast<int>(std::chrono::milliseconds(kDeadline).count()));
    const ssize_t count = ready == 1 ? ::read(output_.get(), buffer.data(), buffer.size()) : 0;
    if (count <= 0) throw std::runtime_error("the program prints no line");
    unread_.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

ProgramResult PipedProgram::end() {
  input_.close();
  unread_ += read_to_end(output_);
  ProgramResult result{.exit_status = wait_for(pid_), .output = unread_, .errors = read_all(errors_)};
  pid_ = -1;
  return result;
}

}  // namespace keysieve::test
