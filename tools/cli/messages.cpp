#include "tools/cli/messages.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/worker/base/error.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

bool says_json = false;

constexpr std::chrono::milliseconds kBetweenUpdates{100};
constexpr const char* kWipeLine = "\r\033[K";

void print_line(const nlohmann::ordered_json& object) {
  fmt::print(stderr, "{}\n", object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace

void say_as_json() {
  says_json = true;
}

bool is_said_as_json() noexcept {
  return says_json;
}

void print_error(const std::string& message, std::string_view code, int exit_status) {
  if (says_json) return print_line({{"error", message}, {"code", code}, {"exit_status", exit_status}});
  fmt::print(stderr, "keysieve: {}\n", message);
}

void print_no_memory(int exit_status) noexcept {
  const char* format = says_json
                           ? "{\"error\":\"not enough memory\",\"code\":\"no_memory\",\"exit_status\":%d}\n"
                           : "keysieve: not enough memory\n";
  static_cast<void>(std::fprintf(stderr, format, exit_status));
}

void print_note(const std::string& note) {
  if (says_json) return print_line({{"note", note}});
  fmt::print(stderr, "keysieve: {}\n", note);
}

void print_warning(const std::string& warning) {
  if (says_json) return print_line({{"warning", warning}});
  fmt::print(stderr, "keysieve: warning: {}\n", warning);
}

bool is_confirmed(const std::string& question, const std::string& without_terminal) {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDERR_FILENO) != 1) {
    throw Error(ErrorKind::Usage, without_terminal + "; --yes does it without a terminal");
  }
  fmt::print(stderr, "{} [y/N] ", question);
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return true;
  print_note("nothing is changed");
  return false;
}

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
  if (is_due()) show(format_count_of(keys, "key"));
}

void ProgressLine::show_count(std::uint64_t done, std::uint64_t total, std::string_view what) {
  if (is_due()) show(fmt::format("{} of {} {}", format_count(done), format_count(total), what));
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
