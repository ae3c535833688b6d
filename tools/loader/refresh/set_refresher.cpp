#include "tools/loader/refresh/set_refresher.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>

#include "core/publisher/shm/bypass.hpp"
#include "core/worker/base/error.hpp"
#include "tools/loader/config/health_limits.hpp"
#include "tools/program/program.hpp"

namespace keysieve {
namespace {

RefreshOutcome gone_again() {
  return in_trouble(Trouble::CannotPublish, ErrorKind::CannotCreate,
                    "cannot publish: the new publication is gone, or cannot be attached");
}

// Once something was live, it was pushed: the store has been emptied, or has evicted the record.
RefreshOutcome holds_nothing(const std::string& store_name, bool is_live) {
  return in_trouble(
      Trouble::NeverPushed, ErrorKind::MissingInput,
      fmt::format("store {} holds no snapshot of it{}", store_name, is_live ? " any more: push again" : ""));
}

RefreshOutcome bypassed_without_end(const Error& error) {
  return in_trouble(
      Trouble::Refused, ErrorKind::Data,
      fmt::format("bypassed, because the record of the bypass cannot be read: {}", error.what()));
}

SnapshotHeader header_of(const Candidate& candidate) {
  return SnapshotView::decode(candidate.snapshot.get(), "snapshot", Check::Tables).header();
}

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const noexcept {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  }

 private:
  SteadyTime started_ = std::chrono::steady_clock::now();
};

}  // namespace

SetRefresher::SetRefresher(SetConfig config, const LoaderConfig& loader, StoreConnection& store,
                           SetRecorder& recorder, std::function<bool()> on_progress)
    : config_(std::move(config)),
      publishing_{
          .directory = loader.directory, .group = loader.group, .max_total_bytes = loader.max_total_bytes},
      poll_interval_(loader.poll_interval),
      is_once_(loader.is_once),
      store_(store),
      recorder_(recorder),
      on_progress_(std::move(on_progress)),
      log_(config_.name),
      source_(config_, loader, store, on_progress_, log_),
      adds_(config_, loader, on_progress_, log_),
      layers_(config_, loader, adds_, log_),
      backoff_(loader.poll_interval) {}

// A refresh is these four functions, from top to bottom. A failed step ends what builds on it, and the live
// publication stays live.
RefreshOutcome SetRefresher::look(Publisher& publisher, SteadyTime now) {
  begin_look(publisher, now);
  if (!is_whole() && backoff_.is_due(now)) {
    if (const auto error = error_of([&] { publish_newest_cached(publisher, now); })) {
      backoff_.failed(now);
      return cannot_publish_now(*error);
    }
  }
  RefreshOutcome outcome = follow_store(publisher, now);
  // Whatever the store said: an earlier keysieved may have been killed before it had added everything.
  const auto error = error_of([&] { fill_layer(publisher, now); });
  if (error && outcome.is_good()) outcome = cannot_publish(*error);
  if (outcome.is_good()) publisher.confirm(unix_now());
  return outcome;
}

RefreshOutcome SetRefresher::follow_store(Publisher& publisher, SteadyTime now) {
  StoreRecords records;
  if (const auto error = error_of([&] { records = ask_store(now); })) return cannot_follow(*error);
  if (records.bypasses) apply(*records.bypasses);
  RefreshOutcome outcome = follow_pointer(publisher, records, now);
  if (outcome.is_good() && records.bypass_error) outcome = bypassed_without_end(*records.bypass_error);
  if (live_) {
    const NeededAdds needed = adds_needed_by(live_->adds_from, live_->as_of);
    const auto error = error_of([&] { read_adds(needed, AddsReader::Amount::Some, now); });
    // Behind a generation that was refused, the log may be trimmed further than what is live needs.
    if (error && (outcome.is_good() || error->kind() != ErrorKind::Older)) outcome = cannot_follow(*error);
  }
  return outcome;
}

