// Adds keys to the current generation of a set and removes others, which makes the next one. Used by
// `keysieve update`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/transfer/transfer.hpp"

namespace keysieve {

struct KeyChanges {
  std::vector<std::string> added;    // as often as they are there, they count once
  std::vector<std::string> removed;  // alike; only keys that are in the set: see SnapshotEditor::remove()
  UnixSeconds as_of = 0;             // see SnapshotEditor::finish()
};

struct UpdateResult {
  PushResult pushed;           // warns of keys that were to be removed and were not
  std::uint64_t new_keys = 0;  // see SnapshotEditor::new_keys()
  bool is_exact = false;       // new_keys: see SnapshotEditor::keeps_keys_apart()
  std::uint64_t keys_to_remove = 0;
  std::uint64_t removed_keys = 0;
  double estimated_fpr = 0;  // after the update
};

// Pulls, changes a copy (removes, then adds), pushes; when somebody else's push was faster, again from what
// that brought, so that nothing is undone. Without a max_fpr the guards hold it to default_max_fpr() of the
// set's target. Throws Usage for a kind that keys cannot be added to or removed from and for a key in
// both lists, Locked after too many lost races, and as pull() and push() do; the generation that was
// current stays so then. Only after Unavailable, whose message says so, the update may be done:
// repeated, it would be done twice.
UpdateResult update(Store& store, const std::string& set_name, const KeyChanges& changes,
                    const Guards& guards, const Progress& progress = {});

}  // namespace keysieve
