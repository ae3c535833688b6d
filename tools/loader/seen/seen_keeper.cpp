#include "tools/loader/seen/seen_keeper.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "core/builder/base/random.hpp"
#include "core/publisher/seen/seen_sizing.hpp"
#include "tools/loader/config/schedule.hpp"
#include "tools/program/memory_left.hpp"
#include "tools/program/program.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

// A filter may get so many times the keys that it is made for. Looks come too seldom to add the next one
// before exactly so many.
constexpr double kMostFill = 1.5;

// A save looks at all words. However many there are, it takes one part in so many of a processor's time at
// most. What it waits for the store does not count.
constexpr int kSavesPerTime = 20;

std::chrono::nanoseconds processor_time() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

constexpr std::string_view kWhyMemoryGoes =
    "removed (ipcrm), lost with the last process (kernel.shm_rmid_forced), or in another IPC namespace";

}  // namespace

SeenKeeper::SeenKeeper(const SeenConfig& config, const LoaderConfig& loader, StoreConnection* store,
                       std::vector<FileDescriptor>* locks, CheckMemory check_memory)
    : config_(config),
      directory_(loader.directory),
      group_(config.group ? config.group : loader.group),
      store_(store),
      is_once_(loader.is_once),
      locks_(locks),
      check_memory_(std::move(check_memory)),
      exchange_(config_) {
  report_.name = config.name;
  report_.store = config.store;
}

bool SeenKeeper::look(SteadyTime steady_now, const Moment& now) {
  look_at_ = steady_now + kPause;
  if (!is_open_ && room_.is_due(steady_now)) {
    try {
      if (open(steady_now, now)) return true;
      clock_failure_ = {};
    } catch (const Error& error) {
      clock_failure_ = error;
    }
    show_trouble();
  }
  was_looked_at_ = true;
  follow_clock(steady_now, now);
  if (!is_open_ || store_ == nullptr) return false;
  const bool sends = steady_now >= exchange_at_;
  if (!round_ && !sends && !receives_now_) return false;
  if (!round_) {
    round_ = {.receives = true, .sends = sends, .begun_at = now.unix};
    exchange_.begin();
    receives_now_ = false;  // also if the store is away
    if (sends) exchange_at_ = steady_now + config_.save_interval;
  }
  return go_round(steady_now, now);
}

SteadyTime SeenKeeper::due_at() const noexcept {
  if (!is_open_ || store_ == nullptr) return look_at_;
  return receives_now_ || round_ ? SteadyTime{} : std::min(look_at_, exchange_at_);
}

void SeenKeeper::follow_clock(SteadyTime steady_now, const Moment& now) {
  if (steady_now < clock_at_) return;
  clock_at_ = steady_now + kPause;
  if (!is_open_) return show_trouble();
  with_report(clock_failure_, [&] {
    follow_folder();
    writer_->retire(now);  // first, to make room
    if (const std::size_t healed = writer_->heal(); healed != 0) {
      spdlog::warn("{}: the memory of {} was removed (ipcrm?); they are in new memory, nothing is lost",
                   config_.name, format_count_of(healed, "filter"));
    }
    note_clock_change(now);
    if (now.unix >= writer_->filters().back().plan.window.ends) begin_window(now);
    grow_if_needed(now);
    check_clock(now.unix);
  });
  if (lost_until_ < now.boot) lost_ = {};
  writer_->clear_expired_bypass(now.unix);
  writer_->looked(now.unix, is_once_ ? 0 : next_look_by(now.unix, kPause), report_.troubles());
}

// The memory is attached still.
void SeenKeeper::follow_folder() {
  if (writer_->is_in_place()) return;
  writer_->unlock();
  auto moved = new_writer();
  moved->take_over(*writer_);
  writer_ = std::move(moved);
  spdlog::warn(
      "{}: its folder was removed, renamed or hidden by a mount; goes on in a new one, nothing is lost",
      config_.name);
}

// The store still has keys that expired because the clock was ahead.
void SeenKeeper::note_clock_change(const Moment& now) {
  const std::int64_t offset = now.unix - now.boot;
  const std::int64_t change = offset - clock_offset_.value_or(offset);
  clock_offset_ = offset;
  if (std::abs(change) <= kSeenClockTolerance) return;
  spdlog::warn("{}: the clock was set {} by {}", config_.name, change < 0 ? "back" : "forward",
               format_duration(std::chrono::seconds(std::abs(change))));
  if (change < 0 && store_ != nullptr) writer_->page().log.read_again();
}

// A clock that was ahead when the window began.
void SeenKeeper::check_clock(UnixSeconds now) const {
  const SeenWindow& newest = writer_->filters().back().plan.window;
  if (now + kSeenClockTolerance >= newest.begins) return;
  throw Error(ErrorKind::Data, fmt::format("the clock was set back: the newest window began at {}, and lasts "
                                           "until {}",
                                           format_moment(newest.begins), format_moment(newest.ends)));
}

