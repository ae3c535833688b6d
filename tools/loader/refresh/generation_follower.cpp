#include "tools/loader/refresh/generation_follower.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/worker/base/error.hpp"
#include "tools/program/memory_left.hpp"
#include "tools/program/units.hpp"
#include "tools/signatures/public_keys.hpp"
#include "tools/transfer/guards.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

bool is_unreadable(const Error& error) noexcept {
  return error.kind() == ErrorKind::Data || error.kind() == ErrorKind::Incompatible;
}

// By itself: the pointer record may be all that cannot be read. Nothing if this record cannot be read either.
StoreBypass read_bypass_of_all(Store& store) try {
  return read_store_bypasses(store, std::nullopt).of_all;
} catch (const Error& error) {
  if (!is_unreadable(error)) throw;
  return std::nullopt;
}

void check_size(std::uint64_t bytes, const SetConfig& config) {
  if (config.max_bytes == 0 || bytes <= config.max_bytes) return;
  throw Error(ErrorKind::MaxSize,
              fmt::format("set \"{}\" is {}, above the limit of {}; max_size of its [[set]] sets that limit",
                          config.name, format_bytes(bytes), format_bytes(config.max_bytes)));
}

// Checks signature, size and guards, and in a set with public keys that it does not go back behind `newest`
// (nothing: it may). The guards measure it against `before`. Throws one of kRefusals.
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

Baseline baseline_of(const LivePublication& live) {
  return {live.key_count, live.seed, live.value_sample};
}

}  // namespace

std::vector<std::optional<std::string>> read_record_texts(Store& store, const std::string& set_name) {
  return store.get_many(std::array{pointer_key(store, set_name), key_of_bypass_of_all(store)});
}

StoreRecords read_store_records(Store& store, const std::string& set_name, const std::string& store_name) {
  StoreRecords records;
  try {
    records.texts = read_record_texts(store, set_name);
    const auto& pointer = records.texts[0];
    records.bypass_of_all = decode_bypass_of_all(records.texts[1]);
    if (pointer)
      records.pointer = decode_pointer_record(*pointer, store_name + ": " + pointer_key(store, set_name));
  } catch (const Error& error) {
    if (!is_unreadable(error)) throw;
    records.pointer_error = error;
    records.bypass_of_all = read_bypass_of_all(store);
  }
  return records;
}

RefreshOutcome GenerationFollower::follow(Publisher& publisher, Store& store, const StoreRecords& records,
                                          SteadyTime now) {
  if (records.pointer_error) return refused(*records.pointer_error);
  if (!records.pointer || !records.pointer->current) {
    // Once something was live, it was pushed: the store has been emptied, or has evicted the record.
    return in_trouble(Trouble::NeverPushed, ErrorKind::MissingInput,
                      fmt::format("store {} holds no snapshot of it{}{}", store_.name(),
                                  live_.publication() ? " any more" : "",
                                  live_.publication() && store.abilities().write ? ": push again" : ""));
  }
  const PointerRecord& pointer = *records.pointer;
  set_.recorder.compared(*pointer.current, live_.has(*pointer.current), now);  // also if it is refused
  if (!live_.has(*pointer.current) || !live_.is_trusted()) {
    if (RefreshOutcome outcome = replace(publisher, store, pointer); !outcome.is_good()) return outcome;
    set_.recorder.compared(*pointer.current, live_.has(*pointer.current), now);
  }
  put_off_.reset();
  if (live_.publication()) keep(publisher, pointer);
  return {};
}

RefreshOutcome GenerationFollower::replace(Publisher& publisher, Store& store, const PointerRecord& pointer) {
  const SnapshotRecord& current = *pointer.current;
  if (put_off_ && put_off_->build != current) try_again_now();
  if (put_off_ && (put_off_->is_whole || !set_.retries.is_due())) return put_off_->outcome;
  try {
    check_follows(pointer, "store " + store_.name());
    check_size(current.bytes, set_.config);
    check_memory_for(current.bytes, "a copy of the snapshot");  // what has no room is not fetched
  } catch (const Error& error) {
    return is_refusal(error) ? refuse(current, error, false) : put_off(current, cannot_publish(error));
  }
  // Before the download, which may be large, and before it is saved: what is in the cache is published
  // without a look at the log. From where the live snapshot needs it, if that is earlier: the cache may hold
  // that for longer than it is live, and then it needs them after a reboot.
  NeededAdds needed = adds_needed_by(current.adds_from, current.as_of);
  if (live_.publication()) needed.from = std::min(needed.from, live_.publication()->adds_from);
  adds_.read(store, needed, pointer, AddsReader::Amount::All);
  std::optional<Candidate> candidate;
  try {
    candidate = fetch(store, current);
    check_candidate(store, *candidate, pointer);
  } catch (const Error& error) {
    if (!is_refusal(error)) throw;
    return refuse(current, error, candidate.has_value());
  }
  if (!candidate->is_cached) {
    is_kept_ = false;
    use_cache([&] {
      cache_.save(current.generation, candidate->snapshot.get());
      kept();
    });
  }
  try {
    live_.publish(publisher, *candidate);
  } catch (const std::exception& error) {
    return put_off(current, cannot_publish(error));
  }
  has_refused_ = false;
  return {};
}

