// Guards against a wrong but well-formed set: a key list cut short by a failed query is the likeliest outage.
// Used by build, push and keysieved alike.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/worker/base/error.hpp"
#include "core/worker/snapshot/snapshot.hpp"
#include "tools/records/pointer_record.hpp"

namespace keysieve {

inline constexpr double kDefaultMaxShrink = 0.20;
inline constexpr double kDefaultMaxChanged = 0.50;

// The snapshot that a new one is compared with: the generation before, or the live one.
struct Baseline {
  std::uint64_t key_count = 0;
  HashSeed seed{};
  std::vector<SampledValue> values{};  // of a map
};

inline Baseline baseline_of(const SnapshotHeader& header) {
  return {header.key_count, header.seed, value_sample_of(header)};
}

// The share of sampled keys in the map that have another value there. Nothing if fewer than eight can be
// compared, or none because the keys are hashed with another seed.
std::optional<double> share_changed(const Baseline& before, const SnapshotView& map);

// The share of keys that is gone; 0 if there are as many or more.
double share_lost(std::uint64_t keys_before, std::uint64_t keys) noexcept;

// The limit of the estimated FPR of a set with this target, if the user sets none.
double default_max_fpr(double target_fpr) noexcept;

// Where users set the guards, which decides how a message names them.
enum class GuardSource { Options, Configuration };

struct Guards {
  std::uint64_t min_keys = 1;
  std::optional<double> max_shrink =
      kDefaultMaxShrink;                     // against the generation before; nullopt: --allow-shrink
  std::optional<double> max_fpr{};           // limit of the estimated FPR
  double max_changed = kDefaultMaxChanged;   // of a map's values, against the generation before; 1: no limit
  std::vector<std::string> required_keys{};  // keys that must answer maybe
  bool allow_any_as_of = false;              // push only: also older than what is current, or of the future
  GuardSource source = GuardSource::Options;
};

// Also checks that the known-absent keys in the snapshot's sample are absent. `before`: nothing if there is
// none. Throws one of kRefusals; the message names the set, the guard, both figures and where the guard is
// set.
void check_guards(const Guards& guards, const SnapshotView& snapshot, const std::optional<Baseline>& before);

// When a snapshot is from. The earlier of two may be a replay. It may come from a store that is a late copy,
// or from anyone who may write to a store, and can call any snapshot current that was ever signed.
struct SnapshotMoment {
  UnixSeconds as_of = 0;
  UnixSeconds built_at = 0;  // decides between builds of one list; 0: not known

  friend auto operator<=>(const SnapshotMoment&, const SnapshotMoment&) = default;
};

inline SnapshotMoment moment_of(const SnapshotHeader& header) {
  return {header.as_of, header.built_at};
}

// Throws Older if a snapshot is older than the newest that was there. `source`, `there`: what they are;
// `advice`: what to do then.
void check_not_older(const SnapshotMoment& moment, const std::string& source, const SnapshotMoment& newest,
                     const std::string& there, const std::string& advice);

// The reasons to refuse a snapshot of a store, for metrics and history.
inline constexpr std::array kRefusals{
    ErrorKind::Data,       ErrorKind::Incompatible, ErrorKind::NotSigned,        ErrorKind::Older,
    ErrorKind::MaxSize,    ErrorKind::MinKeys,      ErrorKind::MaxShrink,        ErrorKind::MaxFpr,
    ErrorKind::MaxChanged, ErrorKind::RequiredKeys, ErrorKind::KnownAbsentSample};

inline bool is_refusal(const Error& error) noexcept {
  return std::ranges::find(kRefusals, error.kind()) != kRefusals.end();
}

}  // namespace keysieve
