// What a refresh has found of one set, and the log lines about it: each change is said once, not at every
// look.
#pragma once

#include <optional>
#include <string>

#include "core/snapshot/layout.hpp"
#include "tools/loader/live_publication.hpp"

namespace keysieve {

enum class Trouble {
  None,           // what the store calls current is live
  NeverPushed,    // the store holds no snapshot of this set
  StoreAway,      // cannot be asked
  Refused,        // the store's snapshot is damaged, not understood, older or fails a guard
  CannotPublish,  // locked, no space, not allowed, no directory
};

struct SetState {
  std::optional<LivePublication> live;  // there, if without trouble
  Trouble trouble = Trouble::None;
  int exit_status = 0;             // of sysexits, for --once
  std::string reason;              // empty without trouble
  std::optional<BuildId> refused;  // the build that trouble is about, where it is one
};

// Whether php-fpm would rather wait: nothing is live because publishing failed here, which may pass in
// seconds. What a store or a guard keeps back may take days, and lookups answer maybe meanwhile.
inline bool holds_back_ready(const SetState& state) {
  return !state.live && state.trouble == Trouble::CannotPublish;
}

// One per set.
class StateLog {
 public:
  explicit StateLog(std::string set_name) : set_name_(std::move(set_name)) {}

  // After a refresh. Says the trouble, or that it is over, when that is not what was said last.
  void say(const SetState& state);
  // A new publication, which is a change by itself.
  void say_published(const LivePublication& live, bool from_cache);
  // The cache cannot be used, which costs nothing as long as the store answers. Said once until it can again.
  void say_cache_trouble(const std::string& reason);
  void cache_is_well() noexcept { has_said_cache_trouble_ = false; }

 private:
  [[nodiscard]] bool is_what_was_said(const SetState& state) const;

  std::string set_name_;
  std::optional<SetState> said_;
  bool has_said_cache_trouble_ = false;
};

}  // namespace keysieve