// Shrink and change are measured against the generation before, as push does, so that all hosts decide alike
// whichever generations one of them missed. What was refused must not become the measure.
void GenerationFollower::check_candidate(Store& store, const Candidate& candidate,
                                         const PointerRecord& pointer) {
  const auto& live = live_.publication();
  const SnapshotView view = SnapshotView::decode(candidate.snapshot.get(), candidate.source, Check::Tables);
  std::optional<Baseline> before;
  if (!pointer.previous.empty() && !(live && has_refused_)) {
    before = read_baseline(store, set_.config.name, pointer.previous.front(), view);
  } else if (live) {
    before = baseline_of(*live);
  }
  // When nothing is live, what is in the cache is better than nothing.
  check(candidate, set_.config, candidate.is_cached && !live ? std::nullopt : std::optional(newest()),
        before);
}

// From the cache if that holds it, so that a build that was saved but could not be published is not pulled
// again.
Candidate GenerationFollower::fetch(Store& store, const SnapshotRecord& record) {
  if (auto cached = fetch_cached(record)) return std::move(*cached);
  const Progress stop_when_told = [this](std::uint64_t, std::uint64_t) {
    if (!set_.on_progress()) throw LookAgain{};
  };
  const SteadyTime begun = std::chrono::steady_clock::now();
  auto fetched = keysieve::fetch(store, set_.config.name, record, stop_when_told);
  if (const auto* missing = std::get_if<MissingChunk>(&fetched)) {
    // A push may just have replaced it; then another look finds what is current now.
    if (std::exchange(missed_, record) != record) throw LookAgain{};
    throw_damaged(store, set_.config.name, record, *missing);
  }
  const double seconds = seconds_since(begun);
  set_.recorder.pulled(seconds);
  return {record, std::get<SnapshotBytes>(std::move(fetched)), false,
          "set " + set_.config.name + " of " + store_.name(), seconds};
}

// A cache that cannot be read is no reason not to pull.
std::optional<Candidate> GenerationFollower::fetch_cached(const SnapshotRecord& record) {
  try {
    if (cache_.find() != CachedBuild{record.generation, record.build_id}) return std::nullopt;
    auto cached = cache_.load();
    if (!cached) return std::nullopt;
    return Candidate{record, std::move(cached->bytes), true, cache_as_source()};
  } catch (const Error& error) {
    set_.recorder.cache_failed(error.what());
    return std::nullopt;
  }
}

// In a set with public keys, the signed header decides once it is there. In any other the records of the
// store are believed: the current snapshot may be older than the newest that was seen if it has come after
// the live one. Needs no pull.
//
// A higher number is no reason to accept: it may be the number of an old copy, from before the store counted
// from 1 again. A pointer that has come after the live build, with a build that was begun earlier, lists the
// live one among those before. A rollback may be one in a replica that has never had it.
//
// A lower number alone is no reason to refuse: a store that lost its records counts from 1 again, and then
// the live snapshot may be pushed once more. A replica that lags behind has an older moment too. It is
// compared with the newest moment that was seen, because the live one may have been brought back by a
// rollback.
void GenerationFollower::check_follows(const PointerRecord& pointer, const std::string& source) {
  const auto& live = live_.publication();
  if (!live || is_signed_set()) return;
  const SnapshotRecord& record = *pointer.current;
  const auto is_live = [&](const SnapshotRecord& one) { return one.build_id == live->build_id; };
  const bool counts_up = record.generation >= live->generation;
  if (counts_up && (live->generation == 0 || is_live(record) || record.restores != 0 ||
                    std::ranges::any_of(pointer.previous, is_live)))
    return;
  // If two builds are of the same list, the one with the lower number came first.
  const bool was_before = !counts_up && !is_live(record);
  const auto named = [was_before](std::string_view what, std::uint64_t generation) {
    return was_before ? fmt::format("{} (generation {})", what, generation) : std::string(what);
  };
  check_not_older({record.as_of, was_before ? -1 : 0},
                  named(source + " calls a snapshot current", record.generation), {newest().as_of, 0},
                  named("what was live", live->generation),
                  fmt::format("is it a replica or a copy that lags behind? Build and push again, or remove "
                              "{}/{} and {} to take it all the same",
                              set_.publishing.directory, set_.config.name, cache_.path_of()));
}

