#include "tools/loader/seen/seen_exchange.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "core/builder/base/log_positions.hpp"
#include "core/publisher/seen/seen_sizing.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kMostWordsAtATime = 1 << 20;  // a hostile worker may have changed all of them
constexpr BootSeconds kLookForOwnEvery = 5;

// When the window has ended, or else what time it is. If the clock was set back since the window began, it is
// the time by the clock of then. Example: at 12:05 it is set back by an hour, and a key is saved at 12:15.
// When the clock is right again, a reboot must not forget the key as one of 12:10, when the window should
// have ended.
UnixSeconds ended_at(const OpenFilter& filter, const SeenWriter& writer, const Moment& now) {
  if (const auto ended = writer.ended_at(filter)) return *ended;
  const auto first = std::ranges::find(writer.filters(), filter.plan.window.ends,
                                       [](const OpenFilter& one) { return one.plan.window.ends; });
  return std::max(now.unix, first->plan.window.begins + now.boot - first->begun_at);
}

}  // namespace

// What one request appends, and what the log has then: so many tags of each word.
struct SeenExchange::Unsent {
  std::vector<std::string> entries{};
  std::vector<std::pair<std::uint64_t, std::uint8_t>> words{};
  std::uint64_t tags = 0;
  std::uint64_t next_word = 0;
};

void SeenExchange::begin() noexcept {
  is_receiving_ = false;
  refused_ = {};
  sending_ = {};
  word_ = 0;
  unsent_ = {};
}

void SeenExchange::open_log(Store& store, SeenWriter& writer) {
  log_ = seen_log(store, config_.name);
  begin_log(store, log_, writer);
}

SeenLogEntry SeenExchange::new_entry(const OpenFilter& filter, const SeenWriter& writer,
                                     const Moment& now) const {
  const SeenLogState& state = writer.page().log;
  return {.seed = writer.page().seed,
          .sender = state.sender,
          .number = state.sent + 1,
          .ended_at = ended_at(filter, writer, now),
          .plan = filter.plan,
          .host = config_.host};
}

SeenExchange::Unsent SeenExchange::unsent_of(const OpenFilter& filter, std::uint64_t first_word,
                                             SeenLogEntry entry) {
  Unsent unsent;
  const auto put = [&] {
    unsent.entries.push_back(encode(entry));
    ++entry.number;
    entry.tags.clear();
  };
  std::uint64_t word = first_word;
  for (; word < filter.plan.size.words && unsent.entries.size() < kEntriesAtATime &&
         unsent.words.size() < kMostWordsAtATime;
       ++word) {
    const WordValue value = filter.filter.words()[word].load();
    const std::uint8_t sent = filter.sent()[word];
    if (value.tags() == sent) continue;
    for_each_tag(filter.filter, word, value, sent, [&](const SeenTag& tag) { entry.tags.push_back(tag); });
    unsent.tags += value.tags() - std::min<unsigned>(sent, value.tags());
    unsent.words.emplace_back(word, static_cast<std::uint8_t>(value.tags()));
    if (entry.tags.size() >= kTagsPerEntry) put();
  }
  if (!entry.tags.empty()) put();
  unsent.next_word = word;
  return unsent;
}

void SeenExchange::send_some(Store& store, SeenWriter& writer, const OpenFilter& filter, const Moment& now) {
  const Unsent unsent = unsent_of(filter, word_, new_entry(filter, writer, now));
  std::uint64_t& of_filter = sent_[sending_];
  if (of_filter > kMostTags * filter.plan.size.words) {
    throw Error(ErrorKind::Data,
                "a window is not saved any more: more was added to it than it can hold, so a worker takes "
                "keys away");
  }
  if (!unsent.entries.empty()) {
    store.append(log_, unsent.entries);
    writer.page().log.sent += unsent.entries.size();
  }
  for (const auto& [number, count] : unsent.words) filter.sent()[number] = count;
  of_filter += unsent.tags;
  saved_ += unsent.tags;
  word_ = unsent.next_word;
}

// A filter that cannot be sent keeps no other from being so.
bool SeenExchange::send(Store& store, SeenWriter& writer, const Moment& now) {
  open_log(store, writer);
  const auto filter = std::ranges::find_if(
      writer.filters(), [this](const OpenFilter& one) { return id_of(one.plan) >= sending_; });
  if (filter == writer.filters().end()) {
    std::erase_if(sent_, [&](const auto& one) { return writer.find(one.first) == nullptr; });
    if (unsent_) throw Error(*unsent_);
    return false;
  }
  const FilterId id = id_of(filter->plan);
  if (std::exchange(sending_, id) != id) word_ = 0;
  try {
    send_some(store, writer, *filter, now);
    if (word_ < filter->plan.size.words) return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data) throw;
    if (!unsent_) unsent_ = error;
  }
  ++sending_.growth;
  word_ = 0;
  return true;
}

