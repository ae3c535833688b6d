#include "tools/loader/refresh/snapshot_source.hpp"

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tools/loader/report/refresh_outcome.hpp"

namespace keysieve {

Candidate SnapshotSource::fetch(Store& store, const PointerRecord& pointer) const {
  if (auto cached = fetch_cached(pointer)) return std::move(*cached);
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
    return Candidate{record, baseline_before(pointer), std::move(*snapshot), true, cache_as_source()};
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
