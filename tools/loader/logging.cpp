#include "tools/loader/logging.hpp"

#include <fmt/core.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

#include "tools/loader/log_sink.hpp"

namespace keysieve {
namespace {

// The journal takes the priority from "<4>" at the start of a line.
class PriorityPrefix : public spdlog::custom_flag_formatter {
 public:
  void format(const spdlog::details::log_msg& message, const std::tm&, spdlog::memory_buf_t& line) override {
    fmt::format_to(std::back_inserter(line), "<{}>", priority_of(message.level));
  }
  [[nodiscard]] std::unique_ptr<custom_flag_formatter> clone() const override {
    return std::make_unique<PriorityPrefix>();
  }

 private:
  static int priority_of(spdlog::level::level_enum level) {
    switch (level) {
      case spdlog::level::trace:
      case spdlog::level::debug:
        return LOG_DEBUG;
      case spdlog::level::warn:
        return LOG_WARNING;
      case spdlog::level::err:
      case spdlog::level::critical:
        return LOG_ERR;
      default:
        return LOG_INFO;
    }
  }
};

// systemd says in JOURNAL_STREAM which stream is the journal's: standard error may have been redirected.
bool is_journal(int descriptor) {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status {};
  if (stream == nullptr || ::fstat(descriptor, &status) != 0) return false;
  return fmt::format("{}:{}", status.st_dev, status.st_ino) == stream;
}

}  // namespace

void start_logging() {
  auto logger = std::make_shared<spdlog::logger>("keysieved", std::make_shared<LogSink>(STDERR_FILENO));
  auto formatter = std::make_unique<spdlog::pattern_formatter>();
  formatter->add_flag<PriorityPrefix>('*');
  formatter->set_pattern(is_journal(STDERR_FILENO) ? "%*%v" : "%Y-%m-%dT%H:%M:%S.%e%z %l: %v");
  logger->set_formatter(std::move(formatter));
  spdlog::set_default_logger(std::move(logger));
}

void set_log_level(const std::string& level) {
  spdlog::set_level(spdlog::level::from_str(level));
}

}  // namespace keysieve
