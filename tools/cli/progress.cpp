#include "tools/cli/progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr std::chrono::milliseconds kBetweenUpdates{100};
constexpr const char* kWipeLine = "\r\033[K";

}  // namespace

ProgressLine::ProgressLine(std::string what)
    : what_(std::move(what)), on_terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (shown_) std::fputs(kWipeLine, stderr);
}

void ProgressLine::show_bytes(std::uint64_t done, std::uint64_t total) {
  if (!is_due()) return;
  const double share = static_cast<double>(done) / static_cast<double>(std::max<std::uint64_t>(total, 1));
  show(fmt::format("{} of {} ({:.0f} %)", format_bytes(done), format_bytes(total), 100.0 * share));
}

void ProgressLine::show_keys(std::uint64_t keys) {
  if (!on_terminal_ || keys < next_look_) return;
  next_look_ = keys + kKeysBetweenLooks;
  if (is_due()) show(format_count_of(keys, "key"));
}

void ProgressLine::show_count(std::uint64_t done, std::uint64_t total, std::string_view what) {
  if (is_due()) show(fmt::format("{} of {} {}", format_count(done), format_count(total), what));
}

void ProgressLine::announce(const std::string& text) {
  if (on_terminal_) show(text);
}

bool ProgressLine::is_due() {
  if (!on_terminal_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_at_) return false;
  next_at_ = now + kBetweenUpdates;
  return true;
}

void ProgressLine::show(const std::string& text) {
  fmt::print(stderr, "{}{}: {}", kWipeLine, what_, text);
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace keysieve
