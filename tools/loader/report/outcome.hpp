// What a refresh has found of one set.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "tools/loader/report/live_publication.hpp"
#include "tools/transfer/pointer_record.hpp"

namespace keysieve {

enum class Trouble {
  NotAsked,       // this process has not looked at the store yet
  None,           // what the store calls current is live
  NeverPushed,    // the store holds no snapshot of this set
  StoreAway,      // cannot be asked
  CannotLogIn,    // the store refuses user or password, or the password cannot be read
  Refused,        // the store's snapshot is damaged, not understood, older or fails a guard
  CannotPublish,  // locked, no space, not allowed, no directory
  AddsInMemory,   // adds that this process has received could not be saved, and would go with it
};

inline constexpr std::array kTroubles{Trouble::NotAsked,      Trouble::None,        Trouble::NeverPushed,
                                      Trouble::StoreAway,     Trouble::CannotLogIn, Trouble::Refused,
                                      Trouble::CannotPublish, Trouble::AddsInMemory};

// "store_away"; a label of metrics.
std::string_view to_string(Trouble trouble) noexcept;

struct SetState {
  std::optional<LivePublication> live;  // there, if without trouble
  Trouble trouble = Trouble::None;
  int exit_status = 0;             // of sysexits, for --once
  std::string reason;              // empty without trouble
  std::optional<BuildId> refused;  // the build that trouble is about, where it is one
};

// Whether php-fpm would rather wait: nothing is live, because nobody has looked yet or because publishing
// failed here, which may pass in seconds. What a store or a guard keeps back may take days, and lookups
// answer maybe meanwhile.
inline bool holds_back_ready(const SetState& state) {
  return !state.live && (state.trouble == Trouble::NotAsked || state.trouble == Trouble::CannotPublish);
}

SetState not_asked();
SetState in_trouble(Trouble trouble, ErrorKind kind, std::string reason);
SetState cannot_ask_store(const Error& error);
SetState refused(const SnapshotRecord& record, const Error& error);
SetState cannot_publish(const Error& error);
SetState adds_in_memory(std::size_t adds, const std::string& failure);

// Thrown where the loader is told to stop in the middle of something long. Not an Error: nothing is wrong,
// and only who refreshes a set takes it.
struct Stopped {};

}  // namespace keysieve
