#include "tools/loader/seen/seen_exchange.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/builder/base/log_positions.hpp"
#include "core/builder/base/random.hpp"
#include "core/publisher/seen/seen_sizing.hpp"
#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"
#include "tools/transfer/shared_seed.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kEntriesAtATime = 16;         // in one request: about 1 MiB
constexpr std::size_t kMostWordsAtATime = 1 << 20;  // a hostile worker may have changed all of them
// How often the log is told that a window that is over goes on: less often than windows end.
constexpr UnixSeconds kMarkEvery = 10;
constexpr BootSeconds kLookForOwnEvery = 5;
// Once a filter is so many times as often wrong as planned, at about 1.3 times its keys, it takes nothing
// more from other hosts. So no host and no worker that adds too many keys spoils another host.
constexpr double kMostRate = 16;

void forget_sent(const SeenWriter& writer) noexcept {
  for (const OpenFilter& filter : writer.filters()) std::ranges::fill(filter.sent(), std::uint8_t{0});
}

// By how much these tags of one block may raise the rate of a filter, with all copies that they need.
double most_rate_of(std::span<const SeenTag> run, const SeenFilter& filter) noexcept {
  const auto tags = static_cast<double>(run.size() + kMostTags);
  const double share = tags / static_cast<double>(std::uint64_t{1} << run.front().bits);
  return std::min(share, 1.0) / static_cast<double>(filter.blocks());
}

// When the entry's window had not ended yet: by the host's clock, which may have been behind since before the
// window began, or by that of the store, unless that one is ahead of this host's.
UnixSeconds latest_end_of(const SeenLogEntry& entry, const LogPosition& at, UnixSeconds now) noexcept {
  const auto appended_at = static_cast<UnixSeconds>(milliseconds_of(at) / 1000);
  return appended_at <= now + kSeenClockTolerance ? std::max(entry.ended_at, appended_at) : entry.ended_at;
}

[[noreturn]] void refuse_plan(const SeenLogEntry& entry) {
  throw Error(
      ErrorKind::Data,
      fmt::format("host {} has other filters: keys, window, windows and fpr must be the same", entry.host));
}

}  // namespace

// What one request appends, and what the log has then: so many tags of each word.
struct SeenExchange::Unsent {
  std::vector<std::string> entries{};
  std::vector<std::pair<std::uint64_t, std::uint8_t>> words{};
  std::uint64_t tags = 0;
  std::uint64_t next_word = 0;
};

// A page that has never been saved, or in another store, is sent as a whole.
void SeenExchange::begin_log(Store& store, SeenWriter& writer) {
  log_ = seen_log(store, config_.name);
  SeenLogState& state = writer.page().log;
  const std::uint64_t id = checksum(as_bytes(store.name() + log_));
  if (state.log == id) return;
  forget_sent(writer);
  state = {.log = id, .sender = random_value<std::uint64_t>()};
}

// Calls take() for each entry behind `position`, which moves on. False: told to stop.
template <typename Take>
bool SeenExchange::read(Store& store, LogPosition& position, Refused& refused, const Take& take) {
  for (;;) {
    if (!on_progress_()) return false;
    const auto found = store.read_after(log_, position, kEntriesAtATime);
    if (found.empty()) return true;
    for (const LogEntry& one : found) {
      try {
        ++refused.unreadable;
        const SeenLogEntry entry = decode_seen_log_entry(one.key, store.name() + ": " + log_);
        --refused.unreadable;
        take(entry, one.position);
      } catch (const Error& error) {
        if (error.kind() != ErrorKind::Data && error.kind() != ErrorKind::Incompatible) throw;
        if (!refused.first) refused.first = error;
      }
      position = one.position;
    }
  }
}

