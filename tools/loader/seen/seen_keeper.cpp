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

// After the system has killed the loader for the memory that it took. Twice as long each time.
constexpr std::chrono::minutes kShortestPause{1};
constexpr unsigned kMostDoublings = 6;

constexpr std::string_view kWhyMemoryGoes =
    "removed (ipcrm), lost with the last process (kernel.shm_rmid_forced), or in another IPC namespace";

}  // namespace

SeenKeeper::SeenKeeper(const SeenConfig& config, const LoaderConfig& loader, StoreConnection* store,
                       std::function<bool()> on_progress)
    : config_(config),
      directory_(loader.directory),
      group_(config.group ? config.group : loader.group),
      store_(store),
      is_once_(loader.is_once),
      on_progress_(std::move(on_progress)),
      exchange_(config_, on_progress_) {
  report_.name = config.name;
  report_.store = config.store;
}

void SeenKeeper::look(SteadyTime steady_now, const Moment& now) {
  look_at_ = steady_now + kPause;
  steady_now_ = steady_now;
  if (!is_open_ && room_.is_due(steady_now)) with_report(clock_failure_, [&] { open(steady_now, now); });
  was_looked_at_ = true;
  follow_clock(steady_now, now);
  if (!is_open_ || store_ == nullptr) return;
  const bool sends = steady_now >= exchange_at_;
  if (!sends && !receives_now_) return;
  is_exchanging_ = true;
  with_report(store_failure_, [&] { exchange(steady_now, now, sends); });
  is_exchanging_ = false;
}

SteadyTime SeenKeeper::due_at() const noexcept {
  if (!is_open_ || store_ == nullptr) return look_at_;
  return receives_now_ ? SteadyTime{} : std::min(look_at_, exchange_at_);
}

void SeenKeeper::follow_clock(SteadyTime steady_now, const Moment& now) {
  if (steady_now < clock_at_) return;
  clock_at_ = steady_now + kPause;
  steady_now_ = steady_now;
  if (!is_open_) return show_trouble();
  with_report(clock_failure_, [&] {
    if (!is_exchanging_) follow_folder();
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
  return std::make_unique<SeenWriter>(directory_, config_.name, group_,
                                      [this](std::uint64_t bytes) { check_memory(bytes); });
}

void SeenKeeper::check_memory(std::uint64_t bytes) const {
  if (steady_now_ < memory_at_) {
    throw Error(
        ErrorKind::CannotCreate,
        "keysieved was killed while it took memory for a window, so it waits before it tries again: give "
        "its control group more (MemoryMax=, the container's limit)");
  }
  check_memory_for(bytes, "a window");
}

// Memory is newer than the store.
void SeenKeeper::open(SteadyTime steady_now, const Moment& now) {
  if (!adopt(steady_now, now)) writer_->create(random_value<HashSeed>(), config_.on_unavailable);
  writer_->set_on_unavailable(config_.on_unavailable);
  // Also while it waits for the store.
  writer_->looked(now.unix, is_once_ ? 0 : next_look_by(now.unix, kPause));
  if (!writer_->filters().empty()) {
    spdlog::info("{}: goes on with {}", config_.name, format_count_of(writer_->filters().size(), "filter"));
  } else if (store_ != nullptr) {
    try {
      open_from_store(steady_now, now);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::CannotCreate) room_.failed(steady_now);
      writer_->clear();  // others may need the room
      throw;
    }
  } else {
    writer_->append(seen_plan(config_, seen_window(config_, now.unix)), now.boot);
    spdlog::info("{}: begun, nothing is saved", config_.name);
  }
  is_open_ = true;
}

// False if nothing is there.
bool SeenKeeper::adopt(SteadyTime steady_now, const Moment& now) {
  if (!writer_) writer_ = new_writer();
  if (!writer_->adopt()) return false;
  const unsigned deaths = writer_->deaths_taking_memory();
  if (deaths != 0 && memory_at_ == SteadyTime{})  // else it would wait again at each try
    memory_at_ = steady_now + kShortestPause * (1U << std::min(deaths - 1, kMostDoublings));
  if (writer_->lost().empty()) return true;
  const auto text = fmt::format("the memory of {} is gone: {}; {}",
                                format_count_of(writer_->lost().size(), "filter"), kWhyMemoryGoes,
                                store_ != nullptr ? "what was saved comes back" : "their keys are forgotten");
  lost_ = Error(ErrorKind::Data, text);
  lost_until_ = now.boot + config_.window.count() * config_.windows;
  writer_->page().log.read_again();
  return true;
}

// Until the store has said what it holds, workers answer as on_unavailable says: they would call keys new
// that were seen before a reboot.
void SeenKeeper::open_from_store(SteadyTime steady_now, const Moment& now) {
  const MovingMoment moment(now);
  store_->use(steady_now, [&](Store& store) {
    report_.saves_lost = exchange_.restore(store, *writer_, moment);
    if (writer_->filters().empty()) {
      spdlog::info("{}: begun, {} holds nothing of it", config_.name, store.name());
    } else {
      spdlog::info("{}: restored {} from {}", config_.name,
                   format_count_of(writer_->filters().size(), "filter"), store.name());
    }
    if (report_.saves_lost != 0) {
      spdlog::error("{}: {} has lost {}", config_.name, store.name(),
                    format_count_of(report_.saves_lost, "save"));
    }
    const SeenWindow window = seen_window(config_, now.unix);
    if (writer_->filters().empty() || writer_->filters().back().plan.window.ends <= now.unix)
      writer_->make(seen_plan(config_, window), moment.now().boot);
    writer_->show();
    return true;
  });
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
void SeenKeeper::receive(Store& store, const MovingMoment& moment) {
  try {
    report_.keys_merged += exchange_.receive(store, *writer_, moment);
    lost_ = {};
    if (unmerged_ && unmerged_->kind() == ErrorKind::CannotCreate) unmerged_ = {};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data && error.kind() != ErrorKind::Incompatible &&
        error.kind() != ErrorKind::CannotCreate)
      throw;
    unmerged_ = error;
  }
}

void SeenKeeper::exchange(SteadyTime steady_now, const Moment& now, bool sends) {
  const MovingMoment moment(now);
  const auto begun = processor_time();
  receives_now_ = false;  // also if the store is away
  if (sends) exchange_at_ = steady_now + config_.save_interval;
  try {
    store_->use(steady_now, [&](Store& store) {
      receive(store, moment);
      if (!sends) return true;
      report_.keys_saved += exchange_.send(store, *writer_, moment);
      report_.saved_at = now.unix;
      exchange_.trim(store, *writer_, moment);
      return true;
    });
  } catch (const Error& error) {  // another server may answer next, with less than it should have
    if (error.is_outage()) writer_->page().log.read_again();
    throw;
  }
  if (!sends) return;
  const auto took = processor_time() - begun;
  exchange_at_ = std::max(exchange_at_, steady_now + took * kSavesPerTime);
}

void SeenKeeper::save(SteadyTime steady_now, const Moment& now) {
  if (store_ == nullptr) return;
  if (!is_open_) {  // told to end before its first look; workers have added keys since its predecessor saved
    with_report(clock_failure_, [&] { is_open_ = adopt(steady_now, now) && !writer_->filters().empty(); });
  }
  if (!is_open_) return;
  is_exchanging_ = true;
  const MovingMoment moment(now);
  with_report(store_failure_, [&] {
    store_->use(steady_now, [&](Store& store) {
      const auto to_the_end = [this] {
        on_progress_();
        return true;
      };
      return SeenExchange(config_, to_the_end).send(store, *writer_, moment);
    });
  });
  is_exchanging_ = false;
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