// Looks now and then whether the last own entry is still there, unless it may have been trimmed.
bool SeenExchange::has_lost_own(Store& store, const SeenLogState& state, const Moment& now) {
  if (std::abs(now.boot - looked_for_own_at_) < kLookForOwnEvery) return false;
  looked_for_own_at_ = now.boot;
  if (milliseconds_of(state.own_at) / 1000 +
          static_cast<std::uint64_t>(config_.window.count() * config_.windows) <
      static_cast<std::uint64_t>(now.unix))
    return false;
  const auto found = store.read_after(log_, position_before(state.own_at), 1);
  return found.empty() || found.front().position != state.own_at;
}

// A store that has lost what was sent, after a failover for example, gets all again.
bool SeenExchange::receive(Store& store, SeenWriter& writer, const Moment& now) {
  open_log(store, writer);
  SeenLogState& state = writer.page().log;
  if (!std::exchange(is_receiving_, true) && has_lost_own(store, state, now)) state.read_again();
  const auto take_one = [&](const SeenLogEntry& entry, const LogPosition& at) {
    if (entry.sender == state.sender) state.own_at = at;
    take(entry, writer, now);
  };
  if (read_entries(store, log_, state.read_to, refused_, take_one)) return true;
  state.takes_own = 0;
  if (state.own_read < state.sent) {
    spdlog::warn("{}: {} does not hold what was saved: all is saved again", config_.name, store.name());
    forget_sent(writer);
    sent_.clear();
    state.own_read = state.sent;
  }
  if (refused_.first) throw Error(*refused_.first);
  return false;
}

void SeenExchange::take(const SeenLogEntry& entry, SeenWriter& writer, const Moment& now) {
  SeenLogState& state = writer.page().log;
  const bool is_own = entry.sender == state.sender;
  if (is_own && (state.own_read == 0 || entry.number == state.own_read + 1)) state.own_read = entry.number;
  if (is_own && state.takes_own == 0) return;
  const SeenWindow& window = entry.plan.window;
  if (std::max(entry.ended_at, window.ends) + window.kept_for <= now.unix) return;
  if (entry.seed != writer.page().seed) {
    if (entry.host == config_.host) return;  // of an earlier life of the set
    throw Error(ErrorKind::Data,
                fmt::format("host {} has another seed: it began with another store", entry.host));
  }
  add_tags_of(entry, filter_for(entry, writer, now), is_own);
  merged_ += entry.tags.size();
}

// Makes the filter if this host does not have it, as this host would make it: its window begins, or began
// while the loader was stopped, or has grown on another host. Tags from a clock that is ahead, and of a
// window that is over here but lasted longer there, count as if they had been added here now.
const OpenFilter& SeenExchange::filter_for(const SeenLogEntry& entry, SeenWriter& writer,
                                           const Moment& now) const {
  const SeenWindow newest = writer.filters().back().plan.window;
  const SeenWindow next = seen_window(config_, newest.ends);
  SeenWindow window = entry.plan.window;
  const OpenFilter* same = writer.find(id_of(entry.plan));
  const bool is_over = same ? entry.ended_at > writer.ended_at(*same).value_or(entry.ended_at)
                            : window.ends + next.kept_for <= now.unix;
  if (window.ends == next.ends && newest.ends <= now.unix + kSeenClockTolerance) {
    window = {now.unix, next.ends, next.kept_for};
  } else if (window.ends > newest.ends || is_over) {
    window = newest;
  } else {  // begun now, so that the window before it counts as one that ended now
    window = {now.unix, window.ends, next.kept_for};
  }
  const OpenFilter* first = writer.find({window.ends, 0});
  const SeenPlan plan = plan_of(entry, first ? first->plan : seen_plan(config_, window), config_);
  if (writer.find(id_of(plan)) == nullptr) writer.append(plan, now.boot);
  return *writer.find(id_of(plan));
}

// By position, which is the time of the store: what was appended so long ago has expired. If only a wrong
// clock says so, entries must be there when it is right again: so they go once they have been so old for as
// long once more, by the clock that cannot be set. A clock that is ahead must not trim entries that are yet
// to come.
void SeenExchange::trim(Store& store, const SeenWriter& writer, const Moment& now) {
  std::int64_t span = config_.window.count() * config_.windows;
  for (const OpenFilter& filter : writer.filters()) {
    const SeenWindow& window = filter.plan.window;
    span = std::max(span, window.ends - window.begins + window.kept_for);
  }
  const auto expired =
      static_cast<std::uint64_t>(std::max<std::int64_t>(now.unix - span - kSeenClockTolerance, 0));
  const LogPosition up_to = log_position(expired * 1000, 0);
  SeenLogState& state = writer.page().log;
  if (state.trim_to == LogPosition{}) {
    state.trim_to = std::min(up_to, store.end_of(log_));
    state.trim_since = now.boot;
  }
  if (now.boot - state.trim_since < span) return;
  if (state.trim_to <= up_to) store.trim(log_, state.trim_to);
  state.trim_to = {};
}

}  // namespace keysieve