RefreshOutcome SetRefresher::follow_pointer(Publisher& publisher, const StoreRecords& records,
                                            SteadyTime now) {
  if (records.pointer_error) return refused(*records.pointer_error);
  if (!records.pointer || !records.pointer->current) return holds_nothing(store_.name(), live_.has_value());
  const PointerRecord& pointer = *records.pointer;
  // What is live may be from before the set had a public key: then this says so.
  if (live_) source_.check_live(*live_, publisher);
  const bool may_stay = is_live(*pointer.current) && source_.trusts(*live_);
  RefreshOutcome outcome = may_stay ? RefreshOutcome{} : replace(publisher, pointer, now);
  if (outcome.is_good()) {
    put_off_.reset();
    backoff_.reset();
    source_.has_seen(pointer, live_);
    if (live_) source_.save_again(*live_, publisher, now);
  }
  recorder_.compared(*pointer.current, is_live(*pointer.current), now);
  if (live_) forget_adds(std::min(live_->adds_from, pointer.adds_trimmed_to));
  return outcome;
}

RefreshOutcome SetRefresher::replace(Publisher& publisher, const PointerRecord& pointer, SteadyTime now) {
  const SnapshotRecord& current = *pointer.current;
  if (is_put_off(current, now)) return put_off_->outcome;
  if (const auto error = error_of([&] { source_.check_follows(pointer, live_); })) {
    return put_off_refused(current, *error, Again::AfterBackoff, now);
  }
  // Before the download, which may be large, and before it is saved: what is in the cache is published
  // without a look at the log.
  if (const auto error = error_of([&] { read_adds_of(current, now); })) return cannot_follow(*error);
  std::optional<Candidate> candidate;
  const auto fetch_error = error_of([&] {
    candidate = fetch(pointer, now);
    if (candidate->record == current) return;
    // The pull has found another record than the look.
    PointerRecord pulled = pointer;
    pulled.current = candidate->record;
    source_.check_follows(pulled, live_);
    read_adds_of(candidate->record, now);
  });
  if (fetch_error && !is_refusal(*fetch_error)) return cannot_follow(*fetch_error);
  if (fetch_error) return put_off_refused(current, *fetch_error, Again::AfterBackoff, now);
  if (const auto error = error_of([&] { source_.check(*candidate, live_); })) {
    return put_off_refused(candidate->record, *error, Again::Never, now);
  }
  const bool readers_may_stay = candidate->record == current && has_all_adds(pointer);
  if (!candidate->is_cached) source_.save(candidate->record.generation, candidate->snapshot.get(), now);
  if (const auto error = error_of([&] { publish(publisher, *candidate, readers_may_stay); })) {
    return put_off(candidate->record, cannot_publish(*error), Again::AfterBackoff, now);
  }
  source_.has_published(live_);
  return {};
}

const RefreshOutcome& SetRefresher::refresh(SteadyTime now) {
  live_.reset();
  adds_.begin_look();
  std::optional<Publisher> publisher;
  try {
    publisher.emplace(publishing_, config_.name);
    outcome_ = look(*publisher, now);
  } catch (const Stopped&) {
    return outcome_;
  } catch (const Error& error) {
    outcome_ = cannot_publish_now(error);
  } catch (const std::exception& error) {
    outcome_ = in_trouble(Trouble::CannotPublish, ErrorKind::CannotCreate, text_of(error));
    outcome_.exit_status = exit_status_of(error);
  }
  find_what_is_live();
  // Since the publish the directory was wiped, or the file descriptors ran out.
  if (outcome_.is_good() && !live_) outcome_ = gone_again();
  // Reported with any other trouble, because it matters most while the store is unreachable.
  if (adds_.mirror().unsaved() != 0 && !holds_back_ready(outcome_)) {
    const std::string other = outcome_.is_good() ? "" : "; and " + outcome_.reason;
    outcome_ = adds_in_memory(adds_.mirror().unsaved(), adds_.save_failure());
    outcome_.reason += other;
  }
  if (!outcome_.is_good()) store_.distrust_copies();
  outcome_.live = live_;
  log_.say(outcome_, source_.cache_trouble().empty());
  recorder_.looked(outcome_, adds_.mirror().count_after({}), source_.cache_trouble());
  if (publisher) publisher->note(recorder_.report().troubles());
  return outcome_;
}