// If entries have different seeds, those count that this host has sent last, or else the last ones. All is
// read once more if a later entry shows that one before it was passed over by mistake:
// - its window had expired by plan, but went on beyond that.
// - its filter is not as this host makes them now, but as it made them when it sent the later entry.
std::uint64_t SeenExchange::restore(Store& store, SeenWriter& writer, const MovingMoment& moment) {
  const Moment now = moment.now();
  log_ = seen_log(store, config_.name);
  const SeenWindow latest = seen_window(config_, now.unix + kSeenClockTolerance);
  std::map<FilterId, UnixSeconds> ended;
  std::map<std::tuple<std::uint64_t, std::uint64_t, FilterId>, SeenPlan> own_plans;  // by seed
  std::uint64_t lost = 0;
  for (bool is_complete = false; !is_complete;) {
    writer.create(shared_seed(store), config_.on_unavailable);
    is_complete = true;
    lost = 0;
    bool has_own = false;
    std::map<std::uint64_t, std::uint64_t> numbers;  // the last one of each sender
    std::set<FilterId> passed_over;
    LogPosition read_to{};
    Refused refused;
    const auto take = [&](const SeenLogEntry& entry, const LogPosition& at) {
      std::uint64_t& number = numbers[entry.sender];
      if (number != 0 && entry.number > number + 1) lost += entry.number - number - 1;
      number = std::max(number, entry.number);
      const bool is_own = entry.host == config_.host;
      if (entry.seed != writer.page().seed) {
        if (has_own && !is_own) return;
        writer.create(entry.seed, config_.on_unavailable);
      }
      has_own |= is_own;
      FilterId id = id_of(entry.plan);
      if (!is_own) id.window_ends = std::min(id.window_ends, latest.ends);  // from a clock that is ahead
      const OpenFilter* filter = writer.find(id);
      const std::tuple of_seed(entry.seed.low, entry.seed.high, id);
      if (is_own && own_plans.emplace(of_seed, entry.plan).second)
        is_complete &= filter ? filter->plan.size == entry.plan.size : !ended.contains(id);
      const auto own_plan = own_plans.find(of_seed);
      const bool is_planned = own_plan != own_plans.end();
      const SeenWindow window =
          is_planned ? own_plan->second.window
                     : SeenWindow{id.window_ends - config_.window.count(), id.window_ends, latest.kept_for};
      UnixSeconds& end = ended[id];
      end = std::max({end, latest_end_of(entry, at, now.unix), window.ends});
      if (end + window.kept_for <= now.unix) {
        passed_over.insert(id);
        return;
      }
      if (filter == nullptr) {
        if (passed_over.contains(id)) is_complete = false;
        const SeenPlan plan = is_planned ? own_plan->second : same_plan(entry, seen_plan(config_, window));
        filter = &writer.make(plan, now.boot - std::max<std::int64_t>(now.unix - window.begins, 0));
      }
      if (filter->plan.size != entry.plan.size) refuse_plan(entry);
      add_tags(entry, *filter, is_own);
    };
    if (!read(store, read_to, refused, take))
      throw Error(ErrorKind::Superseded, "told to stop before all was restored");
    lost = std::max(lost, refused.unreadable);  // most of them are among those whose numbers are missing
    if (refused.first) spdlog::error("{}: {}", config_.name, refused.first->what());
    begin_log(store, writer);
    writer.page().log.read_to = read_to;
  }
  finish_restoring(writer, ended, {now.unix, moment.now().boot});
  return lost;
}

// A window that went on beyond its plan ended as late as its entries say, and the next one began then. Keys
// came while the log was read, so `now` is after that. What was restored need not be sent.
void SeenExchange::finish_restoring(SeenWriter& writer, const std::map<FilterId, UnixSeconds>& ended,
                                    const Moment& now) {
  const std::vector<OpenFilter>& filters = writer.filters();
  UnixSeconds before = 0;  // when the windows before have ended
  UnixSeconds latest = 0;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const SeenPlan& plan = filters[i].plan;
    if (i != 0 && filters[i - 1].plan.window.ends != plan.window.ends) before = latest;
    latest = std::max(latest, ended.at(id_of(plan)));
    const UnixSeconds begins = std::max(plan.window.begins, std::min(before, now.unix));
    writer.begin_later(i, begins, now.boot - std::max<std::int64_t>(now.unix - begins, 0));
    for (std::uint64_t word = 0; word < plan.size.words; ++word)
      filters[i].sent()[word] = static_cast<std::uint8_t>(filters[i].filter.words()[word].load().tags());
  }
}

