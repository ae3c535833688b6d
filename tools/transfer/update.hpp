// Makes the next generation of a set from the current one: adds some keys and removes others. Used by
// `keysieve update`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/transfer/transfer.hpp"

namespace keysieve {

struct KeyChanges {
  std::vector<std::string> added;    // a key that is listed more often counts once
  std::vector<std::string> removed;  // the same; only keys that are in the set: see SnapshotEditor::remove()
  UnixSeconds as_of = 0;             // see SnapshotEditor::finish()
};

struct UpdateResult {
  PushResult pushed;           // warns of keys that could not be removed
  std::uint64_t new_keys = 0;  // see SnapshotEditor::new_keys()
  bool is_exact = false;       // new_keys: see SnapshotEditor::keeps_keys_apart()
  std::uint64_t keys_to_remove = 0;
  std::uint64_t removed_keys = 0;
  double estimated_fpr = 0;  // after the update
};

// Pulls, changes a copy (removes, then adds) and pushes. If another push was faster, starts again from its
// result, so that nothing is undone. Without a max_fpr the guards use default_max_fpr() of the set's
// target. Throws Usage for a kind that cannot add or remove keys and for a key in both lists, Locked after
// too many lost races, and as pull() and push() do; the current generation then stays. Only after
// Unavailable, whose message says so, the update may be done: repeating it would do it twice. `signer`: signs
// the next generation of a signed set, and must have signed the current one (otherwise throws NotSigned).
// Throws Usage for a signed set without it, and for counters with it: what is absent after a removal is up to
// them, and they are not signed.
UpdateResult update(Store& store, const std::string& set_name, const KeyChanges& changes,
                    const Guards& guards, const Progress& progress = {}, const Signer* signer = nullptr);

}  // namespace keysieve
