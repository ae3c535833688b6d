#include "tools/loader/refresh/generation_follower.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/publisher/shm/bypass.hpp"
#include "core/worker/base/error.hpp"
#include "tools/program/memory_left.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {

StoreRecords read_store_records(Store& store, const std::string& set_name, const std::string& store_name) {
  const std::array keys{pointer_key(store, set_name), key_of_bypass_of_all(store)};
  StoreRecords records;
  StoreBypass of_all;
  try {
    const auto texts = store.get_many(keys);
    of_all = decode_bypass_of_all(texts[1]);
    if (texts[0]) records.pointer = decode_pointer_record(*texts[0], store_name + ": " + keys[0]);
    const auto of_set = records.pointer ? records.pointer->bypass_until : std::nullopt;
    records.bypasses = {.of_set = of_set, .of_all = of_all};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data && error.kind() != ErrorKind::Incompatible) throw;
    records.pointer_error = error;
    if (is_in_force(of_all, unix_now())) records.bypasses = {.of_set = {}, .of_all = of_all};
  }
  return records;
}

std::optional<UnixSeconds> apply(const StoreBypasses& bypasses, const std::string& directory,
                                 const std::string& set_name) {
  const std::optional<UnixSeconds> until = bypassed_until(bypasses, unix_now());
  set_store_bypass(directory, set_name, until.value_or(kBypassOver));
  return until;
}

void CacheKeeper::save(std::uint64_t generation, Bytes snapshot, SteadyTime now) {
  is_saved_ = false;
  try {
    cache_.save(set_name_, generation, snapshot);
    backoff_.reset();
    saved();
  } catch (const Error& error) {
    failed(error, now);
  }
}

void CacheKeeper::save_again(const LivePublication& live, const Publisher& publisher, SteadyTime now) {
  if (is_saved_ || !backoff_.is_due(now)) return;
  if (has(live)) return saved();
  try {
    const auto [bytes, path] = read_live(live, publisher);
    SnapshotView::decode(bytes.get(), path, Check::Everything);  // an older one that is whole is better
    save(live.generation, bytes.get(), now);
  } catch (const std::exception& error) {  // or no memory for it: the set answers all the same
    failed(error, now);
  }
}

bool CacheKeeper::has(const LivePublication& live) const noexcept {
  try {
    return cache_.find(set_name_) == CachedBuild{live.generation, live.build_id};
  } catch (const std::exception&) {
    return false;
  }
}

void CacheKeeper::failed(const std::exception& error, SteadyTime now) {
  backoff_.failed(now);
  failure_ = error.what();
  log_.say_cache_trouble(failure_);
}

GenerationFollower::GenerationFollower(const SetConfig& config, const LoaderConfig& loader,
                                       StoreConnection& store, AddsReader& adds, LiveSet& live, At& at,
                                       SetRecorder& recorder, SetLog& log,
                                       const std::function<bool()>& on_progress)
    : config_(config),
      store_(store),
      adds_(adds),
      live_(live),
      at_(at),
      recorder_(recorder),
      log_(log),
      cache_(loader.cache),
      age_(config, loader, cache_, store.name(), log),
      source_(config, store.name(), cache_, on_progress, log),
      keeper_(config.name, cache_, loader.poll_interval, log),
      backoff_(loader.poll_interval) {}

void GenerationFollower::follow(Publisher& publisher, Store& store, const StoreRecords& records,
                                SteadyTime now) {
  at_ = {Step::ReadPointer};
  if (records.pointer_error) throw Error(*records.pointer_error);
  if (!records.pointer || !records.pointer->current) {
    // Once something was live, it was pushed: the store has been emptied, or has evicted the record.
    throw Error(ErrorKind::MissingInput, fmt::format("store {} holds no snapshot of it{}", store_.name(),
                                                     live_.publication() ? " any more: push again" : ""));
  }
  const PointerRecord& pointer = *records.pointer;
  recorder_.compared(*pointer.current, live_.has(*pointer.current), now);  // also if it is refused
  if (!live_.has(*pointer.current) || !live_.is_trusted()) replace(publisher, store, pointer, now);
  recorder_.compared(*pointer.current, live_.has(*pointer.current), now);
  try_again_now();
  age_.has_seen(pointer, live_);
  if (live_.publication()) keeper_.save_again(*live_.publication(), publisher, now);
}

