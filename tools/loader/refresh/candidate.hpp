// A snapshot that may be published next, and the checks that it must pass before.
#pragma once

#include <optional>
#include <string>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/status/live_publication.hpp"
#include "tools/transfer/pointer_record.hpp"

namespace keysieve {

struct Candidate {
  SnapshotRecord record;           // from the cache, with nothing but the generation
  std::optional<Baseline> before;  // the generation before, where the store keeps one
  SnapshotBytes snapshot;
  bool is_cached;
  std::string source;  // for messages
};

inline Baseline baseline_of(const LivePublication& live) {
  return {live.key_count, live.seed, live.value_sample};
}

// What a signed snapshot must not be older than.
struct NewestLive {
  SignedMoment moment;
  const std::string& store_name;  // whose writers could bring an older one back
};

// Checks signature, size and guards, and in a set with a public key that it does not go back behind `newest`
// (nothing: it may). The guards measure it against `before`. Throws one of kRefusals.
void check(const Candidate& candidate, const SetConfig& config, const std::optional<NewestLive>& newest,
           const std::optional<Baseline>& before);

}  // namespace keysieve
