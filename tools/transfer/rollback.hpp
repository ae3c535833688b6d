// Makes an older kept generation current again. Used by the verb rollback.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/transfer/transfer.hpp"

namespace keysieve {

struct RollbackPlan {
  SnapshotRecord current;
  SnapshotRecord target;
  std::vector<SnapshotRecord> passed_over{};  // newer than the target, but with far fewer keys
};

// Returns the share of the current keys that a kept generation lacks, if that is more than the default guard
// allows: then loaders have probably refused it. Else nothing.
std::optional<double> suspect_loss(const PointerRecord& pointer, const SnapshotRecord& kept);

// `to` is a generation that the store keeps; nothing: the newest one before the current that has no suspect
// loss. Throws MissingInput if the set was never pushed or there is none, Usage if the generation is current
// or not kept, Data, and as the store does. Messages list what is kept.
RollbackPlan plan_rollback(Store& store, const std::string& set_name, std::optional<std::uint64_t> to = {});

// Fetches and checks the whole target and makes it current by compare-and-set. Returns its record, under the
// next generation and with `restores`. What was current becomes the newest of the previous ones. Adds since
// the target's adds_from stay: a loader builds its layer from there. Throws Data if the target is damaged,
// Locked if something else became current since the plan was made, and as the store does. After Unavailable
// the rollback may be done; after any other error nothing has changed.
SnapshotRecord rollback(Store& store, const std::string& set_name, const RollbackPlan& plan,
                        const Progress& progress = {});

}  // namespace keysieve
