// The steps of a refresh of one set, and the result of it, or of one step.
#pragma once

#include <optional>
#include <string>

#include "core/publisher/shm/trouble.hpp"
#include "core/worker/base/error.hpp"
#include "tools/records/pointer_record.hpp"
#include "tools/status/live_publication.hpp"
#include "tools/transfer/guards.hpp"

namespace keysieve {

// What keeps the loader from its work with one set, if anything does.
struct Diagnosis {
  Trouble trouble = Trouble::None;
  int exit_status = 0;  // of sysexits, for --once
  std::string reason;   // empty without trouble

  [[nodiscard]] bool is_good() const noexcept { return trouble == Trouble::None; }

  friend bool operator==(const Diagnosis&, const Diagnosis&) = default;
};

struct RefreshOutcome : Diagnosis {
  std::optional<LivePublication> live{};  // there, if without trouble
  std::optional<BuildId> refused{};       // the build that trouble is about, where it is one
};

// Whether php-fpm should wait with its start: nothing is live, because no refresh has run yet or publishing
// failed on this host, which may pass in seconds. A store or a guard may hold a set back for days, and
// lookups answer maybe meanwhile.
inline bool holds_back_ready(const RefreshOutcome& outcome) {
  return !outcome.live && (outcome.trouble == Trouble::NotAsked || outcome.trouble == Trouble::CannotPublish);
}

RefreshOutcome in_trouble(Trouble trouble, ErrorKind kind, std::string reason);
// `is_behind`: the log is gone, or lacks keys, and may come back as it was.
RefreshOutcome adds_lost(const LogPosition& lost_to, bool is_behind);
RefreshOutcome adds_in_memory(std::size_t adds, const std::string& failure);

// Thrown when the loader is told to stop in the middle of something long. It is not an Error, because
// nothing is wrong, and only refresh() catches it.
struct Stopped {};

// The steps of a refresh. They throw, and outcome_of() is the one place where the kind of an error becomes an
// outcome.
enum class Step {
  OpenSet,        // take its lock, write to its pages
  PublishCached,  // because nothing whole is live
  AskStore,       // for the set's records
  ReadPointer,
  Compare,  // the store's build with what is live, and with what was
  ReadAdds,
  Fetch,
  Check,
  Publish,
  FillLayer,
};

// Where a refresh is.
struct At {
  Step step = Step::OpenSet;
  SnapshotRecord build{};  // of Compare to Publish: the one to be published
  bool is_again = false;   // it has ended here before, and is not tried again yet

  [[nodiscard]] bool is_about_a_build() const noexcept {
    return step == Step::Compare || step == Step::Fetch || step == Step::Check || step == Step::Publish;
  }
};

// What users are told when this error has ended a refresh or a part of it. `is_live`: something is.
RefreshOutcome outcome_of(const Error& error, const At& at, bool is_live);

// A store that cannot be asked, other than one that holds something wrong.
inline bool is_no_answer(const Error& error, const At& at) {
  return at.step == Step::AskStore || at.step == Step::ReadAdds ||
         (at.step == Step::Fetch && !is_refusal(error));
}

RefreshOutcome gone_again();

}  // namespace keysieve
