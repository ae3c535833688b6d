// What a running loader knows about one seen set that shared memory does not show.
#pragma once

#include <string>

#include "core/worker/base/clock.hpp"
#include "tools/loader/report/refresh_outcome.hpp"

namespace keysieve {

struct SeenReport : Diagnosis {
  std::string name;
  std::string store;              // empty: nothing is saved
  bool is_full = false;           // its newest window got more keys than its filters are made for
  UnixSeconds saved_at = 0;       // 0: not since the last reload
  std::uint64_t keys_saved = 0;   // sent to the store, since the last reload
  std::uint64_t keys_merged = 0;  // taken over from other hosts, since the last reload
  std::uint64_t saves_lost = 0;   // that the store should have had when the set was restored

  [[nodiscard]] Troubles troubles() const noexcept {
    Troubles all;
    all.add(trouble);
    if (is_full) all.add(Trouble::SeenFull);
    return all;
  }

  friend bool operator==(const SeenReport&, const SeenReport&) = default;
};

}  // namespace keysieve
