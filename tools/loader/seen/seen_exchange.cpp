#include "tools/loader/seen/seen_exchange.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>

#include "core/builder/base/log_positions.hpp"
#include "core/worker/base/error.hpp"
#include "tools/loader/config/schedule.hpp"

namespace keysieve {
namespace {

constexpr std::uint64_t kWordsAtATime = 1 << 20;  // 16 MiB
constexpr UnixSeconds kLookForOwnEvery = 5;

// It looks at all words. However many there are, it takes one part in so many of a processor's time at most.
// What it waits for the store does not count.
constexpr int kExchangesPerTime = 20;

std::chrono::nanoseconds processor_time() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// More was sent of it than it can hold.
bool takes_tags_away(const OpenFilter& filter) noexcept {
  return filter.tags_sent > kMostTags * filter.plan.size.words;
}

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

bool is_refusal(const std::optional<Error>& failure) noexcept {
  return failure && (failure->kind() == ErrorKind::Data || failure->kind() == ErrorKind::Incompatible);
}

}  // namespace

struct SeenExchange::At {
  Store& store;
  std::string log;
  SeenWriter& writer;
  const Moment& now;
  SeenLogState& state;
  BootSeconds begun_at = boot_now();
};

// What one request appends, and what the log has then: so many tags of each word.
struct SeenExchange::Unsent {
  std::vector<std::string> entries{};
  std::vector<std::pair<std::uint64_t, std::uint8_t>> words{};
  std::uint64_t tags = 0;
  std::uint64_t next_word = 0;
};

// Looks now and then whether the last own entry is still there.
SeenExchange::SeenExchange(const SeenConfig& config, SeenReport& report, Way way, const Moment& begun)
    : config_(config), report_(report), way_(way), begun_at_(begun.unix), next_(Step::Receive) {
  if (way == Way::Send) next_ = Step::Send;
  if (way == Way::Both && begun.unix / kLookForOwnEvery != report.saved_at / kLookForOwnEvery)
    next_ = Step::LookForOwn;
}

std::chrono::nanoseconds SeenExchange::pause() const noexcept {
  return took_ * kExchangesPerTime;
}

bool SeenExchange::step(Store& store, SeenWriter& writer, const Moment& now) {
  const auto begun = processor_time();
  const At at{store, seen_log(store, config_.name), writer, now, writer.page().log};
  begin_log(store, at.log, writer);
  const bool has_more = do_step(at);
  took_ += processor_time() - begun;
  return has_more;
}

bool SeenExchange::do_step(const At& at) {
  switch (next_) {
    case Step::LookForOwn:
      if (has_lost_own(at)) at.state.read_again();
      next_ = Step::Receive;
      [[fallthrough]];
    case Step::Receive:
      if (receive(at)) return true;
      next_ = Step::Send;
      return sends();
    case Step::Send:
      if (send(at)) return true;
      report_.saved_at = begun_at_;
      trim(at);
  }
  return false;
}

// Unless it may have been trimmed.
bool SeenExchange::has_lost_own(const At& at) const {
  const LogPosition& own = at.state.own_at;
  if (milliseconds_of(own) / 1000 + static_cast<std::uint64_t>(config_.window.count() * config_.windows) <
      static_cast<std::uint64_t>(at.now.unix))
    return false;
  const auto found = at.store.read_after(at.log, position_before(own), 1);
  return found.empty() || found.front().position != own;
}

// What cannot be taken over keeps nothing else from being so, and nothing from being sent. What finds no room
// here is tried again. A store that has lost what was sent, after a failover for example, gets all again.
bool SeenExchange::receive(const At& at) {
  const auto take_one = [&](const SeenLogEntry& entry, const LogPosition& position) {
    if (entry.sender == at.state.sender) at.state.own_at = position;
    take(entry, at);
  };
  try {
    if (read_entries(at.store, at.log, at.state.read_to, refused_, take_one)) return true;
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data && error.kind() != ErrorKind::Incompatible &&
        error.kind() != ErrorKind::CannotCreate)
      throw;
    refused_.first = error;
    return false;
  }
  at.state.takes_own = 0;
  if (at.state.own_read < at.state.sent) {
    spdlog::warn("{}: {} does not hold what was saved: all is saved again", config_.name, at.store.name());
    forget_sent(at.writer);
    at.state.own_read = at.state.sent;
  }
  return false;
}