void SetRefresher::publish_cached(SteadyTime now) {
  try {
    find_what_is_live();
    if (!live_ && backoff_.is_due(now)) {
      Publisher publisher(publishing_, config_.name);
      adds_.load_mirror();
      if (adds_.is_complete()) publish_newest_cached(publisher, now);
    }
  } catch (const std::exception& error) {
    spdlog::debug("{}: not published from the cache: {}", config_.name, error.what());
  }
  outcome_.live = live_;
}

std::optional<std::string> SetRefresher::unsaved_adds() {
  const std::optional<std::string> failure = adds_.save_now();
  if (!failure) return std::nullopt;
  return fmt::format("{}: {}", config_.name, adds_in_memory(adds_.mirror().unsaved(), *failure).reason);
}

void SetRefresher::leave() const {
  try {
    if (std::filesystem::exists(publishing_.directory + "/" + config_.name))
      Publisher(publishing_, config_.name).leave();
  } catch (const std::exception& error) {
    spdlog::warn("{}: cannot be marked as not configured: {}", config_.name, error.what());
  }
}

void SetRefresher::begin_look(Publisher& publisher, SteadyTime now) {
  adds_.load_mirror();
  const UnixSeconds moment = unix_now();
  publisher.beat(moment, is_once_ ? 0 : next_look_by(moment, poll_interval_));
  publisher.clear_expired_bypass(moment);
  find_what_is_live();
  verify(publisher, now);
  if (live_) recorder_.found(*live_);
}

void SetRefresher::fill_layer(Publisher& publisher, SteadyTime now) {
  if (live_) layers_.fill(publisher, *live_, now);
}

void SetRefresher::find_what_is_live() {
  live_ = live_publication(publishing_.directory, config_.name);
}

bool SetRefresher::is_live(const SnapshotRecord& record) const {
  return is_whole() && live_->generation == record.generation && live_->build_id == record.build_id &&
         live_->layer.shard_count != 0;
}

// Also a publication that can no longer be attached: processes that have it mapped still answer from it.
void SetRefresher::verify(Publisher& publisher, SteadyTime now) {
  const std::optional<std::string> damage = verifier_.find_damage(publisher, now);
  if (damage && publisher.mark_damaged()) {
    log_.say_damaged(*damage);
    find_what_is_live();
  }
  if (verifier_.take_end_of_round()) layers_.verify_soon();
}

void SetRefresher::publish_newest_cached(Publisher& publisher, SteadyTime now) {
  std::optional<Candidate> candidate;
  if (const auto error = error_of([&] { candidate = checked_from_cache(now); })) {
    backoff_.failed(now);
    log_.say_cache_trouble(error->what());
  } else if (candidate) {
    publish(publisher, *candidate, false);
  }
}

// Checked as if it came from the store, because the configuration may have changed since it was saved. The
// adds that this host had received must be known too, or they would become absent.
std::optional<Candidate> SetRefresher::checked_from_cache(SteadyTime now) {
  std::optional<Candidate> candidate = source_.newest_cached();
  if (!candidate) return candidate;
  source_.check(*candidate, live_);
  if (adds_.is_complete()) return candidate;
  const SnapshotHeader header = header_of(*candidate);
  read_adds(adds_needed_by(header.adds_from, header.as_of), AddsReader::Amount::All, now);
  return candidate;
}

Candidate SetRefresher::fetch(const PointerRecord& pointer, SteadyTime now) {
  const Stopwatch stopwatch;
  Candidate candidate = source_.fetch(pointer, now);
  if (!candidate.is_cached) recorder_.pulled(stopwatch.seconds());
  return candidate;
}

// `readers_may_stay`: on what was live, until their jitter is over.
void SetRefresher::publish(Publisher& publisher, const Candidate& candidate, bool readers_may_stay) {
  add_to_what_is_live(publisher);
  const NewLayer layer = layers_.layer_over(header_of(candidate));
  const Stopwatch stopwatch;
  publisher.publish(candidate.snapshot.get(), candidate.record.generation, layer,
                    readers_may_stay ? layers_.filled() : PublicationId{});
  const double seconds = stopwatch.seconds();
  find_what_is_live();
  if (!live_) return;
  log_.say_published(*live_, candidate.is_cached);
  recorder_.published(*live_, candidate.is_cached, seconds);
}

