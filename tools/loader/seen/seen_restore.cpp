#include "tools/loader/seen/seen_restore.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/builder/base/log_positions.hpp"
#include "tools/transfer/shared_seed.hpp"

namespace keysieve {
namespace {

// When the entry's window had not ended yet: by the host's clock, which may have been behind since before the
// window began, or by that of the store, unless that one is ahead of this host's.
UnixSeconds latest_end_of(const SeenLogEntry& entry, const LogPosition& at, UnixSeconds now) noexcept {
  const auto appended_at = static_cast<UnixSeconds>(milliseconds_of(at) / 1000);
  return appended_at <= now + kSeenClockTolerance ? std::max(entry.ended_at, appended_at) : entry.ended_at;
}

}  // namespace

SeenRestore::SeenRestore(const SeenConfig& config, const Moment& begun)
    : config_(config), begun_(begun), latest_(seen_window(config, begun.unix + kSeenClockTolerance)) {}

bool SeenRestore::step(Store& store, SeenWriter& writer, const Moment& now) {
  const std::string log = seen_log(store, config_.name);
  if (!end_) {
    const auto take = [this](const SeenLogEntry& entry, const LogPosition& at) { learn(entry, at); };
    if (!read_entries(store, log, position_, refused_, take)) decide(store, log, writer);
    return true;
  }
  const auto take = [&](const SeenLogEntry& entry, const LogPosition&) { apply(entry, writer); };
  if (read_entries(store, log, position_, refused_, take, end_)) return true;
  finish(writer, now);
  return false;
}

// From a clock that is ahead, another host may have sent windows that are yet to come.
SeenRestore::WindowKey SeenRestore::key_of(const SeenLogEntry& entry) const {
  FilterId id = id_of(entry.plan);
  if (!is_own(entry)) id.window_ends = std::min(id.window_ends, latest_.ends);
  return {entry.seed.low, entry.seed.high, id};
}

SeenWindow SeenRestore::window_of(const FilterId& id, const Found& found) const {
  if (found.own) return found.own->window;
  return {id.window_ends - config_.window.count(), id.window_ends, latest_.kept_for};
}

// A window that went on beyond its plan ended as late as its entries say.
UnixSeconds SeenRestore::end_of(const FilterId& id, const Found& found) const {
  return std::max(found.ended, window_of(id, found).ends);
}

// If entries have different seeds, that one counts that this host has sent last, or else the last one.
void SeenRestore::learn(const SeenLogEntry& entry, const LogPosition& at) {
  std::uint64_t& number = numbers_[entry.sender];
  if (number != 0 && entry.number > number + 1) lost_ += entry.number - number - 1;
  number = std::max(number, entry.number);
  if (is_own(entry) || !has_own_) seed_ = entry.seed;
  has_own_ |= is_own(entry);
  Found& found = found_[key_of(entry)];
  found.ended = std::max(found.ended, latest_end_of(entry, at, begun_.unix));
  if (is_own(entry) && !found.own) found.own = entry.plan;
}

void SeenRestore::decide(Store& store, const std::string& log, SeenWriter& writer) {
  lost_ = std::max(lost_, refused_.unreadable);  // most of them are among those whose numbers are missing
  writer.create(found_.empty() ? shared_seed(store) : seed_, config_.on_unavailable);
  begin_log(store, log, writer);  // before there are tags, which then count as sent
  end_ = std::exchange(position_, {});
}

void SeenRestore::apply(const SeenLogEntry& entry, SeenWriter& writer) const {
  const WindowKey key = key_of(entry);
  const FilterId& id = std::get<FilterId>(key);
  const auto found = found_.find(key);
  if (entry.seed != writer.page().seed || found == found_.end()) return;
  const SeenWindow window = window_of(id, found->second);
  if (end_of(id, found->second) + window.kept_for <= begun_.unix) return;
  const OpenFilter* filter = writer.find(id);
  if (filter == nullptr) {
    const std::optional<SeenPlan>& own = found->second.own;
    const SeenPlan plan = own ? *own : plan_of(entry, seen_plan(config_, window), config_);
    filter = &writer.make(plan, begun_.boot - std::max<std::int64_t>(begun_.unix - window.begins, 0));
  }
  if (filter->plan.size != entry.plan.size) refuse_plan(entry);
  add_tags_of(entry, *filter, is_own(entry));
}

// A window begins when the one before it has ended. Keys came while the log was read, so the boot clock
// counts from now. If the clock was set back meanwhile, all is read again: nothing else brings back
// what had expired by it.
void SeenRestore::finish(SeenWriter& writer, const Moment& now) const {
  if (refused_.first) spdlog::error("{}: {}", config_.name, refused_.first->what());
  if (now.unix >= begun_.unix) writer.page().log.read_to = *end_;
  const HashSeed& seed = writer.page().seed;
  UnixSeconds before = 0;  // when the windows before have ended
  UnixSeconds latest = 0;
  for (std::size_t i = 0; i < writer.filters().size(); ++i) {
    const SeenPlan& plan = writer.filters()[i].plan;
    if (i != 0 && writer.filters()[i - 1].plan.window.ends != plan.window.ends) before = latest;
    latest = std::max(latest, end_of(id_of(plan), found_.at({seed.low, seed.high, id_of(plan)})));
    const UnixSeconds begins = std::max(plan.window.begins, std::min(before, begun_.unix));
    writer.begin_later(i, begins, now.boot - std::max<std::int64_t>(begun_.unix - begins, 0));
  }
}

}  // namespace keysieve
