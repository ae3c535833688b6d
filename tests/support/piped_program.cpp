#include "tests/support/piped_program.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <stdexcept>
#include <vector>

#include "tests/support/forked.hpp"

namespace keysieve::test {
namespace {

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

PipedProgram::PipedProgram(const ProgramCall& call) : errors_(::memfd_create("errors", MFD_CLOEXEC)) {
  PipeEnds input = open_pipe();
  PipeEnds output = open_pipe();
  pid_ = start_process([&] {
    ::dup2(input.reading.get(), STDIN_FILENO);
    ::dup2(output.writing.get(), STDOUT_FILENO);
    ::dup2(errors_.get(), STDERR_FILENO);
    for (const std::string& variable : call.environment) ::putenv(const_cast<char*>(variable.c_str()));
    std::vector<char*> words{const_cast<char*>(call.program.c_str())};
    for (const std::string& argument : call.arguments) words.push_back(const_cast<char*>(argument.c_str()));
    words.push_back(nullptr);
    return ::execv(words[0], words.data());
  });
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
  std::array<char, 4096> buffer{};
  for (ssize_t count = 0; (count = ::read(output_.get(), buffer.data(), buffer.size())) > 0;) {
    unread_.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ProgramResult result{.exit_status = wait_for(pid_), .output = unread_, .errors = {}};
  pid_ = -1;
  ::lseek(errors_.get(), 0, SEEK_SET);
  for (ssize_t count = 0; (count = ::read(errors_.get(), buffer.data(), buffer.size())) > 0;) {
    result.errors.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return result;
}

}  // namespace keysieve::test
