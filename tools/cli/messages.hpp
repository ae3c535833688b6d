// What the program says on standard error, and asks there: lines for people, or with --json an object in each
// line; and how far long work has come.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace keysieve {

// --json. Call it before anything is said.
void say_as_json();
[[nodiscard]] bool is_said_as_json() noexcept;

// `code` is a word for scripts: the name of an ErrorKind, "no_memory" or "internal".
void print_error(const std::string& message, std::string_view code, int exit_status);
// Prints the error "no_memory" without allocating.
void print_no_memory(int exit_status) noexcept;
void print_note(const std::string& note);
void print_warning(const std::string& warning);

constexpr int kExitDeclined = 1;  // the user said no

// Asks before a verb does what is not easily undone. Returns true if the user says yes. Throws Usage
// "<without_terminal>; --yes does it without a terminal" if there is nobody to ask. Says "nothing is changed"
// if the user says no.
bool is_confirmed(const std::string& question, const std::string& without_terminal);

// One line on standard error that is rewritten, and only when that is a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(std::string what);
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();  // wipes the line

  void show_bytes(std::uint64_t done, std::uint64_t total);
  // What calls show_bytes(), as long as this exists.
  [[nodiscard]] auto in_bytes() {
    return [this](std::uint64_t done, std::uint64_t total) { show_bytes(done, total); };
  }
  void show_keys(std::uint64_t keys);
  // "12 of 345 chunks".
  void show_count(std::uint64_t done, std::uint64_t total, std::string_view what);

 private:
  [[nodiscard]] bool is_due();
  void show(const std::string& text);

  std::string what_;
  bool on_terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_at_{};
};

}  // namespace keysieve