SnapshotMoment GenerationFollower::newest() {
  use_cache([this] { cache_.read_seen(); });
  if (!live_.is_trusted()) return cache_.newest();
  const LivePublication& live = *live_.publication();
  return std::max(cache_.newest(), {live.as_of, live.built_at});
}

NewestSeen GenerationFollower::seen_in(const PointerRecord& pointer) const {
  const LivePublication& live = *live_.publication();
  if (is_signed_set()) return {{live.as_of, live.built_at}, live.public_key};
  NewestSeen seen{{pointer.current->as_of, 0}, {}};
  for (const SnapshotRecord& older : pointer.previous)
    seen.moment.as_of = std::max(seen.moment.as_of, older.as_of);
  return seen;
}

// Saves what is live, unless this process knows that it is in the cache, and what was seen.
void GenerationFollower::keep(const Publisher& publisher, const PointerRecord& pointer) {
  if (live_.is_trusted() && cache_.has_seen(seen_in(pointer))) is_kept_ = false;
  if (is_kept_ || (!set_.recorder.report().cache_trouble.empty() && !set_.retries.is_due())) return;
  use_cache([&] {
    const LivePublication& live = *live_.publication();
    if (is_cached(live)) {
      cache_.save_seen();
    } else {
      const auto [bytes, path] = read_live(live, publisher);
      SnapshotView::decode(bytes.get(), path, Check::Everything);  // an older one that is whole is better
      cache_.save(live.generation, bytes.get());
    }
    kept();
  });
}

// Whether a reboot would find that snapshot and no older one.
bool GenerationFollower::is_cached(const LivePublication& live) const noexcept {
  try {
    return cache_.find() == CachedBuild{live.generation, live.build_id};
  } catch (const std::exception&) {
    return false;
  }
}

// A cache that cannot be used, or no memory for it, stops nothing: the set answers all the same.
void GenerationFollower::use_cache(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    set_.retries.failed();
    is_kept_ = false;  // the next keep() finds out whether it has passed
    set_.recorder.not_kept(error.what());
  }
}

void GenerationFollower::kept() {
  is_kept_ = true;
  set_.recorder.kept();
}

// Not while the cache holds an older snapshot, because a newer one could not be saved: that one needs them
// after a reboot.
void GenerationFollower::forget_adds(const PointerRecord& pointer) {
  const auto& live = live_.publication();
  if (!live) return;
  const LogPosition up_to = std::min(live->adds_from, pointer.adds_trimmed_to);
  const bool has_some = adds_.mirror().count_after(up_to) != adds_.mirror().count_after({});
  if (has_some && is_cached(*live)) adds_.forget(up_to);
}

void GenerationFollower::publish_newest_cached(Publisher& publisher, SteadyTime now) {
  std::optional<Candidate> candidate;
  try {
    candidate = checked_from_cache(now);
  } catch (const Error& error) {  // the store may have a better one
    set_.retries.failed();
    set_.recorder.cache_failed(error.what());
  }
  if (!candidate) return;
  try {
    live_.publish(publisher, *candidate);
  } catch (const std::exception&) {
    set_.retries.failed();
    throw;
  }
}

// Checked as if it came from the store, because the configuration may have changed since it was saved. The
// adds that this host had received must be known too, or they would become absent.
std::optional<Candidate> GenerationFollower::checked_from_cache(SteadyTime now) {
  auto cached = cache_.load();
  if (!cached) return std::nullopt;
  const SnapshotHeader header =
      SnapshotView::decode(cached->bytes.get(), cache_.path_of(), Check::Tables).header();
  PointerRecord pointer;
  pointer.current.emplace();
  pointer.current->generation = cached->generation;
  pointer.current->build_id = header.build_id;
  pointer.current->as_of = header.as_of;
  check_follows(pointer, "the cache");
  Candidate candidate{*pointer.current, std::move(cached->bytes), true, cache_as_source()};
  const auto& live = live_.publication();
  check(candidate, set_.config, live ? std::optional(newest()) : std::nullopt,
        live ? std::optional(baseline_of(*live)) : std::nullopt);
  if (!adds_.kept().is_complete()) {
    store_.use(now, [&](Store& store) {
      adds_.read(store, adds_needed_by(header.adds_from, header.as_of), {}, AddsReader::Amount::All, false);
      return true;
    });
  }
  return candidate;
}

RefreshOutcome GenerationFollower::refuse(const SnapshotRecord& build, const Error& error, bool is_whole) {
  has_refused_ = true;
  set_.recorder.refused(build, error.kind(), error.what());
  return put_off(build, refused(build, error), is_whole);
}

RefreshOutcome GenerationFollower::put_off(const SnapshotRecord& build, RefreshOutcome outcome,
                                           bool is_whole) {
  if (!is_whole) set_.retries.failed();
  put_off_ = PutOff{build, outcome, is_whole};
  return outcome;
}

}  // namespace keysieve
