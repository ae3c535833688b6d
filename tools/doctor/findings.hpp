// What a doctor has found: each finding says what was looked at, what was seen, and what to do about it.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace keysieve {

enum class Severity : std::uint8_t {
  Ok,
  Warning,  // works, but not as well as it could, or not for long
  Error,    // must be mended: lookups are answered maybe, or refreshes do not come
};

std::string_view to_string(Severity severity) noexcept;

struct Finding {
  Severity severity = Severity::Ok;
  std::string subject;
  std::string seen;
  std::string remedy;  // a command where there is one; empty when all is well
};

class Findings {
 public:
  void ok(std::string subject, std::string seen) {
    add({Severity::Ok, std::move(subject), std::move(seen), ""});
  }
  void warn(std::string subject, std::string seen, std::string remedy) {
    add({Severity::Warning, std::move(subject), std::move(seen), std::move(remedy)});
  }
  void fail(std::string subject, std::string seen, std::string remedy) {
    add({Severity::Error, std::move(subject), std::move(seen), std::move(remedy)});
  }
  // Stores and workers may say anything, and it goes to root's terminal: see printable().
  void add(Finding finding);

  [[nodiscard]] const std::vector<Finding>& list() const noexcept { return list_; }
  [[nodiscard]] Severity worst() const noexcept;

  // An array of objects, and back; "remedy" is null when all is well.
  [[nodiscard]] nlohmann::ordered_json to_json() const;
  void take_json(const nlohmann::ordered_json& json);

 private:
  std::vector<Finding> list_;
};

}  // namespace keysieve