// Readers that have not attached the new publication yet answer from this one. If that fails they attach
// the new one at once, because the old layer is not filled().
void SetRefresher::add_to_what_is_live(Publisher& publisher) {
  if (!is_whole()) return;
  if (const auto error = error_of([&] { layers_.add_news(publisher, *live_); })) {
    spdlog::debug("{}: the live layer cannot be opened: {}", config_.name, error->what());
  }
}

// Whether what is live gets every add behind its snapshot. Not if the log was trimmed further: a new snapshot
// may hold keys from there, which this host has never received. Most logs cannot say so, the pointer can.
bool SetRefresher::has_all_adds(const PointerRecord& pointer) const {
  if (!is_whole()) return false;
  const NeededAdds needed = adds_needed_by(live_->adds_from, live_->as_of);
  return !adds_.lacks_any_of(needed) && pointer.adds_trimmed_to <= needed.trimmed_at_most;
}

StoreRecords SetRefresher::ask_store(SteadyTime now) {
  return store_.use(now, [this](Store& store) {
    if (!live_) adds_.skip(store);
    return read_store_records(store, config_.name, store_.name());
  });
}

// Applied to what was live before. While the store is unreachable, the last known state stays.
void SetRefresher::apply(const StoreBypasses& bypasses) {
  const auto until = bypassed_until(bypasses, unix_now());
  if (until) {
    set_store_bypass(publishing_.directory, config_.name, *until);
  } else {
    clear_store_bypass(publishing_.directory, config_.name);
  }
  log_.say_bypass(until);
}

// From where the live snapshot needs it, if that is earlier: what was added while no loader ran may be in the
// new snapshot, and late readers of the old one must know it too.
void SetRefresher::read_adds_of(const SnapshotRecord& record, SteadyTime now) {
  NeededAdds needed = adds_needed_by(record.adds_from, record.as_of);
  if (live_) needed.from = std::min(needed.from, live_->adds_from);
  read_adds(needed, AddsReader::Amount::All, now);
}

void SetRefresher::read_adds(const NeededAdds& needed, AddsReader::Amount amount, SteadyTime now) {
  store_.use(now, [&](Store& store) {
    adds_.read(store, needed, amount);
    return true;
  });
}

// Not while the cache holds an older snapshot, because a newer one could not be saved: that one needs them
// after a reboot.
void SetRefresher::forget_adds(const LogPosition& up_to) {
  if (adds_.has_any_up_to(up_to) && source_.is_cached(*live_)) adds_.forget(up_to);
}

RefreshOutcome SetRefresher::cannot_follow(const Error& error) {
  if (error.kind() != ErrorKind::Older) adds_.read_again();
  return is_refusal(error) ? refused(error) : cannot_ask_store(error);
}

// The directory may also have been wiped in the middle.
RefreshOutcome SetRefresher::cannot_publish_now(const Error& error) const {
  return live_ && error.kind() == ErrorKind::MissingInput ? gone_again() : cannot_publish(error);
}

RefreshOutcome SetRefresher::put_off(const SnapshotRecord& record, RefreshOutcome outcome, Again again,
                                     SteadyTime now) {
  if (again == Again::AfterBackoff) backoff_.failed(now);
  put_off_ = PutOff{record, again == Again::Never, outcome};
  return outcome;
}

RefreshOutcome SetRefresher::put_off_refused(const SnapshotRecord& record, const Error& error, Again again,
                                             SteadyTime now) {
  source_.has_refused();
  recorder_.refused(record, error.kind(), error.what());
  return put_off(record, refused(record, error), again, now);
}

bool SetRefresher::is_put_off(const SnapshotRecord& record, SteadyTime now) const {
  return put_off_ && put_off_->record == record && (put_off_->for_good || !backoff_.is_due(now));
}

}  // namespace keysieve
