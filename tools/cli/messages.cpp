#include "tools/cli/messages.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

bool is_said_as_json = false;

bool shows_colours(std::FILE* stream) {
  const char* none = std::getenv("NO_COLOR");
  if (none != nullptr && *none != '\0') return false;
  const char* terminal = std::getenv("TERM");
  if (terminal == nullptr || std::string_view(terminal) == "dumb") return false;
  return ::isatty(::fileno(stream)) == 1;
}

void print_line(const nlohmann::ordered_json& object) {
  fmt::print(stderr, "{}\n", object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace

std::string coloured(const std::string& text, Colour colour, std::FILE* stream) {
  if (colour == Colour::None || !shows_colours(stream)) return text;
  return fmt::format("\033[{}m{}\033[0m", colour == Colour::Red ? 31 : 33, text);
}

void say_as_json() {
  is_said_as_json = true;
}

void print_error(const std::string& message, std::string_view code, int exit_status) {
  if (is_said_as_json) return print_line({{"error", message}, {"code", code}, {"exit_status", exit_status}});
  fmt::print(stderr, "{}: {}\n", coloured("keysieve", Colour::Red, stderr), message);
}

void print_no_memory(int exit_status) noexcept {
  const char* format = is_said_as_json
                           ? "{\"error\":\"not enough memory\",\"code\":\"no_memory\",\"exit_status\":%d}\n"
                           : "keysieve: not enough memory\n";
  static_cast<void>(std::fprintf(stderr, format, exit_status));
}

void print_note(const std::string& note) {
  if (is_said_as_json) return print_line({{"note", note}});
  fmt::print(stderr, "keysieve: {}\n", note);
}

void print_warning(const std::string& warning) {
  if (is_said_as_json) return print_line({{"warning", warning}});
  fmt::print(stderr, "keysieve: {}: {}\n", coloured("warning", Colour::Yellow, stderr), warning);
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

}  // namespace keysieve
