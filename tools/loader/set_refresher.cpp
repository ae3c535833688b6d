#include "tools/loader/set_refresher.hpp"

#include <fmt/format.h>

#include <exception>

#include "core/base/error.hpp"
#include "tools/program/program.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

SetState in_trouble(Trouble trouble, ErrorKind kind, std::string reason) {
  return {.live = {},
          .trouble = trouble,
          .exit_status = exit_status_of(kind),
          .reason = std::move(reason),
          .refused = {}};
}

SetState store_away(const Error& error) {
  return in_trouble(Trouble::StoreAway, error.kind(), fmt::format("the store is away: {}", error.what()));
}

SetState refused(const SnapshotRecord& record, const Error& error) {
  SetState state = in_trouble(Trouble::Refused, error.kind(),
                              fmt::format("generation {} refused: {}", record.generation, error.what()));
  state.refused = record.build_id;
  return state;
}

SetState cannot_publish(const Error& error) {
  return in_trouble(Trouble::CannotPublish, error.kind(), fmt::format("cannot publish: {}", error.what()));
}

SetState gone_again() {
  return in_trouble(Trouble::CannotPublish, ErrorKind::CannotCreate,
                    "cannot publish: what was published is gone again, or cannot be attached");
}

// Leaves a pull half-way. Not an Error: nothing is wrong, and nobody but refresh() may take it.
struct Stopped {};

// The store answered, but not with what can be used.
bool is_about_bytes(const Error& error) {
  return error.kind() == ErrorKind::Data || error.kind() == ErrorKind::Incompatible;
}

}  // namespace

SetRefresher::SetRefresher(SetConfig config, const LoaderConfig& loader, StoreConnection& store,
                           std::function<bool()> on_progress)
    : config_(std::move(config)),
      publishing_{
          .directory = loader.directory, .group = loader.group, .max_total_bytes = loader.max_total_bytes},
      cache_(loader.cache),
      store_(store),
      on_progress_(std::move(on_progress)),
      backoff_(loader.poll_interval),
      log_(config_.name) {}

const SetState& SetRefresher::refresh(SteadyTime now) {
  try {
    state_ = look_and_publish(now);
  } catch (const Stopped&) {
    return state_;
  } catch (const Error& error) {
    state_ = cannot_publish(error);
  } catch (const std::exception& error) {
    state_ = in_trouble(Trouble::CannotPublish, ErrorKind::CannotCreate, error.what());
    state_.exit_status = kExitInternal;
  }
  look_at_what_is_live();
  // Between the publication and this look the directory was wiped, or the descriptors ran out.
  if (state_.trouble == Trouble::None && !live_) state_ = gone_again();
  state_.live = live_;
  log_.say(state_);
  return state_;
}

SetState SetRefresher::look_and_publish(SteadyTime now) {
  Publisher publisher(publishing_, config_.name);
  const UnixSeconds moment = unix_now();
  publisher.beat(moment);
  publisher.clear_expired_bypass(moment);
  look_at_what_is_live();
  if (!live_ && backoff_.is_due(now)) publish_cached(publisher, now);
  std::optional<PointerRecord> pointer;
  try {
    pointer = store_.use(now, [this](Store& store) { return read_pointer(store, config_.name); });
  } catch (const Error& error) {
    if (!is_about_bytes(error)) return store_away(error);
    return in_trouble(Trouble::Refused, error.kind(), error.what());
  }
  if (pointer) return follow(publisher, pointer->current, now);
  return in_trouble(Trouble::NeverPushed, ErrorKind::MissingInput,
                    fmt::format("store {} holds no snapshot of it", store_.name()));
}

SetState SetRefresher::follow(Publisher& publisher, const SnapshotRecord& record, SteadyTime now) {
  if (!is_live(record)) {
    if (is_put_off(record, now)) return put_off_->state;
    SetState state = replace(publisher, record, now);
    if (state.trouble != Trouble::None) return state;
  }
  put_off_.reset();
  backoff_.reset();
  publisher.confirm(unix_now());
  return {};
}

SetState SetRefresher::replace(Publisher& publisher, const SnapshotRecord& record, SteadyTime now) {
  std::optional<Candidate> candidate;
  try {
    check_not_older(record);
    candidate = fetch(record, now);
  } catch (const Error& error) {
    if (!is_about_bytes(error)) return store_away(error);
    return put_off(record, refused(record, error), Again::AfterBackoff, now);
  }
  try {
    check(*candidate);
  } catch (const Error& error) {
    return put_off(candidate->record, refused(candidate->record, error), Again::Never, now);
  }
  if (!candidate->is_cached) save(*candidate);
  try {
    publish(publisher, *candidate);
  } catch (const Error& error) {
    return put_off(candidate->record, cannot_publish(error), Again::AfterBackoff, now);
  }
  return {};
}

