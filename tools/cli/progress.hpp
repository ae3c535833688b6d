// Progress of long work: one line on standard error that is rewritten, and only when that is a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace keysieve {

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
  // Before work that says nothing while it goes on.
  void announce(const std::string& text);

 private:
  static constexpr std::uint64_t kKeysBetweenLooks = 4096;  // at the clock

  [[nodiscard]] bool is_due();
  void show(const std::string& text);

  std::string what_;
  bool on_terminal_;
  bool shown_ = false;
  std::uint64_t next_look_ = kKeysBetweenLooks;
  std::chrono::steady_clock::time_point next_at_{};
};

}  // namespace keysieve
