#include "tools/loader/refresh/candidate.hpp"

#include <fmt/core.h>

#include "core/worker/base/error.hpp"
#include "tools/loader/report/refresh_outcome.hpp"
#include "tools/program/units.hpp"
#include "tools/signatures/public_keys.hpp"
#include "tools/transfer/guards.hpp"

namespace keysieve {
namespace {

[[noreturn]] void refuse_replay(const std::string& set_name, const SignedMoment& moment,
                                const NewestLive& newest) {
  throw Error(
      ErrorKind::Older,
      fmt::format("set \"{}\" is signed as of {}, built at {}, older than what was live, as of {}, built at "
                  "{}: a signed set does not go back, because anyone who may write to {} could have brought "
                  "that back; build it again from the older list, with the --adds-from of then, which "
                  "keysieve rollback --list shows",
                  set_name, format_moment(moment.as_of), format_moment(moment.built_at),
                  format_moment(newest.moment.as_of), format_moment(newest.moment.built_at),
                  newest.store_name));
}

}  // namespace

void check(const Candidate& candidate, const SetConfig& config, const std::optional<NewestLive>& newest,
           const std::optional<Baseline>& before) {
  const SnapshotView view = SnapshotView::decode(candidate.snapshot.get(), candidate.source, Check::Tables);
  check_signature(view, config.public_keys, candidate.source);
  const SignedMoment moment{view.header().as_of, view.header().built_at};
  if (newest && moment < newest->moment) refuse_replay(config.name, moment, *newest);
  const std::uint64_t bytes = view.header().file_bytes;
  if (config.max_bytes != 0 && bytes > config.max_bytes) {
    throw Error(
        ErrorKind::MaxSize,
        fmt::format("set \"{}\" is {}, above the limit of {}; max_size of its [[set]] sets that limit",
                    config.name, format_bytes(bytes), format_bytes(config.max_bytes)));
  }
  Guards guards = config.guards;
  if (candidate.record.restores != 0) {  // who rolls back wants the keys of then
    guards.max_shrink.reset();
    guards.max_changed = 1;
  }
  check_guards(guards, view, before);
}

Candidate SnapshotSource::fetch(Store& store, const PointerRecord& pointer) const {
  if (auto cached = fetch_cached(pointer)) {
    const SnapshotView view = SnapshotView::decode(cached->snapshot.get(), cached->source, Check::Tables);
    cached->before = read_baseline_before(store, config_.name, pointer, view);
    return std::move(*cached);
  }
  const Progress stop_when_told = [this](std::uint64_t, std::uint64_t) {
    if (!on_progress_()) throw Stopped{};
  };
  Pulled pulled = pull(store, config_.name, config_.max_bytes, stop_when_told);
  return {std::move(pulled.record), std::move(pulled.before), std::move(pulled.snapshot), false,
          source_of(store_name_)};
}

// A cache that cannot be read is no reason not to pull.
std::optional<Candidate> SnapshotSource::fetch_cached(const PointerRecord& pointer) const {
  const SnapshotRecord& record = *pointer.current;
  try {
    if (cache_.find(config_.name) != CachedBuild{record.generation, record.build_id}) return std::nullopt;
    std::optional<SnapshotBytes> snapshot = load(record.build_id);
    if (!snapshot) return std::nullopt;
    return Candidate{record, std::nullopt, std::move(*snapshot), true, cache_as_source()};
  } catch (const Error& error) {
    log_.say_cache_trouble(error.what());
    return std::nullopt;
  }
}

std::optional<Candidate> SnapshotSource::newest_cached() const {
  const std::optional<CachedBuild> cached = cache_.find(config_.name);
  std::optional<SnapshotBytes> snapshot = cached ? load(cached->build_id) : std::nullopt;
  if (!snapshot) return std::nullopt;
  SnapshotRecord record;
  record.generation = cached->generation;
  return Candidate{std::move(record), std::nullopt, std::move(*snapshot), true, cache_as_source()};
}

// Nothing if another loader has just replaced it.
std::optional<SnapshotBytes> SnapshotSource::load(const BuildId& build_id) const {
  SnapshotBytes snapshot = cache_.load(config_.name);
  const bool is_that =
      SnapshotView::decode(snapshot.get(), "cache", Check::Tables).header().build_id == build_id;
  return is_that ? std::optional(std::move(snapshot)) : std::nullopt;
}

}  // namespace keysieve