void SeenExchange::take(const SeenLogEntry& entry, const At& at) {
  const bool is_own = entry.sender == at.state.sender;
  std::uint64_t& own_read = at.state.own_read;
  if (is_own && (own_read == 0 || entry.number == own_read + 1)) own_read = entry.number;
  if (is_own && at.state.takes_own == 0) return;
  const SeenWindow& window = entry.plan.window;
  if (std::max(entry.ended_at, window.ends) + window.kept_for <= at.now.unix) return;
  if (entry.seed != at.writer.page().seed) {
    if (entry.host == config_.host) return;  // of an earlier life of the set
    throw Error(ErrorKind::Data,
                fmt::format("host {} has another seed: it began with another store", entry.host));
  }
  add_tags_of(entry, filter_for(entry, at), is_own);
  report_.keys_merged += entry.tags.size();
}

// Makes the filter if this host does not have it, as this host would make it: its window begins, or began
// while the loader was stopped, or has grown on another host. Tags from a clock that is ahead, and of a
// window that is over here but lasted longer there, count as if they had been added here now.
const OpenFilter& SeenExchange::filter_for(const SeenLogEntry& entry, const At& at) const {
  // Workers have added to the newest window while the store was asked.
  const auto [now, since_boot] = moved_on(at.now, at.begun_at);
  const SeenWindow newest = at.writer.filters().back().plan.window;
  const SeenWindow next = seen_window(config_, newest.ends);
  SeenWindow window = entry.plan.window;
  const OpenFilter* same = at.writer.find(id_of(entry.plan));
  const bool is_over = same ? entry.ended_at > at.writer.ended_at(*same).value_or(entry.ended_at)
                            : window.ends + next.kept_for <= now;
  if (window.ends == next.ends && newest.ends <= now + kSeenClockTolerance) {
    window = {now, next.ends, next.kept_for};
  } else if (window.ends > newest.ends || is_over) {
    window = newest;
  } else {  // begun now, so that the window before it counts as one that ended now
    window = {now, window.ends, next.kept_for};
  }
  const OpenFilter* first = at.writer.find({window.ends, 0});
  const SeenPlan plan = plan_of(entry, first ? first->plan : seen_plan(config_, window), config_);
  if (at.writer.find(id_of(plan)) == nullptr) at.writer.append(plan, since_boot);
  return *at.writer.find(id_of(plan));
}

// A filter that cannot be sent keeps no other from being so.
bool SeenExchange::send(const At& at) {
  const auto& filters = at.writer.filters();
  for (std::uint64_t words = kWordsAtATime; words != 0;) {
    const auto filter = std::ranges::find_if(filters, [this](const OpenFilter& one) {
      return id_of(one.plan) >= sending_ && !takes_tags_away(one);
    });
    if (filter == filters.end()) {
      if (std::ranges::none_of(filters, takes_tags_away)) return false;
      throw Error(ErrorKind::Data,
                  "a window is not saved any more: more was added to it than it can hold, so a worker takes "
                  "keys away");
    }
    const FilterId id = id_of(filter->plan);
    if (std::exchange(sending_, id) != id) word_ = 0;
    const Unsent unsent = unsent_of(*filter, word_, words, new_entry(*filter, at));
    words -= unsent.next_word - word_;
    if (!unsent.entries.empty()) at.store.append(at.log, unsent.entries);
    at.state.sent += unsent.entries.size();
    for (const auto& [number, count] : unsent.words) filter->sent()[number] = count;
    filter->tags_sent += unsent.tags;
    report_.keys_saved += unsent.tags;
    word_ = unsent.next_word;
    if (word_ == filter->plan.size.words) {
      ++sending_.growth;
      word_ = 0;
    }
    if (!unsent.entries.empty()) break;
  }
  return true;
}

