// The result of a refresh of one set, and what users are told when an error has ended it or a part of it.
#pragma once

#include <exception>
#include <optional>
#include <string>

#include "core/publisher/shm/trouble.hpp"
#include "core/worker/base/error.hpp"
#include "tools/records/pointer_record.hpp"
#include "tools/status/live_publication.hpp"

namespace keysieve {

// What keeps the loader from its work with one set, if anything does.
struct Diagnosis {
  Trouble trouble = Trouble::None;
  int exit_status = 0;  // of sysexits, for --once
  std::string reason;   // empty without trouble

  [[nodiscard]] bool is_good() const noexcept { return trouble == Trouble::None; }
};

struct RefreshOutcome : Diagnosis {
  std::optional<LivePublication> live{};  // there, if without trouble
  std::optional<ErrorKind> cause{};       // of the trouble
  std::optional<BuildId> refused{};       // the build that trouble is about, where it is one
};

// Whether php-fpm should wait with its start: nothing is live, because no refresh has run yet or publishing
// failed on this host, which may pass in seconds. A store or a guard may hold a set back for days, and
// lookups answer maybe meanwhile.
inline bool holds_back_ready(const RefreshOutcome& outcome) {
  return !outcome.live && (outcome.trouble == Trouble::NotAsked || outcome.trouble == Trouble::CannotPublish);
}

RefreshOutcome in_trouble(Trouble trouble, ErrorKind cause, std::string reason);
// The store does not answer, or what it says of the set is refused.
RefreshOutcome cannot_ask(const Error& error);
RefreshOutcome refused(const Error& error);
RefreshOutcome refused(const SnapshotRecord& build, const Error& error);
RefreshOutcome cannot_publish(const std::exception& error);
// `is_behind`: the log is gone, or lacks keys, and may come back as it was.
RefreshOutcome adds_lost(const LogPosition& lost_to, bool is_behind);
RefreshOutcome adds_in_memory(std::size_t adds, const std::string& failure);

// Thrown when a look ends early and the outcome stays that of the one before: the loader is told to stop in
// the middle of something long, or another look is due at once. It is not an Error, because nothing is wrong,
// and only refresh() catches it.
struct LookAgain {};

}  // namespace keysieve
