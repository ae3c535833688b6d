#include "tools/loader/logging.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>

namespace keysieve {
namespace {

// One for each level of spdlog, from trace on.
constexpr std::array kPriorities{LOG_DEBUG, LOG_DEBUG, LOG_INFO, LOG_WARNING, LOG_ERR, LOG_ERR};

// systemd says in JOURNAL_STREAM which stream is the journal's: standard error may have been redirected.
bool is_journal(int descriptor) {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  if (stream == nullptr || ::fstat(descriptor, &status) != 0) return false;
  return fmt::format("{}:{}", status.st_dev, status.st_ino) == stream;
}

// A pipe or terminal of another user cannot be opened again; then the one that is open has to do.
FileDescriptor opened_again(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode))) return {};
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  return FileDescriptor(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

// A pipe that is ready has room for PIPE_BUF bytes. O_NONBLOCK would do, too, but it is a flag of all who
// share the open file: a shell, a script.
ssize_t write_some(int descriptor, std::string_view text) noexcept {
  const ssize_t sent = ::send(descriptor, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent >= 0 || errno != ENOTSOCK) return sent;
  pollfd waiting{.fd = descriptor, .events = POLLOUT, .revents = 0};
  if (::poll(&waiting, 1, 0) != 1) return 0;
  return ::write(descriptor, text.data(), text.size());
}

}  // namespace

std::size_t write_without_waiting(int descriptor, std::string_view text) noexcept {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write_some(descriptor, text.substr(written, PIPE_BUF));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    written += static_cast<std::size_t>(count);
  }
  return written;
}

LogSink::LogSink(int descriptor)
    : own_(opened_again(descriptor)),
      descriptor_(own_.is_open() ? own_.get() : descriptor),
      is_journal_(is_journal(descriptor)) {
  set_pattern_(is_journal_ ? "%v" : "%Y-%m-%dT%H:%M:%S.%e%z %l: %v");
}

void LogSink::sink_it_(const spdlog::details::log_msg& message) {
  if (dropped_ != 0) {
    const std::string said = fmt::format("{} lines of the log were dropped here: nobody read them", dropped_);
    if (write({message.logger_name, spdlog::level::warn, said})) dropped_ = 0;
  }
  if (dropped_ != 0 || !write(message)) ++dropped_;
}

bool LogSink::write(const spdlog::details::log_msg& message) {
  spdlog::memory_buf_t line;
  if (is_cut_) line.push_back('\n');
  // The journal takes the priority from there.
  if (is_journal_)
    fmt::format_to(std::back_inserter(line), "<{}>", kPriorities.at(static_cast<std::size_t>(message.level)));
  formatter_->format(message, line);
  const std::size_t written = write_without_waiting(descriptor_, {line.data(), line.size()});
  if (written != 0) is_cut_ = written != line.size();
  return written == line.size();
}

}  // namespace keysieve
