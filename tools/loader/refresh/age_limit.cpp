#include "tools/loader/refresh/age_limit.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "core/worker/base/error.hpp"
#include "tools/program/units.hpp"

namespace keysieve {

AgeLimit::AgeLimit(const SetConfig& config, const LoaderConfig& loader, const SnapshotCache& cache,
                   const std::string& store_name, SetLog& log)
    : config_(config), directory_(loader.directory), cache_(cache), store_name_(store_name), log_(log) {
  use_cache([this] { load(); });
}

// A set that gets a public key starts from nothing: what was saved before may be from a record that anyone
// wrote. What a key has signed counts as long as it is on the list: another may have been stolen.
void AgeLimit::load() {
  if (!is_signed_set()) {
    saved_as_of_ = cache_.newest_as_of(config_.name);
    newest_as_of_ = saved_as_of_;
    return;
  }
  newest_signed_ = saved_signed_ = cache_.newest_signed(config_.name);
  newest_as_of_ = newest_signed_moment().as_of;
  for (const PublicKey& key : config_.public_keys) newest_of(key);
  if (newest_signed_ != saved_signed_) save_signed();  // while there is room for a line of each key
}

SignedMoment& AgeLimit::newest_of(const PublicKey& key) {
  const auto known = std::ranges::find(newest_signed_, key, &NewestSigned::public_key);
  if (known != newest_signed_.end()) return known->moment;
  newest_signed_.push_back({{}, key});
  return newest_signed_.back().moment;
}

SignedMoment AgeLimit::newest_signed_moment() const {
  SignedMoment newest;
  for (const NewestSigned& one : newest_signed_) {
    if (contains(config_.public_keys, one.public_key)) newest = std::max(newest, one.moment);
  }
  return newest;
}

// A higher number is no reason to accept: it may be the number of an old copy, from before the store counted
// from 1 again. A pointer that has come after the live build, with a build that was begun earlier, lists the
// live one among those before. A rollback may be one in a replica that has never had it.
void AgeLimit::check_follows(const PointerRecord& pointer, const LiveSet& set) const {
  const SnapshotRecord& record = *pointer.current;
  check_not_older(record, set);
  const std::optional<LivePublication>& live = set.publication();
  if (!live || live->generation == 0 || record.build_id == live->build_id || record.restores != 0) return;
  const UnixSeconds newest = newest_moment(set);
  const auto is_live = [&](const SnapshotRecord& older) { return older.build_id == live->build_id; };
  if (record.as_of >= newest || std::any_of(pointer.previous.begin(), pointer.previous.end(), is_live))
    return;
  refuse(record, newest);
}

// A lower number alone is no reason to refuse: a store that lost its records counts from 1 again, and then
// the live snapshot may be pushed once more. A replica that lags behind has an older moment too. It is
// compared with the newest moment that was seen, because the live one may have been brought back by a
// rollback.
void AgeLimit::check_not_older(const SnapshotRecord& record, const LiveSet& set) const {
  const std::optional<LivePublication>& live = set.publication();
  if (!live || record.generation >= live->generation) return;
  const UnixSeconds newest = newest_moment(set);
  if (record.as_of > newest || (record.build_id == live->build_id && record.as_of == newest)) return;
  refuse(record, newest);
}

// A client that may write to the store can have it call any snapshot current that was ever signed, under any
// generation and as a rollback. So only the moments of signed headers count.
std::optional<NewestLive> AgeLimit::newest_signed(const LiveSet& set) const {
  if (!is_signed_set()) return std::nullopt;
  SignedMoment newest = newest_signed_moment();
  if (set.is_trusted()) newest = std::max(newest, {set.publication()->as_of, set.publication()->built_at});
  return NewestLive{newest, store_name_};
}

UnixSeconds AgeLimit::newest_moment(const LiveSet& set) const {
  return set.is_trusted() ? std::max(set.publication()->as_of, newest_as_of_) : newest_as_of_;
}

void AgeLimit::refuse(const SnapshotRecord& record, UnixSeconds newest) const {
  std::string advice = "Build and push again";
  if (!is_signed_set()) {
    advice += fmt::format(", or remove {}/{} and {} to take it all the same", directory_, config_.name,
                          cache_.path_of(config_.name));
  }
  throw Error(
      ErrorKind::Older,
      fmt::format(
          "store {} calls it current, as of {}, but newer was there already, as of {}: is the store a "
          "replica or a copy that lags behind? {}",
          store_name_, format_moment(record.as_of), format_moment(newest), advice));
}

void AgeLimit::has_seen(const PointerRecord& pointer, const LiveSet& set) {
  if (is_signed_set()) {
    if (set.is_trusted()) has_seen_signed(*set.publication());
    return;
  }
  if (pointer.current) newest_as_of_ = std::max(newest_as_of_, pointer.current->as_of);
  for (const SnapshotRecord& older : pointer.previous) newest_as_of_ = std::max(newest_as_of_, older.as_of);
  if (newest_as_of_ == saved_as_of_) return;
  use_cache([this] {
    cache_.save_newest_as_of(config_.name, newest_as_of_);
    saved_as_of_ = newest_as_of_;
  });
}

void AgeLimit::has_seen_signed(const LivePublication& live) {
  SignedMoment& newest = newest_of(live.public_key);
  newest = std::max(newest, {live.as_of, live.built_at});
  newest_as_of_ = newest_signed_moment().as_of;
  if (newest_signed_ != saved_signed_) use_cache([this] { save_signed(); });
}

void AgeLimit::save_signed() {
  cache_.save_newest_signed(config_.name, newest_signed_);
  saved_signed_ = newest_signed_;
}

void AgeLimit::use_cache(const std::function<void()>& work) {
  try {
    work();
    failure_.clear();
  } catch (const Error& error) {
    failure_ = error.what();
    log_.say_cache_trouble(failure_);
  }
}

}  // namespace keysieve
