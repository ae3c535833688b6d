#include "tools/loader/refresh/snapshot_source.hpp"

#include <fcntl.h>
#include <fmt/core.h>

#include <algorithm>
#include <exception>

#include "core/builder/base/file_io.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "tools/loader/report/refresh_outcome.hpp"
#include "tools/program/units.hpp"
#include "tools/signatures/verify.hpp"
#include "tools/transfer/guards.hpp"

namespace keysieve {
namespace {

struct LiveBytes {
  SnapshotBytes bytes;
  std::string path;
};

// Read, not mapped: what is checked is what is used.
LiveBytes read_live(const LivePublication& live, const Publisher& publisher) {
  const std::string name = snapshot_file_name(live.id.publication);
  LiveBytes read{SnapshotBytes(live.bytes), publisher.folder().path_of(name)};
  read_all_at(publisher.folder().open_file(name, O_RDONLY), 0, read.bytes.get(), read.path);
  return read;
}

}  // namespace

SnapshotSource::SnapshotSource(const SetConfig& config, const LoaderConfig& loader, StoreConnection& store,
                               const std::function<bool()>& on_progress, SetLog& log)
    : config_(config),
      directory_(loader.directory),
      cache_(loader.cache),
      store_(store),
      on_progress_(on_progress),
      log_(log),
      save_backoff_(loader.poll_interval) {
  try {
    load_moments();
  } catch (const Error& error) {
    moment_failure_ = error.what();
    log_.say_cache_trouble(moment_failure_);
  }
}

// A set that gets a public key begins anew: what was saved before may be from a record that anyone wrote. So
// does one whose key was taken off the list, because it was stolen.
void SnapshotSource::load_moments() {
  if (!is_signed_set()) {
    saved_as_of_ = cache_.newest_as_of(config_.name);
    newest_as_of_ = saved_as_of_;
    return;
  }
  saved_signed_ = cache_.newest_signed(config_.name);
  if (!contains(config_.public_keys, saved_signed_.public_key)) return;
  newest_signed_ = saved_signed_;
  newest_as_of_ = newest_signed_.moment.as_of;
}

Candidate SnapshotSource::fetch(const PointerRecord& pointer, SteadyTime now) {
  if (auto cached = fetch_cached(pointer)) return std::move(*cached);
  const Progress stop_when_told = [this](std::uint64_t, std::uint64_t) {
    if (!on_progress_()) throw Stopped{};
  };
  return store_.use(now, [&](Store& store) {
    Pulled pulled = pull(store, config_.name, config_.max_bytes, stop_when_told);
    return Candidate{std::move(pulled.record), pulled.keys_before, std::move(pulled.snapshot), false};
  });
}

std::optional<Candidate> SnapshotSource::fetch_cached(const PointerRecord& pointer) {
  const SnapshotRecord& record = *pointer.current;
  try {
    if (cache_.newest_generation(config_.name) != record.generation) return std::nullopt;
    SnapshotBytes snapshot = cache_.load(config_.name, record.generation);
    const SnapshotView view = SnapshotView::decode(snapshot.get(), "cache", Check::Tables);
    if (view.header().build_id != record.build_id) return std::nullopt;
    return Candidate{record, keys_before(pointer), std::move(snapshot), true};
  } catch (const Error& error) {
    log_.say_cache_trouble(error.what());
    return std::nullopt;
  }
}

std::optional<Candidate> SnapshotSource::newest_cached() const {
  const auto generation = cache_.newest_generation(config_.name);
  if (!generation) return std::nullopt;
  SnapshotRecord record;
  record.generation = *generation;
  return Candidate{std::move(record), std::nullopt, cache_.load(config_.name, *generation), true};
}

void SnapshotSource::check(const Candidate& candidate, const std::optional<LivePublication>& live) const {
  check_not_older(candidate.record, live);
  const std::string source =
      fmt::format("set {} of {}", config_.name,
                  candidate.is_cached ? "the cache " + cache_.pattern_of(config_.name) : store_.name());
  const SnapshotView view = SnapshotView::decode(candidate.snapshot.get(), source, Check::Tables);
  check_signature(view, config_.public_keys, source);
  check_not_replayed(view.header(), candidate, live);
  const std::uint64_t bytes = view.header().file_bytes;
  if (config_.max_bytes != 0 && bytes > config_.max_bytes) {
    throw Error(
        ErrorKind::MaxSize,
        fmt::format("set \"{}\" is {}, above the limit of {}; max_size of its [[set]] sets that limit",
                    config_.name, format_bytes(bytes), format_bytes(config_.max_bytes)));
  }
  Guards guards = config_.guards;
  if (candidate.record.restores != 0) guards.max_shrink.reset();  // who rolls back wants the keys of then
  std::optional<std::uint64_t> keys_before = candidate.keys_before;
  if (live && (!keys_before || has_refused_)) keys_before = live->key_count;
  check_guards(guards, view, keys_before);
}

void SnapshotSource::check_live(const LivePublication& live, const Publisher& publisher) {
  if (!is_signed_set() || checked_live_ == live.id) return;
  trusted_ = {};
  try {
    const auto [bytes, path] = read_live(live, publisher);
    check_signature(SnapshotView::decode(bytes.get(), path, Check::Tables), config_.public_keys, path);
    trusted_ = live.id;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::NotSigned && error.kind() != ErrorKind::Data) return;  // may be read later
  } catch (const std::bad_alloc&) {
    return;
  }
  checked_live_ = live.id;
}