void SeenKeeper::leave(UnixSeconds now) noexcept {
  if (is_open_) return writer_->leave(now);
  try {
    if (writer_ && writer_->is_empty()) writer_->remove();
  } catch (const std::exception& error) {
    spdlog::warn("{}: its folder cannot be removed: {}", config_.name, error.what());
  }
}

void SeenKeeper::try_again_now() {
  look_at_ = clock_at_ = {};
  exchange_at_ = {};
  room_.reset();
  if (store_ != nullptr) store_->try_again_now();
}

std::unique_ptr<SeenWriter> SeenKeeper::new_writer() {
  return std::make_unique<SeenWriter>(directory_, config_.name, group_, check_memory_, locks_);
}

void SeenKeeper::check_window_memory(std::uint64_t bytes) {
  check_memory_for(bytes, "a window");
}

// True: a restore is under way.
bool SeenKeeper::open(SteadyTime steady_now, const Moment& now) {
  if (!restore_) begin(now);
  if (restore_ && restore(steady_now, now)) return true;
  is_open_ = true;
  return false;
}

// Memory is newer than the store.
void SeenKeeper::begin(const Moment& now) {
  if (!adopt(now)) writer_->create(random_value<HashSeed>(), config_.on_unavailable);
  writer_->set_on_unavailable(config_.on_unavailable);
  // Also while it waits for the store.
  writer_->looked(now.unix, is_once_ ? 0 : next_look_by(now.unix, kPause));
  if (!writer_->filters().empty()) {
    spdlog::info("{}: goes on with {}", config_.name, format_count_of(writer_->filters().size(), "filter"));
  } else if (store_ != nullptr) {
    restore_.emplace(config_, now);
  } else {
    writer_->append(seen_plan(config_, seen_window(config_, now.unix)), now.boot);
    spdlog::info("{}: begun, nothing is saved", config_.name);
  }
}

// Until the store has said what it holds, workers answer as on_unavailable says: they would call keys new
// that were seen before a reboot. True: there is more to do.
bool SeenKeeper::restore(SteadyTime steady_now, const Moment& now) {
  try {
    const bool has_more = store_->use(steady_now, [&](Store& store) {
      if (restore_->step(store, *writer_, now)) return true;
      show_restored(store, now);
      return false;
    });
    if (!has_more) restore_.reset();
    return has_more;
  } catch (const Error& error) {
    restore_.reset();
    if (error.kind() == ErrorKind::CannotCreate) room_.failed(steady_now);
    writer_->clear();  // others may need the room
    throw;
  }
}

void SeenKeeper::show_restored(const Store& store, const Moment& now) {
  if (writer_->filters().empty()) {
    spdlog::info("{}: begun, {} holds nothing of it", config_.name, store.name());
  } else {
    spdlog::info("{}: restored {} from {}", config_.name,
                 format_count_of(writer_->filters().size(), "filter"), store.name());
  }
  report_.saves_lost = restore_->saves_lost();
  if (report_.saves_lost != 0) {
    spdlog::error("{}: {} has lost {}", config_.name, store.name(),
                  format_count_of(report_.saves_lost, "save"));
  }
  if (writer_->filters().empty() || writer_->filters().back().plan.window.ends <= now.unix)
    writer_->make(seen_plan(config_, seen_window(config_, now.unix)), now.boot);
  writer_->show();
}

// False if nothing is there.
bool SeenKeeper::adopt(const Moment& now) {
  if (!writer_) writer_ = new_writer();
  if (!writer_->adopt()) return false;
  if (writer_->lost().empty()) return true;
  const auto text = fmt::format("the memory of {} is gone: {}; {}",
                                format_count_of(writer_->lost().size(), "filter"), kWhyMemoryGoes,
                                store_ != nullptr ? "what was saved comes back" : "their keys are forgotten");
  lost_ = Error(ErrorKind::Data, text);
  lost_until_ = now.boot + config_.window.count() * config_.windows;
  writer_->page().log.read_again();
  return true;
}

void SeenKeeper::begin_window(const Moment& now) {
  const SeenWindow window = seen_window(config_, now.unix);
  writer_->append(seen_plan(config_, window), now.boot);
  writer_->retire(now);
  report_.is_full = false;
  unmerged_ = {};
  spdlog::debug("{}: window of {} begun", config_.name, format_moment(window.begins));
}