void GenerationFollower::replace(Publisher& publisher, Store& store, const PointerRecord& pointer,
                                 SteadyTime now) {
  const SnapshotRecord& current = *pointer.current;
  if (is_put_off(current, now)) {
    at_ = put_off_->at;
    at_.is_again = true;
    throw Error(put_off_->error);
  }
  at_ = {Step::Compare, current};
  age_.check_follows(pointer, live_);
  const std::optional<NewestLive> newest = age_.newest_signed(live_);
  // Before the download, which may be large, and before it is saved: what is in the cache is published
  // without a look at the log.
  at_.step = Step::ReadAdds;
  adds_.read(store, adds_of(current), pointer, AddsReader::Amount::All);
  at_.step = Step::Publish;  // what has no room is not fetched
  check_memory_for(current.bytes, "a copy of the snapshot");
  at_.step = Step::Fetch;
  const SteadyTime begun = std::chrono::steady_clock::now();
  const Candidate candidate = source_.fetch(store, pointer);
  if (!candidate.is_cached) recorder_.pulled(seconds_since(begun));
  if (candidate.record != current) {  // something was pushed between the look and the pull
    PointerRecord pulled = pointer;
    pulled.current = candidate.record;
    age_.check_follows(pulled, live_);
    adds_.read(store, adds_of(candidate.record), pointer, AddsReader::Amount::All);
  }
  at_ = {Step::Check, candidate.record};
  // Shrink and change are measured against the generation before, as push does, so that all hosts decide
  // alike whichever generations one of them missed. What was refused must not become the measure.
  const auto& live = live_.publication();
  const bool is_by_live = live && (!candidate.before || has_refused_);
  // When nothing is live, what is in the cache is better than nothing.
  check(candidate, config_, candidate.is_cached && !live ? std::nullopt : newest,
        is_by_live ? std::optional(baseline_of(*live)) : candidate.before);
  if (!candidate.is_cached) keeper_.save(candidate.record.generation, candidate.snapshot.get(), now);
  at_.step = Step::Publish;
  live_.publish(publisher, candidate);
  has_refused_ = false;
}

// From where the live snapshot needs it, if that is earlier: the cache may hold it for longer than it is
// live, and then it needs them after a reboot.
NeededAdds GenerationFollower::adds_of(const SnapshotRecord& record) const {
  NeededAdds needed = adds_needed_by(record.adds_from, record.as_of);
  if (live_.publication()) needed.from = std::min(needed.from, live_.publication()->adds_from);
  return needed;
}

// Not while the cache holds an older snapshot, because a newer one could not be saved: that one needs them
// after a reboot.
void GenerationFollower::forget_adds(const PointerRecord& pointer) {
  const auto& live = live_.publication();
  if (!live) return;
  const LogPosition up_to = std::min(live->adds_from, pointer.adds_trimmed_to);
  if (adds_.has_any_up_to(up_to) && keeper_.has(*live)) adds_.forget(up_to);
}

void GenerationFollower::publish_newest_cached(Publisher& publisher, SteadyTime now) {
  std::optional<Candidate> candidate;
  try {
    candidate = checked_from_cache(now);
  } catch (const Error& error) {  // the store may have a better one
    backoff_.failed(now);
    log_.say_cache_trouble(error.what());
  }
  at_ = {Step::PublishCached};
  if (candidate) live_.publish(publisher, *candidate);
}

// Checked as if it came from the store, because the configuration may have changed since it was saved. The
// adds that this host had received must be known too, or they would become absent.
std::optional<Candidate> GenerationFollower::checked_from_cache(SteadyTime now) {
  std::optional<Candidate> candidate = source_.newest_cached();
  if (!candidate) return candidate;
  age_.check_not_older(candidate->record, live_);
  const auto& live = live_.publication();
  check(*candidate, config_, live ? age_.newest_signed(live_) : std::nullopt,
        live ? std::optional(baseline_of(*live)) : std::nullopt);
  if (adds_.is_complete()) return candidate;
  const SnapshotHeader header =
      SnapshotView::decode(candidate->snapshot.get(), candidate->source, Check::Tables).header();
  store_.use(now, [&](Store& store) {
    adds_.read(store, adds_needed_by(header.adds_from, header.as_of), {}, AddsReader::Amount::All, false);
    return true;
  });
  return candidate;
}

void GenerationFollower::put_off(const Error& error, SteadyTime now) {
  if (at_.step != Step::Publish) {
    has_refused_ = true;
    recorder_.refused(at_.build, error.kind(), error.what());
  }
  if (at_.step != Step::Check) backoff_.failed(now);
  put_off_ = PutOff{at_, error};
}

bool GenerationFollower::is_put_off(const SnapshotRecord& record, SteadyTime now) const {
  return put_off_ && put_off_->at.build == record &&
         (put_off_->at.step == Step::Check || !backoff_.is_due(now));
}

}  // namespace keysieve
