#include "tools/loader/refresh/candidate.hpp"

#include <fmt/core.h>

#include "core/worker/base/error.hpp"
#include "tools/program/units.hpp"
#include "tools/signatures/public_keys.hpp"

namespace keysieve {

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
    check_not_older(moment_of(view.header()), fmt::format("set \"{}\" is signed", config.name), *newest,
                    "what was live",
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
