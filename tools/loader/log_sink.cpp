#include "tools/loader/log_sink.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include "tools/program/unwaited_write.hpp"

namespace keysieve {
namespace {

// A pipe or terminal of another user cannot be opened again; then the one that is open has to do.
FileDescriptor opened_again(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || (!S_ISFIFO(status.st_mode) && !S_ISCHR(status.st_mode))) return {};
  const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  return FileDescriptor(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

}  // namespace

LogSink::LogSink(int descriptor)
    : own_(opened_again(descriptor)), descriptor_(own_.is_open() ? own_.get() : descriptor) {}

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
  formatter_->format(message, line);
  const std::size_t written = write_without_waiting(descriptor_, {line.data(), line.size()});
  if (written != 0) is_cut_ = written != line.size();
  return written == line.size();
}

}  // namespace keysieve
