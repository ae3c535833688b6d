#include "tools/loader/refresh/set_refresher.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>

#include "core/base/error.hpp"
#include "core/shm/bypass.hpp"
#include "tools/loader/refresh/stopwatch.hpp"
#include "tools/loader/report/outcome.hpp"
#include "tools/program/program.hpp"

namespace keysieve {
namespace {

SetState gone_again() {
  return in_trouble(Trouble::CannotPublish, ErrorKind::CannotCreate,
                    "cannot publish: what was published is gone again, or cannot be attached");
}

SnapshotHeader header_of(const Candidate& candidate) {
  return SnapshotView::decode(candidate.snapshot.get(), "snapshot", Check::Tables).header();
}

}  // namespace

SetRefresher::SetRefresher(SetConfig config, const LoaderConfig& loader, StoreConnection& store,
                           SetRecorder& recorder, std::function<bool()> on_progress)
    : config_(std::move(config)),
      publishing_{
          .directory = loader.directory, .group = loader.group, .max_total_bytes = loader.max_total_bytes},
      store_(store),
      recorder_(recorder),
      on_progress_(std::move(on_progress)),
      log_(config_.name),
      source_(config_, loader, store, on_progress_, log_),
      adds_(config_, loader, on_progress_, log_),
      layers_(config_, loader, adds_, log_),
      backoff_(loader.poll_interval) {}

void SetRefresher::publish_cached(SteadyTime now) {
  try {
    look_at_what_is_live();
    if (!live_ && backoff_.is_due(now)) {
      Publisher publisher(publishing_, config_.name);
      adds_.load_mirror();
      if (adds_.is_complete()) publish_newest_cached(publisher, now);
    }
  } catch (const std::exception& error) {
    spdlog::debug("{}: not published from the cache: {}", config_.name, error.what());
  }
  state_.live = live_;
}

const SetState& SetRefresher::refresh(SteadyTime now) {
  try {
    state_ = look_and_publish(now);
  } catch (const Stopped&) {
    return state_;
  } catch (const Error& error) {
    // Or the directory was wiped in the middle.
    state_ = live_ && error.kind() == ErrorKind::MissingInput ? gone_again() : cannot_publish(error);
  } catch (const std::exception& error) {
    state_ = in_trouble(Trouble::CannotPublish, ErrorKind::CannotCreate, error.what());
    state_.exit_status = kExitInternal;
  }
  look_at_what_is_live();
  // Between the publication and this look the directory was wiped, or the descriptors ran out.
  if (state_.trouble == Trouble::None && !live_) state_ = gone_again();
  // Also beside another trouble: it matters most while the store is away.
  if (adds_.mirror().unsaved() != 0 && !holds_back_ready(state_)) {
    const std::string other = state_.trouble == Trouble::None ? "" : "; and " + state_.reason;
    state_ = adds_in_memory(adds_.mirror().unsaved(), adds_.save_failure());
    state_.reason += other;
  }
  state_.live = live_;
  log_.say(state_);
  recorder_.looked(state_, adds_.mirror().count_after({}));
  return state_;
}

std::optional<std::string> SetRefresher::unsaved_adds() {
  const std::optional<std::string> failure = adds_.save_now();
  if (!failure) return std::nullopt;
  return fmt::format("{}: {}", config_.name, adds_in_memory(adds_.mirror().unsaved(), *failure).reason);
}

SetState SetRefresher::look_and_publish(SteadyTime now) {
  live_.reset();
  adds_.begin_look();
  Publisher publisher(publishing_, config_.name);
  adds_.load_mirror();
  const UnixSeconds moment = unix_now();
  publisher.beat(moment);
  publisher.clear_expired_bypass(moment);
  look_at_what_is_live();
  verify(publisher, now);
  if (live_) recorder_.found(*live_);
  try {
    if (!is_well() && backoff_.is_due(now)) publish_newest_cached(publisher, now);
  } catch (const Error&) {
    backoff_.failed(now);
    throw;
  }
  SetState state = follow_store(publisher, now);
  // Whatever the store said: a predecessor may have been killed before it had brought in all that it had.
  try {
    if (live_) layers_.fill(publisher, *live_, now);
  } catch (const Error& error) {
    if (state.trouble == Trouble::None) state = cannot_publish(error);
  }
  if (state.trouble == Trouble::None) publisher.confirm(unix_now());
  return state;
}

// Also what cannot be attached any more: processes that have it mapped go on answering from it.
void SetRefresher::verify(Publisher& publisher, SteadyTime now) {
  const std::optional<std::string> damage = verifier_.find_damage(publisher, now);
  if (damage && publisher.mark_damaged()) {
    log_.say_damaged(*damage);
    look_at_what_is_live();
  }
  if (verifier_.take_end_of_round()) layers_.verify_soon();
}

SetState SetRefresher::follow_store(Publisher& publisher, SteadyTime now) {
  SetRecords records;
  try {
    records = store_.use(now, [this](Store& store) {
      if (!live_) adds_.skip(store);
      return read_set_records(store, config_.name);
    });
  } catch (const Error& error) {
    return cannot_follow(error);
  }
  apply(records.bypasses);
  SetState state = follow_pointer(publisher, records, now);
  if (state.trouble == Trouble::None && !records.bypass_trouble.empty()) {
    state = in_trouble(Trouble::Refused, ErrorKind::Data,
                       "bypassed, for there is no telling until when: " + records.bypass_trouble);
  }
  if (!live_) return state;
  try {
    read_adds(live_->adds_from, AddsReader::Amount::Some, now);
  } catch (const Error& error) {
    return cannot_follow(error);
  }
  return state;
}

// Of what was live before: with the store away the last known state stays.
void SetRefresher::apply(const StoreBypasses& bypasses) {
  const auto until = bypassed_until(bypasses, unix_now());
  if (until) {
    set_store_bypass(publishing_.directory, config_.name, *until);
  } else {
    clear_store_bypass(publishing_.directory, config_.name);
  }
  log_.say_bypass(until);
}

void SetRefresher::read_adds(const LogPosition& from, AddsReader::Amount amount, SteadyTime now) {
  store_.use(now, [&](Store& store) {
    adds_.read(store, from, amount);
    return true;
  });
}

SetState SetRefresher::cannot_follow(const Error& error) {
  adds_.read_again();
  if (!is_refusal(error)) return cannot_ask_store(error);
  return in_trouble(Trouble::Refused, error.kind(), error.what());
}

SetState SetRefresher::follow_pointer(Publisher& publisher, const SetRecords& records, SteadyTime now) {
  std::optional<PointerRecord> pointer;
  try {
    if (records.pointer) {
      pointer = decode_pointer_record(*records.pointer, store_.name() + ": " + records.pointer_key);
    }
  } catch (const Error& error) {
    return in_trouble(Trouble::Refused, error.kind(), error.what());
  }
  if (!pointer || !pointer->current) {
    return in_trouble(Trouble::NeverPushed, ErrorKind::MissingInput,
                      fmt::format("store {} holds no snapshot of it", store_.name()));
  }
  SetState state = follow(publisher, *pointer, now);
  if (state.trouble == Trouble::None) source_.has_seen(*pointer);
  recorder_.compared(*pointer->current, is_live(*pointer->current), now);
  if (live_) forget_adds(std::min(live_->adds_from, pointer->adds_trimmed_to));
  return state;
}

// An older snapshot in the cache, because a newer one could not be saved, needs them after a reboot.
void SetRefresher::forget_adds(const LogPosition& up_to) {
  if (adds_.has_any_up_to(up_to) && source_.is_cached(live_->generation)) adds_.forget(up_to);
}

SetState SetRefresher::follow(Publisher& publisher, const PointerRecord& pointer, SteadyTime now) {
  const SnapshotRecord& record = *pointer.current;
  if (!is_live(record)) {
    if (is_put_off(record, now)) return put_off_->state;
    SetState state = replace(publisher, pointer, now);
    if (state.trouble != Trouble::None) return state;
  }
  put_off_.reset();
  backoff_.reset();
  return {};
}

SetState SetRefresher::replace(Publisher& publisher, const PointerRecord& pointer, SteadyTime now) {
  const SnapshotRecord& record = *pointer.current;
  std::optional<Candidate> candidate;
  try {
    source_.check_not_older(record, live_);
    candidate = fetch(pointer, now);
  } catch (const Error& error) {
    if (!is_refusal(error)) return cannot_follow(error);
    return put_off_refused(record, error, Again::AfterBackoff, now);
  }
  try {
    source_.check(*candidate, live_);  // the pull may have found another record than the look
  } catch (const Error& error) {
    return put_off_refused(candidate->record, error, Again::Never, now);
  }
  if (!candidate->is_cached) source_.save(*candidate);
  try {
    read_adds(header_of(*candidate).adds_from, AddsReader::Amount::All, now);
  } catch (const Error& error) {
    return cannot_follow(error);
  }
  try {
    publish(publisher, *candidate);
  } catch (const Error& error) {
    return put_off(candidate->record, cannot_publish(error), Again::AfterBackoff, now);
  }
  return {};
}

Candidate SetRefresher::fetch(const PointerRecord& pointer, SteadyTime now) {
  const Stopwatch stopwatch;
  Candidate candidate = source_.fetch(pointer, now);
  if (!candidate.is_cached) recorder_.pulled(stopwatch.seconds());
  return candidate;
}

void SetRefresher::publish_newest_cached(Publisher& publisher, SteadyTime now) {
  const std::optional<Candidate> candidate = newest_cached(now);
  if (candidate) publish(publisher, *candidate);
}

// Checked as if it came from the store: the configuration may be another than the one it was saved under.
// What this host had received must be known as well, or it would turn absent.
std::optional<Candidate> SetRefresher::newest_cached(SteadyTime now) {
  try {
    std::optional<Candidate> candidate = source_.newest_cached();
    if (!candidate) return std::nullopt;
    source_.check(*candidate, live_);
    if (!adds_.is_complete()) read_adds(header_of(*candidate).adds_from, AddsReader::Amount::All, now);
    return candidate;
  } catch (const Error& error) {
    backoff_.failed(now);
    log_.say_cache_trouble(error.what());
    return std::nullopt;
  }
}

void SetRefresher::publish(Publisher& publisher, const Candidate& candidate) {
  add_to_what_is_live(publisher);
  const NewLayer layer = layers_.layer_over(header_of(candidate));
  const Stopwatch stopwatch;
  publisher.publish(candidate.snapshot.get(), candidate.record.generation, layer,
                    is_well() ? layers_.filled() : PublicationId{});
  const double seconds = stopwatch.seconds();
  look_at_what_is_live();
  if (!live_) return;
  log_.say_published(*live_, candidate.is_cached);
  recorder_.published(*live_, candidate.is_cached, seconds);
}

// Readers that have yet to attach the new publication answer from this one. Where that fails, they attach it
// at once: the old layer is not filled().
void SetRefresher::add_to_what_is_live(Publisher& publisher) {
  if (!is_well()) return;
  try {
    layers_.add_news(publisher, *live_);
  } catch (const Error& error) {
    spdlog::debug("{}: the live layer cannot be opened: {}", config_.name, error.what());
  }
}

SetState SetRefresher::put_off(const SnapshotRecord& record, SetState state, Again again, SteadyTime now) {
  if (again == Again::AfterBackoff) backoff_.failed(now);
  put_off_ = PutOff{record, again == Again::Never, state};
  return state;
}

SetState SetRefresher::put_off_refused(const SnapshotRecord& record, const Error& error, Again again,
                                       SteadyTime now) {
  recorder_.refused(record, error.kind(), error.what());
  return put_off(record, refused(record, error), again, now);
}

bool SetRefresher::is_live(const SnapshotRecord& record) const {
  return is_well() && live_->generation == record.generation && live_->build_id == record.build_id &&
         live_->layer.shard_count != 0;
}

bool SetRefresher::is_put_off(const SnapshotRecord& record, SteadyTime now) const {
  return put_off_ && put_off_->record == record && (put_off_->for_good || !backoff_.is_due(now));
}

void SetRefresher::look_at_what_is_live() {
  live_ = live_publication(publishing_.directory, config_.name);
}

}  // namespace keysieve