void SetRefresher::publish_cached(Publisher& publisher, SteadyTime now) {
  const std::optional<Candidate> candidate = newest_cached(now);
  if (!candidate) return;
  try {
    publish(publisher, *candidate);
  } catch (const Error&) {
    backoff_.failed(now);
    throw;
  }
}

void SetRefresher::publish(Publisher& publisher, const Candidate& candidate) {
  publisher.publish(candidate.snapshot.get(), candidate.record.generation);
  look_at_what_is_live();
  if (live_) log_.say_published(*live_, candidate.is_cached);
}

// A build that was saved but could not be published is in the cache already.
SetRefresher::Candidate SetRefresher::fetch(const SnapshotRecord& record, SteadyTime now) {
  if (auto cached = fetch_cached(record)) return std::move(*cached);
  const Progress stop_when_told = [this](std::uint64_t, std::uint64_t) {
    if (!on_progress_()) throw Stopped{};
  };
  return store_.use(now, [&](Store& store) {
    Pulled pulled = pull(store, config_.name, config_.max_bytes, stop_when_told);
    return Candidate{std::move(pulled.record), std::move(pulled.snapshot), false};
  });
}

// Checked as if it came from the store: the configuration may be another than the one it was saved under.
std::optional<SetRefresher::Candidate> SetRefresher::newest_cached(SteadyTime now) {
  try {
    const auto generation = cache_.newest_generation(config_.name);
    if (!generation) return std::nullopt;
    SnapshotRecord record;
    record.generation = *generation;
    Candidate candidate{std::move(record), cache_.load(config_.name, *generation), true};
    check(candidate);
    return candidate;
  } catch (const Error& error) {
    backoff_.failed(now);
    log_.say_cache_trouble(error.what());
    return std::nullopt;
  }
}

std::optional<SetRefresher::Candidate> SetRefresher::fetch_cached(const SnapshotRecord& record) {
  try {
    if (cache_.newest_generation(config_.name) != record.generation) return std::nullopt;
    SnapshotBytes snapshot = cache_.load(config_.name, record.generation);
    const SnapshotView view = SnapshotView::decode(snapshot.get(), "cache", Check::Tables);
    if (view.header().build_id != record.build_id) return std::nullopt;
    return Candidate{record, std::move(snapshot), true};
  } catch (const Error& error) {
    log_.say_cache_trouble(error.what());
    return std::nullopt;
  }
}

void SetRefresher::check(const Candidate& candidate) const {
  check_not_older(candidate.record);  // the pull may have found another record than the look
  const std::string source = fmt::format("set {} of {}", config_.name, store_.name());
  const SnapshotView view = SnapshotView::decode(candidate.snapshot.get(), source, Check::Tables);
  const std::uint64_t bytes = view.header().file_bytes;
  if (config_.max_bytes != 0 && bytes > config_.max_bytes) {
    throw DataError(
        fmt::format("set \"{}\" is {}, above the limit of {}; max_size of its [[set]] sets that limit",
                    config_.name, format_bytes(bytes), format_bytes(config_.max_bytes)));
  }
  check_guards(config_.guards, view, live_ ? std::optional(live_->key_count) : std::nullopt);
}

// A lower number alone is no reason: a store that lost its records counts from the beginning again. A replica
// that lags behind has an older moment as well.
void SetRefresher::check_not_older(const SnapshotRecord& record) const {
  if (!live_ || record.generation >= live_->generation || record.as_of > live_->as_of) return;
  throw DataError(
      fmt::format("store {} calls it current, as of {}, but what is live is newer, as of {}: is the store a "
                  "replica that lags behind? Push again, or remove {}/{} and {} to take it all the same",
                  store_.name(), format_moment(record.as_of), format_moment(live_->as_of),
                  publishing_.directory, config_.name, cache_.pattern_of(config_.name)));
}

void SetRefresher::save(const Candidate& candidate) {
  try {
    cache_.save(config_.name, candidate.record.generation, candidate.snapshot.get());
    log_.cache_is_well();
  } catch (const Error& error) {
    log_.say_cache_trouble(error.what());
  }
}

SetState SetRefresher::put_off(const SnapshotRecord& record, SetState state, Again again, SteadyTime now) {
  if (again == Again::AfterBackoff) backoff_.failed(now);
  put_off_ = PutOff{record, again == Again::Never, state};
  return state;
}

bool SetRefresher::is_live(const SnapshotRecord& record) const {
  return live_ && live_->generation == record.generation && live_->build_id == record.build_id;
}

bool SetRefresher::is_put_off(const SnapshotRecord& record, SteadyTime now) const {
  return put_off_ && put_off_->record == record && (put_off_->for_good || !backoff_.is_due(now));
}

void SetRefresher::look_at_what_is_live() {
  live_ = live_publication(publishing_.directory, config_.name);
}

}  // namespace keysieve
