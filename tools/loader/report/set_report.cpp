#include "tools/loader/report/set_report.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "tools/program/units.hpp"

namespace keysieve {
namespace {

std::string stays_live(const std::optional<LivePublication>& live) {
  if (!live) return "this process finds nothing live";
  if (live->is_damaged) return "what is live is damaged, lookups answer maybe";
  return fmt::format("generation {} stays live", live->generation);
}

std::string keys_and_size(const LivePublication& live) {
  const std::string known_absent =
      live.known_absent ? ", " + format_count_of(*live.known_absent, "known-absent key") : "";
  return fmt::format("{}{}, {}", format_count_of(live.key_count, "key"), known_absent,
                     format_bytes(live.bytes));
}

HistoryEntry entry_of(std::string_view event, const LivePublication& live) {
  HistoryEntry entry{.at = unix_now(), .event = event};
  entry.generation = live.generation;
  entry.publication = live.id.publication;
  entry.key_count = live.key_count;
  entry.known_absent = live.known_absent.value_or(0);
  entry.bytes = live.bytes;
  return entry;
}

}  // namespace

SetRecorder::SetRecorder(const SetConfig& set) {
  report_.name = set.name;
  report_.store = set.store;
  report_.max_fpr = set.guards.max_fpr;
}

const std::shared_ptr<const SetReport>& SetRecorder::latest() {
  if (!latest_) latest_ = std::make_shared<const SetReport>(report_);
  return latest_;
}

void SetRecorder::published(const LivePublication& live, bool from_cache, double seconds,
                            std::optional<double> pull_seconds) {
  report_.publishes.add(seconds);
  HistoryEntry entry = entry_of(from_cache ? "from_cache" : "published", live);
  entry.pull_seconds = pull_seconds;
  entry.publish_seconds = seconds;
  is_live_now(std::move(entry), live);
  latest_.reset();
  spdlog::info("{}: generation {}{} published as publication {} ({})", report_.name, live.generation,
               from_cache ? " from the cache" : "", live.id.publication, keys_and_size(live));
  said_ = RefreshOutcome{{}, live};
}

void SetRecorder::found(const LivePublication& live) {
  if (last_live_ && last_live_->id == live.id) return;
  const bool is_enlarged = last_live_ && last_live_->build_id == live.build_id &&
                           last_live_->layer.shard_count < live.layer.shard_count;
  is_live_now(entry_of(is_enlarged ? "enlarged" : "found", live), live);
}

void SetRecorder::refused(const SnapshotRecord& record, ErrorKind refusal, const std::string& reason) {
  const std::pair now{record.build_id, refusal};
  if (std::exchange(last_refused_, now) == now) return;
  const auto* const place = std::find(kRefusals.begin(), kRefusals.end(), refusal);
  if (place != kRefusals.end()) ++report_.refused[static_cast<std::size_t>(place - kRefusals.begin())];
  HistoryEntry entry{.at = unix_now(), .event = to_string(Trouble::Refused)};
  entry.generation = record.generation;
  entry.key_count = record.key_count;
  entry.bytes = record.bytes;
  entry.reason = reason;
  remember(std::move(entry));
}

void SetRecorder::damaged(const PublicationId& current, const std::string& reason) {
  ++report_.damages;
  const std::string_view event = to_string(ErrorKind::Data);
  HistoryEntry entry = last_live_ && last_live_->id == current
                           ? entry_of(event, *last_live_)
                           : HistoryEntry{.at = unix_now(), .event = event};
  entry.publication = current.publication;
  entry.reason = reason;
  remember(std::move(entry));
  spdlog::error("{}: bytes in memory had changed: {}", report_.name, reason);
}

void SetRecorder::compared(const SnapshotRecord& current, bool is_live, SteadyTime now) {
  if (is_live) {
    report_.waiting_since.reset();
  } else if (!report_.waiting_since) {
    report_.waiting_since = now;
  }
  report_.store_generation = current.generation;
}

void SetRecorder::looked(const RefreshOutcome& outcome, std::uint64_t adds_kept) {
  say(outcome);
  report_.diagnosis = outcome;
  report_.adds_kept = adds_kept;
  if (outcome.live) found(*outcome.live);
  latest_.reset();
}

void SetRecorder::took_adds(std::uint64_t adds_kept) {
  report_.adds_kept = adds_kept;
  latest_.reset();
}

void SetRecorder::bypassed(std::optional<UnixSeconds> until) {
  if (until == said_bypass_) return;
  if (!until) {
    spdlog::info("{}: not bypassed in the store any more", report_.name);
  } else if (*until == 0) {
    spdlog::warn("{}: bypassed in the store, lookups answer maybe", report_.name);
  } else {
    spdlog::warn("{}: bypassed in the store until {}, lookups answer maybe", report_.name,
                 format_moment(*until));
  }
  said_bypass_ = until;
}

void SetRecorder::skipped(std::string_view kind, const std::string& what) {
  if (said_skipped_.emplace(kind).second) spdlog::warn("{}: {}; it is skipped", report_.name, what);
}

void SetRecorder::cache_failed(const std::string& reason) {
  if (!has_said_cache_trouble_)
    spdlog::warn("{}: the cache cannot be used: {} [{}]", report_.name, reason,
                 to_string(Trouble::NotCached));
  has_said_cache_trouble_ = true;
}

void SetRecorder::not_kept(const std::string& reason) {
  cache_failed(reason);
  report_.cache_trouble = reason;
}

void SetRecorder::kept() {
  if (has_said_cache_trouble_) spdlog::info("{}: what is live is in the cache again", report_.name);
  has_said_cache_trouble_ = false;
  report_.cache_trouble.clear();
}

// Does not compare the reason's words, which may change at every try ("timed out", "connection refused").
void SetRecorder::say(const RefreshOutcome& outcome) {
  if (said_ && said_->trouble == outcome.trouble && said_->exit_status == outcome.exit_status &&
      said_->refused == outcome.refused) {
    if (!outcome.is_good()) spdlog::debug("{}: still: {}", report_.name, outcome.reason);
    return;
  }
  if (!outcome.is_good()) {
    spdlog::warn("{}: {}; {} [{}]", report_.name, outcome.reason, stays_live(outcome.live),
                 to_string(outcome.trouble));
  } else if (said_ && !report_.cache_trouble.empty()) {
    spdlog::warn("{}: generation {} is current again, but the cache cannot be used [{}]", report_.name,
                 outcome.live->generation, to_string(Trouble::NotCached));
  } else if (said_) {
    spdlog::info("{}: all is well again; generation {} is current", report_.name, outcome.live->generation);
  } else {
    spdlog::info("{}: generation {} is live as publication {} ({})", report_.name, outcome.live->generation,
                 outcome.live->id.publication, keys_and_size(*outcome.live));
  }
  said_ = outcome;
}

void SetRecorder::is_live_now(HistoryEntry entry, const LivePublication& live) {
  if (last_live_ && last_live_->build_id != live.build_id) {
    const auto before = static_cast<double>(last_live_->key_count);
    report_.key_change.reset();
    if (before != 0) report_.key_change = static_cast<double>(live.key_count) / before - 1;
  }
  remember(std::move(entry));
  last_live_ = live;
}

void SetRecorder::remember(HistoryEntry entry) {
  report_.history.push_front(std::move(entry));
  if (report_.history.size() > SetReport::kHistoryEntries) report_.history.pop_back();
}

}  // namespace keysieve
