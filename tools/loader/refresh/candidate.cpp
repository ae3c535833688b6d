#include "tools/loader/refresh/candidate.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "core/worker/base/error.hpp"
#include "tools/program/units.hpp"
#include "tools/signatures/public_keys.hpp"

namespace keysieve {

// A higher number is no reason to accept: it may be the number of an old copy, from before the store counted
// from 1 again. A pointer that has come after the live build, with a build that was begun earlier, lists the
// live one among those before. A rollback may be one in a replica that has never had it.
//
// A lower number alone is no reason to refuse: a store that lost its records counts from 1 again, and then
// the live snapshot may be pushed once more. A replica that lags behind has an older moment too. It is
// compared with the newest moment that was seen, because the live one may have been brought back by a
// rollback.
void check_follows(const PointerRecord& pointer, const LivePublication& live, UnixSeconds newest,
                   const std::string& source, const std::string& advice) {
  const SnapshotRecord& record = *pointer.current;
  const auto is_live = [&](const SnapshotRecord& one) { return one.build_id == live.build_id; };
  const bool counts_up = record.generation >= live.generation;
  if (record.as_of > newest || (record.as_of == newest && (counts_up || is_live(record)))) return;
  if (counts_up && (live.generation == 0 || is_live(record) || record.restores != 0 ||
                    std::ranges::any_of(pointer.previous, is_live)))
    return;
  throw Error(ErrorKind::Older,
              fmt::format("{} calls a snapshot current, as of {}, but newer was there already, as of {}: is "
                          "it a replica or a copy that lags behind? {}",
                          source, format_moment(record.as_of), format_moment(newest), advice));
}

void check_size(std::uint64_t bytes, const SetConfig& config) {
  if (config.max_bytes == 0 || bytes <= config.max_bytes) return;
  throw Error(ErrorKind::MaxSize,
              fmt::format("set \"{}\" is {}, above the limit of {}; max_size of its [[set]] sets that limit",
                          config.name, format_bytes(bytes), format_bytes(config.max_bytes)));
}

void check(const Candidate& candidate, const SetConfig& config, const std::optional<SnapshotMoment>& newest,
           const std::optional<Baseline>& before) {
  const SnapshotView view = SnapshotView::decode(candidate.snapshot.get(), candidate.source, Check::Tables);
  check_signature(view, config.public_keys, candidate.source);
  if (newest && !config.public_keys.empty()) {
    check_not_replayed(view.header(), fmt::format("set \"{}\"", config.name), *newest, "what was live",
                       "a signed set does not go back, because anyone who may write to its store could have "
                       "brought that back; build it again from the older list, with the --adds-from of then, "
                       "which keysieve rollback --list shows");
  }
  check_size(view.header().file_bytes, config);
  Guards guards = config.guards;
  if (candidate.record.restores != 0) {  // who rolls back wants the keys of then
    guards.max_shrink.reset();
    guards.max_changed = 1;
  }
  check_guards(guards, view, before);
}

}  // namespace keysieve
