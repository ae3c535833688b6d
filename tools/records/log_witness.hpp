// What a pointer record and a host's mirror say of an adds log.
#pragma once

#include <cstdint>

#include "core/worker/base/log_position.hpp"

namespace keysieve {

// What was once known of an adds log, by a push or by a host.
struct LogWitness {
  LogPosition begun{};        // of the log; all zero: none was known
  LogPosition position{};     // of the last key in it that was known; all zero: there was none
  LogPosition lost_to{};      // keys that were added up to here may be lost
  std::uint64_t ordinal = 0;  // of the last key up to there that has one, or that was ever in the log

  friend bool operator==(const LogWitness&, const LogWitness&) = default;
};

}  // namespace keysieve