// Before the next look but one it would have more keys than it is made for.
void SeenKeeper::grow_if_needed(const Moment& now) {
  const OpenFilter& newest = writer_->filters().back();
  const SeenPlan& plan = newest.plan;
  const double keys = seen_fill(newest.filter).keys;
  const double more = std::exchange(watched_, newest.segment.key()) == watched_ ? keys - keys_then_ : 0;
  keys_then_ = keys;
  const auto capacity = static_cast<double>(plan.capacity);
  const bool is_last = plan.growth + 1 == kFiltersPerWindow;
  // A burst between two looks spoils the filter that took it.
  if (keys >= (is_last ? 1.0 : kMostFill) * capacity && !std::exchange(report_.is_full, true)) {
    spdlog::warn(
        "{}: the window is full: it has more keys than its filters are made for, and its false-positive rate "
        "rises; configure more keys [{}]",
        config_.name, to_string(Trouble::SeenFull));
  }
  if (is_last || keys + 2 * more < capacity) return;
  const SeenPlan next = grown(plan);
  writer_->append(next, now.boot);
  spdlog::info("{}: more keys than planned, filter {} of {} added to the window", config_.name,
               next.growth + 1, kFiltersPerWindow);
}

// What cannot be taken over keeps nothing else from being so. What finds no room here is tried again.
bool SeenKeeper::receive(Store& store, const Moment& now) {
  try {
    if (exchange_.receive(store, *writer_, now)) return true;
    lost_ = {};
    if (unmerged_ && unmerged_->kind() == ErrorKind::CannotCreate) unmerged_ = {};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data && error.kind() != ErrorKind::Incompatible &&
        error.kind() != ErrorKind::CannotCreate)
      throw;
    unmerged_ = error;
  }
  return false;
}

// A step. False: that was the last one.
bool SeenKeeper::exchange(Store& store, const Moment& now) {
  if (round_->receives) {
    round_->receives = receive(store, now);
    return round_->receives || round_->sends;
  }
  if (exchange_.send(store, *writer_, now)) return true;
  report_.saved_at = round_->begun_at;
  exchange_.trim(store, *writer_, now);
  return false;
}

bool SeenKeeper::go_round(SteadyTime steady_now, const Moment& now) {
  const auto begun = processor_time();
  bool has_more = false;
  try {
    has_more = store_->use(
        steady_now, [&](Store& store) { return exchange(store, now); },
        round_->receives ? StoreUse::Read : StoreUse::Append);
    round_->took += processor_time() - begun;
    if (!has_more) store_failure_ = {};
    if (!has_more && round_->sends)
      exchange_at_ = std::max(exchange_at_, steady_now + round_->took * kSavesPerTime);
  } catch (const Error& error) {
    store_failure_ = error;
    // Another server may answer next, with less than it should have.
    if (error.is_outage()) writer_->page().log.read_again();
  }
  if (!has_more) round_.reset();
  report_.keys_merged = exchange_.keys_merged();
  report_.keys_saved = exchange_.keys_saved();
  show_trouble();
  return has_more;
}

bool SeenKeeper::save(SteadyTime steady_now, const Moment& now) {
  if (store_ == nullptr) return false;
  if (!std::exchange(is_saving_, true)) {
    restore_.reset();
    round_.reset();
    exchange_.begin();
    // Told to end before its first look: workers have added keys since its predecessor saved.
    if (!is_open_) with_report(clock_failure_, [&] { is_open_ = adopt(now) && !writer_->filters().empty(); });
  }
  bool has_more = false;
  with_report(store_failure_, [&] {
    const auto send = [&](Store& store) { return exchange_.send(store, *writer_, now); };
    has_more = is_open_ && store_->use(steady_now, send, StoreUse::Append);
  });
  is_saving_ = has_more;
  return has_more;
}

template <typename Work>
void SeenKeeper::with_report(Failure& failure, const Work& work) {
  try {
    work();
    failure = {};
  } catch (const Error& error) {
    failure = error;
  }
  show_trouble();
}

// Logs a change once.
void SeenKeeper::show_trouble() {
  const std::array<std::pair<const Failure*, Trouble>, 4> failures{
      {{&clock_failure_, is_open_ ? Trouble::SeenOverdue : Trouble::SeenMissing},
       {&store_failure_, Trouble::SeenNotSaved},
       {&lost_, Trouble::SeenLost},
       {&unmerged_, Trouble::SeenNotSaved}}};
  const auto worst = std::ranges::find_if(
      failures, [](const Failure* one) { return one->has_value(); },
      &std::pair<const Failure*, Trouble>::first);
  const bool is_well = worst == failures.end();
  const std::string text = is_well ? "" : (*worst->first)->what();
  if (text == report_.reason) return;
  report_.reason = text;
  report_.exit_status = is_well ? 0 : exit_status_of((*worst->first)->kind());
  report_.trouble = is_well ? Trouble::None : worst->second;
  if (is_well) {
    spdlog::info("{}: all is well again", config_.name);
  } else {
    spdlog::warn("{}: {} [{}]", config_.name, text, to_string(report_.trouble));
  }
}

}  // namespace keysieve
