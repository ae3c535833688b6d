#include "tools/loader/seen/seen_keeper.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <algorithm>
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
      exchanges_(config_, store, is_once_, report_) {
  report_.name = config.name;
  report_.store = config.store;
}

void SeenKeeper::look(SteadyTime steady_now, const Moment& now) {
  if (!is_open()) {
    if (!restore_ && steady_now < look_at_) return;
    look_at_ = steady_now + kPause;
    open(steady_now, now);
    if (!is_open()) return show_trouble(now);
    look_at_ = {};
  }
  follow_clock(steady_now, now);
  if (exchanges_.step(steady_now, now, *writer_)) show_trouble(now);
}

SteadyTime SeenKeeper::due_at() const noexcept {
  if (restore_) return {};
  return is_open() ? std::min(look_at_, exchanges_.due_at()) : look_at_;
}

void SeenKeeper::follow_clock(SteadyTime steady_now, const Moment& now) {
  if (!is_open() || steady_now < look_at_) return;
  look_at_ = steady_now + kPause;
  try {
    follow_folder();
    writer_->retire(now);  // first, to make room
    if (const std::size_t healed = writer_->heal(); healed != 0) {
      spdlog::warn("{}: the memory of {} was removed (ipcrm?); they are in new memory, nothing is lost",
                   config_.name, format_count_of(healed, "filter"));
    }
    if (now.unix >= writer_->filters().back().plan.window.ends) begin_window(now);
    grow_if_needed(now);
    check_clock(now.unix);
    failure_ = {};
  } catch (const Error& error) {
    failure_ = error;
  }
  show_trouble(now);
  writer_->clear_expired_bypass(now.unix);
  say_looked(now, report_.troubles());
}

// If the clock was set back, the store still has keys that expired because it was ahead.
void SeenKeeper::say_looked(const Moment& now, const Troubles& troubles) {
  if (now.unix < writer_->page().looked_at) writer_->page().log.read_again();
  writer_->looked(now.unix, is_once_ ? 0 : next_look_by(now.unix, kPause), troubles);
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

// A clock that was ahead when the window began.
void SeenKeeper::check_clock(UnixSeconds now) const {
  const SeenWindow& newest = writer_->filters().back().plan.window;
  if (now + kSeenClockTolerance >= newest.begins) return;
  throw Error(ErrorKind::Data, fmt::format("the clock was set back: the newest window began at {}, and lasts "
                                           "until {}",
                                           format_moment(newest.begins), format_moment(newest.ends)));
}

void SeenKeeper::leave(UnixSeconds now) noexcept {
  if (writer_) writer_->leave(now);
}

void SeenKeeper::try_again_now() {
  look_at_ = {};
  exchanges_.try_again_now();
  if (store_ != nullptr) store_->try_again_now();
}

std::unique_ptr<SeenWriter> SeenKeeper::new_writer() {
  return std::make_unique<SeenWriter>(directory_, config_.name, group_, check_memory_, locks_);
}

void SeenKeeper::check_window_memory(std::uint64_t bytes) {
  check_memory_for(bytes, "a window");
}

void SeenKeeper::open(SteadyTime steady_now, const Moment& now) {
  try {
    if (!restore_) begin(now);
    if (restore_) restore(steady_now, now);
    if (is_open()) failure_ = {};
  } catch (const Error& error) {
    failure_ = error;
  }
}

// Memory is newer than the store.
void SeenKeeper::begin(const Moment& now) {
  if (!adopt()) writer_->create(random_value<HashSeed>(), config_.on_unavailable);
  writer_->set_on_unavailable(config_.on_unavailable);
  say_looked(now);  // also while it waits for the store
  if (!writer_->lost().empty()) lost_until_ = now.boot + config_.window.count() * config_.windows;
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
// that were seen before a reboot.
void SeenKeeper::restore(SteadyTime steady_now, const Moment& now) {
  try {
    const bool has_more = store_->use(steady_now, [&](Store& store) {
      if (restore_->step(store, *writer_, now)) return true;
      show_restored(store, now);
      return false;
    });
    if (!has_more) restore_.reset();
  } catch (const Error& error) {
    restore_.reset();
    if (error.kind() == ErrorKind::CannotCreate) look_at_ = steady_now + kRestorePause;
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
bool SeenKeeper::adopt() {
  if (!writer_) writer_ = new_writer();
  return writer_->adopt();
}

void SeenKeeper::begin_window(const Moment& now) {
  const SeenWindow window = seen_window(config_, now.unix);
  writer_->append(seen_plan(config_, window), now.boot);
  writer_->retire(now);
  report_.is_full = false;
  exchanges_.begin_window();
  spdlog::debug("{}: window of {} begun", config_.name, format_moment(window.begins));
}

// Before the next look but one it would have more keys than it is made for.
void SeenKeeper::grow_if_needed(const Moment& now) {
  const OpenFilter& newest = writer_->filters().back();
  const SeenPlan& plan = newest.plan;
  const double keys = seen_fill(newest.filter).keys;
  const double more = std::max(0.0, keys - std::exchange(keys_then_, keys));  // 0: it is a new one
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

void SeenKeeper::begin_save(const Moment& now) {
  if (store_ == nullptr) return;
  try {
    // Told to end before its first look: workers have added keys since its predecessor saved.
    if (!is_open()) adopt();
  } catch (const Error& error) {
    failure_ = error;
  }
  restore_.reset();
  if (is_open()) exchanges_.begin_save(now);
}

// Until it comes back from the store, or for as long as its keys should have been seen.
std::optional<Error> SeenKeeper::loss(const Moment& now) const {
  if (lost_until_ <= now.boot || (is_open() && writer_->page().log.takes_own == 0)) return {};
  return Error(ErrorKind::Data,
               fmt::format("the memory of {} is gone: {}; {}",
                           format_count_of(writer_->lost().size(), "filter"), kWhyMemoryGoes,
                           store_ != nullptr ? "what was saved comes back" : "their keys are forgotten"));
}

// Logs a change once.
void SeenKeeper::show_trouble(const Moment& now) {
  std::optional<Error> worst;  // the last of these
  Trouble trouble = Trouble::None;
  for (const auto& [failure, its_trouble] :
       {std::pair(exchanges_.unmerged(), Trouble::SeenNotSaved), std::pair(loss(now), Trouble::SeenLost),
        std::pair(exchanges_.failure(), Trouble::SeenNotSaved),
        std::pair(failure_, is_open() ? Trouble::SeenOverdue : Trouble::SeenMissing)}) {
    if (!failure) continue;
    worst = failure;
    trouble = its_trouble;
  }
  const std::string text = worst ? worst->what() : "";
  if (text == report_.reason) return;
  report_.reason = text;
  report_.exit_status = worst ? exit_status_of(worst->kind()) : 0;
  report_.trouble = trouble;
  if (!worst) {
    spdlog::info("{}: all is well again", config_.name);
  } else {
    spdlog::warn("{}: {} [{}]", config_.name, text, to_string(report_.trouble));
  }
}

}  // namespace keysieve
