// What the doctor has found: facts, one line each. The code gives the kind of fact, and docs/runbook.md has a
// section of that name: what it means, where to look, and what to do.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/worker/base/error.hpp"

namespace keysieve {

enum class Severity : std::uint8_t {
  Ok,
  Warning,  // works, but not as well as it could, or not for long
  Error,    // lookups come back as maybe, or refreshes do not come
};

std::string_view to_string(Severity severity) noexcept;

// A finding that comes from an Error has the name of its kind as its code; these are the codes of all others.
enum class FactCode : std::uint8_t {
  Ok,
  Expired,          // the set is past valid_for
  Bypassed,         // the set is switched off, on this host or in the store
  OldKeys,          // the keys are older than a nightly build leaves them
  LoaderSilent,     // the loader shows no sign of life
  Clock,            // something was written in the future
  NotTmpfs,         // the directory is on a disk
  NoRoom,           // the next publications do not fit
  NoMemory,         // there is less memory than the next publication takes
  OtherDirectory,   // the configuration publishes elsewhere
  NotPublished,     // configured, or expected, but not published here
  NotConfigured,    // published here, but not configured
  NotPushed,        // the store has no snapshot of the set
  Behind,           // the store has a newer generation than is published here
  StoreBehind,      // the store has an older generation than is published here
  NotLookedAt,      // looking would leave files that keep the loader out
  SeenMemoryMayGo,  // the kernel removes the memory of seen sets that no process has
  StoreMayLose,     // the store's server may lose what was acknowledged
};

inline constexpr auto kFactCodeNames = std::to_array<std::string_view>(
    {"ok", "expired", "bypassed", "old_keys", "loader_silent", "clock", "not_tmpfs", "no_room", "no_memory",
     "other_directory", "not_published", "not_configured", "not_pushed", "behind", "store_behind",
     "not_looked_at", "seen_memory_may_go", "store_may_lose"});
static_assert(kFactCodeNames.size() == static_cast<std::size_t>(FactCode::StoreMayLose) + 1);

constexpr std::string_view to_string(FactCode code) noexcept {
  return kFactCodeNames[static_cast<std::size_t>(code)];
}

struct Finding {
  Severity severity = Severity::Ok;
  std::string subject;    // "set tags"
  std::string_view code;  // of a FactCode or an ErrorKind
  std::string fact;

  // "docs/runbook.md#damaged"; empty when all is well. Debian installs that page in /usr/share/doc/keysieve.
  [[nodiscard]] std::string link() const;
};

class Findings {
 public:
  void ok(std::string subject, std::string fact) {
    add(Severity::Ok, std::move(subject), to_string(FactCode::Ok), fact);
  }
  void warn(std::string subject, FactCode code, std::string_view fact) {
    add(Severity::Warning, std::move(subject), to_string(code), fact);
  }
  void fail(std::string subject, FactCode code, std::string_view fact) {
    add(Severity::Error, std::move(subject), to_string(code), fact);
  }
  void fail(std::string subject, const Error& error) {
    add(Severity::Error, std::move(subject), to_string(error.kind()), error.what());
  }
  // Makes the fact printable(), because stores may say anything, and root's terminal shows it.
  void add(Severity severity, std::string subject, std::string_view code, std::string_view fact);

  [[nodiscard]] const std::vector<Finding>& list() const noexcept { return list_; }
  [[nodiscard]] Severity worst() const noexcept;

  // An array of objects; "runbook" is null when all is well.
  [[nodiscard]] nlohmann::ordered_json to_json() const;
  // One line for each finding.
  [[nodiscard]] std::string to_text() const;

 private:
  std::vector<Finding> list_;
};

}  // namespace keysieve
