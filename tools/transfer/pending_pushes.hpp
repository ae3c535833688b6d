// The record <prefix>:<set>:pending: which pushes are under way or were interrupted. Keys of a store cannot
// be listed, so that this is how the next push finds the chunks that an interrupted one left. Used by push.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/snapshot/layout.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

struct PendingPush {
  BuildId build_id{};
  std::uint32_t chunk_count = 0;
  UnixSeconds started_at = 0;

  friend bool operator==(const PendingPush&, const PendingPush&) = default;
};

class PendingPushes {
 public:
  PendingPushes(Store& store, const std::string& set_name);

  // Oldest first. Called again with what others made of the list meanwhile, so it must be repeatable.
  using Change = std::function<void(std::vector<PendingPush>& pushes)>;
  // Takes a record that is damaged for an empty list: a note for the tidying up must not keep pushes out.
  // Throws LockedError after too many races, and as the store does.
  void update(const Change& change);

 private:
  Store& store_;
  std::string key_;
};

// Interrupted, for certain enough: listed for kAbandonedAfter, or beyond what the record can hold.
std::vector<PendingPush> take_abandoned(std::vector<PendingPush>& pushes, UnixSeconds now);

}  // namespace keysieve
