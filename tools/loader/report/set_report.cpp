#include "tools/loader/report/set_report.hpp"

#include <algorithm>
#include <utility>

namespace keysieve {
namespace {

HistoryEntry entry_of(std::string_view event, const LivePublication& live) {
  HistoryEntry entry{.at = unix_now(), .event = event};
  entry.generation = live.generation;
  entry.publication = live.id.publication;
  entry.key_count = live.key_count;
  entry.known_absent = live.known_absent.value_or(0);
  entry.bytes = live.bytes;
  return entry;
}

std::optional<double> change(std::uint64_t before, std::uint64_t now) {
  if (before == 0) return std::nullopt;
  return static_cast<double>(now) / static_cast<double>(before) - 1;
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

void SetRecorder::pulled(double seconds) {
  report_.pulls.add(seconds);
  pull_seconds_ = seconds;
}

void SetRecorder::published(const LivePublication& live, bool from_cache, double seconds) {
  report_.publishes.add(seconds);
  HistoryEntry entry = entry_of(from_cache ? "from_cache" : "published", live);
  entry.pull_seconds = std::exchange(pull_seconds_, std::nullopt);
  entry.publish_seconds = seconds;
  is_live_now(std::move(entry), live);
  latest_.reset();
}

void SetRecorder::found(const LivePublication& live) {
  if (last_live_ && last_live_->id == live.id) return;
  const bool is_enlarged = last_live_ && last_live_->build_id == live.build_id &&
                           last_live_->layer.shard_count < live.layer.shard_count;
  is_live_now(entry_of(is_enlarged ? "enlarged" : "found", live), live);
}

void SetRecorder::refused(const SnapshotRecord& record, ErrorKind refusal, const std::string& reason) {
  pull_seconds_.reset();
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
  report_.diagnosis = outcome;
  report_.adds_kept = adds_kept;
  if (outcome.live) found(*outcome.live);
  latest_.reset();
}

void SetRecorder::took_adds(std::uint64_t adds_kept) {
  report_.adds_kept = adds_kept;
  latest_.reset();
}

void SetRecorder::is_live_now(HistoryEntry entry, const LivePublication& live) {
  if (last_live_ && last_live_->build_id != live.build_id) {
    report_.key_change = change(last_live_->key_count, live.key_count);
  }
  remember(std::move(entry));
  last_live_ = live;
}

void SetRecorder::remember(HistoryEntry entry) {
  report_.history.push_front(std::move(entry));
  if (report_.history.size() > SetReport::kHistoryEntries) report_.history.pop_back();
}

}  // namespace keysieve