// When the window has ended, or else what time it is. If the clock was set back since the window began, it is
// the time by the clock of then. Example: at 12:05 it is set back by an hour, and a key is saved at 12:15.
// When the clock is right again, a reboot must not forget the key as one of 12:10, when the window should
// have ended.
UnixSeconds SeenExchange::ended_at(const OpenFilter& filter, const SeenWriter& writer, const Moment& now) {
  if (const auto ended = writer.ended_at(filter)) return *ended;
  const auto first = std::ranges::find(writer.filters(), filter.plan.window.ends,
                                       [](const OpenFilter& one) { return one.plan.window.ends; });
  return std::max(now.unix, first->plan.window.begins + now.boot - first->begun_at);
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
                                             SeenLogEntry entry) const {
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

void SeenExchange::append(Store& store, SeenWriter& writer, const std::vector<std::string>& entries) {
  store.append(log_, entries);
  writer.page().log.sent += entries.size();
}

std::uint64_t SeenExchange::send_filter(Store& store, SeenWriter& writer, const FilterId& id,
                                        const MovingMoment& moment) {
  std::uint64_t tags = 0;
  std::uint64_t word = 0;
  while (const OpenFilter* filter = writer.find(id)) {
    const Unsent unsent = unsent_of(*filter, word, new_entry(*filter, writer, moment.now()));
    std::uint64_t& of_filter = sent_[id];
    if (of_filter > kMostTags * filter->plan.size.words) {
      throw Error(ErrorKind::Data,
                  "a window is not saved any more: more was added to it than it can hold, so a "
                  "worker takes keys away");
    }
    if (!unsent.entries.empty()) append(store, writer, unsent.entries);
    for (const auto& [number, count] : unsent.words) filter->sent()[number] = count;
    of_filter += unsent.tags;
    tags += unsent.tags;
    word = unsent.next_word;
    if (word == filter->plan.size.words || !on_progress_()) break;
  }
  return tags;
}

std::uint64_t SeenExchange::send(Store& store, SeenWriter& writer, const MovingMoment& moment) {
  begin_log(store, writer);
  std::vector<FilterId> ids;
  for (const OpenFilter& filter : writer.filters()) ids.push_back(id_of(filter.plan));
  std::uint64_t tags = 0;
  std::optional<Error> failure;
  for (const FilterId& id : ids) {
    try {
      tags += send_filter(store, writer, id, moment);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Data) throw;
      if (!failure) failure = error;
    }
  }
  std::erase_if(sent_, [&](const auto& one) { return writer.find(one.first) == nullptr; });
  mark_open_window(store, writer, moment.now());
  if (failure) throw Error(*failure);
  return tags;
}

