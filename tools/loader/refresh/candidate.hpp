// A snapshot that may be published next, and the checks that it must pass before.
#pragma once

#include <optional>
#include <string>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/records/pointer_record.hpp"
#include "tools/status/live_publication.hpp"
#include "tools/transfer/guards.hpp"

namespace keysieve {

struct Candidate {
  SnapshotRecord record;  // from the cache without a store: what the cache and the header say
  SnapshotBytes snapshot;
  bool is_cached;
  std::string source;  // for messages
};

inline Baseline baseline_of(const LivePublication& live) {
  return {live.key_count, live.seed, live.value_sample};
}

// Throws MaxSize.
void check_size(std::uint64_t bytes, const SetConfig& config);

// Checks signature, size and guards, and in a set with public keys that it does not go back behind `newest`
// (nothing: it may). The guards measure it against `before`. Throws one of kRefusals.
void check(const Candidate& candidate, const SetConfig& config, const std::optional<SnapshotMoment>& newest,
           const std::optional<Baseline>& before);

}  // namespace keysieve
