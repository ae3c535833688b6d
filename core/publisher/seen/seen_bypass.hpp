// The emergency switch of a seen set: while it is on, workers neither look nor add; they answer as
// on_unavailable says, from their next call on.
#pragma once

#include <string>
#include <string_view>

#include "core/publisher/shm/bypass.hpp"
#include "core/worker/seen/seen_page.hpp"

namespace keysieve {

// Lasts until `until` (Unix seconds), or until it is switched off when that is 0; kBypassOver switches it
// off. Needs no lock, so it works while a loader runs, hangs or is stopped, and the loader keeps it when it
// begins or retires windows. Must run as the owner of the set's folder, or root. Throws MissingInput if the
// set was never begun here, Permission, NotTrusted, Data, Incompatible.
void set_seen_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until);

inline PageBypass bypass_of(SeenPage& page) noexcept {
  return {page.state, SeenState::kBypassBit, page.bypass_until};
}

}  // namespace keysieve