void SnapshotSource::has_published(const std::optional<LivePublication>& live) noexcept {
  has_refused_ = false;
  if (live) checked_live_ = trusted_ = live->id;
}

void SnapshotSource::has_seen(const PointerRecord& pointer, const std::optional<LivePublication>& live) {
  if (is_signed_set()) {
    if (live && trusts(*live)) has_seen_signed(*live);
    return;
  }
  if (pointer.current) newest_as_of_ = std::max(newest_as_of_, pointer.current->as_of);
  for (const SnapshotRecord& older : pointer.previous) newest_as_of_ = std::max(newest_as_of_, older.as_of);
  if (newest_as_of_ == saved_as_of_) return;
  save_moment([this] {
    cache_.save_newest_as_of(config_.name, newest_as_of_);
    saved_as_of_ = newest_as_of_;
  });
}

void SnapshotSource::has_seen_signed(const LivePublication& live) {
  const SignedMoment moment{live.as_of, live.built_at};
  if (moment > newest_signed_.moment) newest_signed_ = {moment, live.public_key};
  newest_as_of_ = newest_signed_.moment.as_of;
  if (newest_signed_ == saved_signed_) return;
  save_moment([this] {
    cache_.save_newest_signed(config_.name, newest_signed_);
    saved_signed_ = newest_signed_;
  });
}

void SnapshotSource::save_moment(const std::function<void()>& save) {
  try {
    save();
    moment_failure_.clear();
  } catch (const Error& error) {
    moment_failure_ = error.what();
    log_.say_cache_trouble(moment_failure_);
  }
}

void SnapshotSource::save_again(const LivePublication& live, const Publisher& publisher, SteadyTime now) {
  if (is_saved_ || !save_backoff_.is_due(now)) return;
  if (is_cached(live)) return saved();
  try {
    const auto [bytes, path] = read_live(live, publisher);
    SnapshotView::decode(bytes.get(), path, Check::Everything);  // an older one that is whole is better
    save(live.generation, bytes.get(), now);
  } catch (const std::exception& error) {  // or no memory for it: the set answers all the same
    save_failed(error, now);
  }
}

bool SnapshotSource::is_cached(const LivePublication& live) const noexcept {
  try {
    return cache_.newest_generation(config_.name) == live.generation &&
           cache_.build_id_of(config_.name, live.generation) == live.build_id;
  } catch (const std::exception&) {
    return false;
  }
}