SeenLogEntry SeenExchange::new_entry(const OpenFilter& filter, const At& at) const {
  return {.seed = at.writer.page().seed,
          .sender = at.state.sender,
          .number = at.state.sent + 1,
          .ended_at = ended_at(filter, at.writer, at.now),
          .plan = filter.plan,
          .host = config_.host};
}

SeenExchange::Unsent SeenExchange::unsent_of(const OpenFilter& filter, std::uint64_t first_word,
                                             std::uint64_t words, SeenLogEntry entry) {
  Unsent unsent;
  const auto put = [&] {
    unsent.entries.push_back(encode(entry));
    ++entry.number;
    entry.tags.clear();
  };
  const std::uint64_t end = first_word + std::min(words, filter.plan.size.words - first_word);
  std::uint64_t word = first_word;
  for (; word < end && unsent.entries.size() < kEntriesAtATime; ++word) {
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

// By position, which is the time of the store: what was appended so long ago has expired. If only a wrong
// clock says so, entries must be there when it is right again: so they go once they have been so old for as
// long once more, by the clock that cannot be set. A clock that is ahead must not trim entries that are yet
// to come.
void SeenExchange::trim(const At& at) const {
  std::int64_t span = config_.window.count() * config_.windows;
  for (const OpenFilter& filter : at.writer.filters()) {
    const SeenWindow& window = filter.plan.window;
    span = std::max(span, window.ends - window.begins + window.kept_for);
  }
  const auto expired =
      static_cast<std::uint64_t>(std::max<std::int64_t>(at.now.unix - span - kSeenClockTolerance, 0));
  const LogPosition up_to = log_position(expired * 1000, 0);
  SeenLogState& state = at.state;
  if (state.trim_to == LogPosition{}) {
    state.trim_to = std::min(up_to, at.store.end_of(at.log));
    state.trim_since = at.now.boot;
  }
  if (at.now.boot - state.trim_since < span) return;
  if (state.trim_to <= up_to) at.store.trim(at.log, state.trim_to);
  state.trim_to = {};
}

bool SeenExchanges::step(SteadyTime steady_now, const Moment& now, SeenWriter& writer) {
  if (!exchange_) begin_if_due(steady_now, now);
  if (!exchange_) return false;
  try {
    const BootSeconds begun_at = boot_now();
    const auto step = [&](Store& store) {  // which may have taken long to open
      return exchange_->step(store, writer, moved_on(now, begun_at));
    };
    if (store_->use(steady_now, step, exchange_->next_use())) return false;
    if (exchange_->sends()) {
      due_at_ = std::max(due_at_, steady_now + exchange_->pause());
      failure_ = {};
    }
  } catch (const Error& error) {
    failure_ = error;
    // Another server may answer next, with less than it should have.
    if (error.is_outage()) writer.page().log.read_again();
  }
  if (exchange_->refused() || !is_refusal(unmerged_)) unmerged_ = exchange_->refused();
  exchange_.reset();
  return true;
}

// While the store takes no appends, it is only read.
void SeenExchanges::begin_if_due(SteadyTime steady_now, const Moment& now) {
  const bool is_due = steady_now >= due_at_;
  if (store_ == nullptr || (!is_due && !is_woken_)) return;
  const auto no_sends = store_->append_failure(steady_now);
  if (is_due && no_sends) failure_ = no_sends;
  const bool sends = is_due && !no_sends;
  exchange_.emplace(config_, report_, sends ? SeenExchange::Way::Both : SeenExchange::Way::Receive, now);
  is_woken_ = false;  // also if the store is away
  if (is_due) due_at_ = is_once_ ? SteadyTime::max() : steady_now + config_.save_interval;
}

SteadyTime SeenExchanges::due_at() const noexcept {
  if (store_ == nullptr) return SteadyTime::max();
  return exchange_ || is_woken_ ? SteadyTime{} : due_at_;
}

void SeenExchanges::begin_save(const Moment& now) {
  exchange_.emplace(config_, report_, SeenExchange::Way::Send, now);
}

void SeenExchanges::begin_window() noexcept {
  if (is_refusal(unmerged_)) unmerged_ = {};
}

}  // namespace keysieve