// After a reboot, a window that was over by plan counts as one that ended when it was marked last.
void SeenExchange::mark_open_window(Store& store, SeenWriter& writer, const Moment& now) {
  const OpenFilter& newest = writer.filters().back();
  const UnixSeconds ends = ended_at(newest, writer, now);
  if (ends < newest.plan.window.ends || std::abs(ends - marked_at_) < kMarkEvery) return;
  append(store, writer, {encode(new_entry(newest, writer, now))});
  marked_at_ = ends;
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
std::uint64_t SeenExchange::receive(Store& store, SeenWriter& writer, const MovingMoment& moment) {
  begin_log(store, writer);
  SeenLogState& state = writer.page().log;
  const std::uint64_t sent_before = state.sent;
  if (has_lost_own(store, state, moment.now())) state.read_again();
  std::uint64_t taken = 0;
  Refused refused;
  const auto take_one = [&](const SeenLogEntry& entry, const LogPosition& at) {
    if (entry.sender == state.sender) state.own_at = at;
    taken += take(entry, writer, moment.now());
  };
  if (!read(store, state.read_to, refused, take_one)) return taken;
  state.takes_own = 0;
  if (state.own_read < sent_before) {
    spdlog::warn("{}: {} does not hold what was saved: all is saved again", config_.name, store.name());
    forget_sent(writer);
    sent_.clear();
    state.own_read = state.sent;
  }
  if (refused.first) throw Error(*refused.first);
  return taken;
}

std::uint64_t SeenExchange::take(const SeenLogEntry& entry, SeenWriter& writer, const Moment& now) {
  SeenLogState& state = writer.page().log;
  if (entry.sender == state.sender) {
    if (state.own_read == 0 || entry.number == state.own_read + 1) state.own_read = entry.number;
    if (state.takes_own == 0) return 0;
  }
  if (entry.tags.empty()) return 0;  // a mark
  const SeenWindow& window = entry.plan.window;
  if (std::max(entry.ended_at, window.ends) + window.kept_for <= now.unix) return 0;
  if (entry.seed != writer.page().seed) {
    if (entry.host == config_.host) return 0;  // of an earlier life of the set
    throw Error(ErrorKind::Data,
                fmt::format("host {} has another seed: it began with another store", entry.host));
  }
  return add_tags(entry, filter_for(entry, writer, now), entry.sender == state.sender);
}

// Makes the filter if this host does not have it, as this host would make it: its window begins, or began
// while the loader was stopped, or has grown on another host. Tags from a clock that is ahead, and of a
// window that is over here but lasted longer there, count as if they had been added here now.
const OpenFilter& SeenExchange::filter_for(const SeenLogEntry& entry, SeenWriter& writer, const Moment& now) {
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
  const SeenPlan plan = same_plan(entry, first ? first->plan : seen_plan(config_, window));
  if (writer.find(id_of(plan)) == nullptr) writer.append(plan, now.boot);
  return *writer.find(id_of(plan));
}

// The plan of the entry's filter in a window with that first filter.
SeenPlan SeenExchange::same_plan(const SeenLogEntry& entry, SeenPlan first) const {
  while (first.growth < entry.plan.growth) first = grown(first);
  const UnixSeconds ends = first.window.ends;
  const bool is_aligned = seen_window(config_, ends - config_.window.count()).ends == ends;
  if (!is_aligned || first.size != entry.plan.size) refuse_plan(entry);
  return first;
}

std::uint64_t SeenExchange::add_tags(const SeenLogEntry& entry, const OpenFilter& to, bool is_own) {
  double rate = is_own ? 0 : seen_fill(to.filter).rate;
  for (auto rest = std::span<const SeenTag>(entry.tags); !rest.empty();) {
    const auto run = rest.first(run_length(rest));
    if (!is_own && rate + most_rate_of(run, to.filter) > kMostRate * to.plan.rate) {
      throw Error(ErrorKind::Data,
                  fmt::format("what host {} adds is not taken over: the window has more keys "
                              "than it is made for",
                              entry.host));
    }
    rate += keysieve::add_tags(to.filter, to.sent(), run) / static_cast<double>(to.filter.blocks());
    rest = rest.subspan(run.size());
  }
  return entry.tags.size();
}

// By position, which is the time of the store: what was appended so long ago has expired. If only a wrong
// clock says so, entries must be there when it is right again: so they go once they have been so old for as
// long once more, by the clock that cannot be set. A clock that is ahead must not trim entries that are yet
// to come.
void SeenExchange::trim(Store& store, const SeenWriter& writer, const MovingMoment& moment) {
  const Moment now = moment.now();
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
    state.trim_since = moment.now().boot;
  }
  if (now.boot - state.trim_since < span) return;
  if (state.trim_to <= up_to) store.trim(log_, state.trim_to);
  state.trim_to = {};
}

}  // namespace keysieve