// A lower number alone is no reason to refuse: a store that lost its records counts from 1 again, and then
// the live snapshot may be pushed once more. A replica that lags behind has an older moment too. It is
// compared with the newest moment that was seen, because the live one may have been brought back by a
// rollback.
void SnapshotSource::check_not_older(const SnapshotRecord& record,
                                     const std::optional<LivePublication>& live) const {
  if (!live || record.generation >= live->generation) return;
  const UnixSeconds newest = newest_moment(*live);
  if (record.as_of > newest || (record.build_id == live->build_id && record.as_of == newest)) return;
  refuse_as_older(record, newest);
}

// Nor is a higher number a reason to accept: it may be the number of an old copy, from before the store
// counted from 1 again. A pointer that has come after the live build, with a build that was begun earlier,
// lists the live one among those before. A rollback may be one in a replica that has never had it.
void SnapshotSource::check_follows(const PointerRecord& pointer,
                                   const std::optional<LivePublication>& live) const {
  const SnapshotRecord& record = *pointer.current;
  check_not_older(record, live);
  if (!live || live->generation == 0 || record.build_id == live->build_id || record.restores != 0) return;
  const UnixSeconds newest = newest_moment(*live);
  const auto is_live = [&](const SnapshotRecord& older) { return older.build_id == live->build_id; };
  if (record.as_of >= newest || std::any_of(pointer.previous.begin(), pointer.previous.end(), is_live))
    return;
  refuse_as_older(record, newest);
}

// Whoever may write to the store can have it call any snapshot current that was ever signed, under any
// generation and as a rollback. Only the moments of signed headers count then. When nothing is live, what is
// in the cache is better than nothing.
void SnapshotSource::check_not_replayed(const SnapshotHeader& header, const Candidate& candidate,
                                        const std::optional<LivePublication>& live) const {
  if (!is_signed_set() || (!live && candidate.is_cached)) return;
  SignedMoment newest = newest_signed_.moment;
  if (live && trusts(*live)) newest = std::max(newest, {live->as_of, live->built_at});
  if (SignedMoment{header.as_of, header.built_at} >= newest) return;
  throw Error(
      ErrorKind::Older,
      fmt::format("set \"{}\" is signed as of {}, built at {}, older than what was live, as of {}, built at "
                  "{}: a signed set does not go back, because anyone who may write to {} could have brought "
                  "that back; build it again from the older list, with the --adds-from of then, which "
                  "keysieve rollback --list shows",
                  config_.name, format_moment(header.as_of), format_moment(header.built_at),
                  format_moment(newest.as_of), format_moment(newest.built_at), store_.name()));
}

UnixSeconds SnapshotSource::newest_moment(const LivePublication& live) const {
  return trusts(live) ? std::max(live.as_of, newest_as_of_) : newest_as_of_;
}

void SnapshotSource::refuse_as_older(const SnapshotRecord& record, UnixSeconds newest) const {
  std::string advice = "Build and push again";
  if (!is_signed_set()) {
    advice += fmt::format(", or remove {}/{} and {} to take it all the same", directory_, config_.name,
                          cache_.pattern_of(config_.name));
  }
  throw Error(
      ErrorKind::Older,
      fmt::format(
          "store {} calls it current, as of {}, but newer was there already, as of {}: is the store a "
          "replica or a copy that lags behind? {}",
          store_.name(), format_moment(record.as_of), format_moment(newest), advice));
}

void SnapshotSource::save(std::uint64_t generation, Bytes snapshot, SteadyTime now) {
  is_saved_ = false;
  try {
    cache_.save(config_.name, generation, snapshot);
    save_backoff_.reset();
    saved();
  } catch (const Error& error) {
    save_failed(error, now);
  }
}

void SnapshotSource::saved() {
  is_saved_ = true;
  save_failure_.clear();
  log_.cache_is_well();
}

void SnapshotSource::save_failed(const std::exception& error, SteadyTime now) {
  save_backoff_.failed(now);
  save_failure_ = error.what();
  log_.say_cache_trouble(save_failure_);
}

}  // namespace keysieve
