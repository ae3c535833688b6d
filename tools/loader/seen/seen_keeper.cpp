#include "tools/loader/seen/seen_keeper.hpp"

#include <fmt/core.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "tools/loader/config/health_limits.hpp"
#include "tools/program/program.hpp"
#include "tools/program/units.hpp"
#include "tools/transfer/shared_seed.hpp"

namespace keysieve {
namespace {

constexpr UnixSeconds kClockTolerance = 60;

// Of what a filter is made for. Looks come too seldom to add the next one before exactly so many.
constexpr double kMostFill = 1.5;

}  // namespace

SeenKeeper::SeenKeeper(const SeenConfig& config, const LoaderConfig& loader, StoreConnection* store,
                       std::function<bool()> on_progress)
    : config_(config),
      directory_(loader.directory),
      group_(config.group ? config.group : loader.group),
      store_(store),
      is_once_(loader.is_once),
      on_progress_(std::move(on_progress)) {
  report_.name = config.name;
  report_.store = config.store;
}

void SeenKeeper::look(SteadyTime steady_now, UnixSeconds now) {
  if (!is_open_) with_report(clock_failure_, [&] { open(steady_now, now); });
  was_looked_at_ = true;
  follow_clock(now);
  if (is_open_ && store_ != nullptr && steady_now >= exchange_at_) exchange(steady_now, now);
}

void SeenKeeper::follow_clock(UnixSeconds now) {
  if (!is_open_) return show_trouble();
  with_report(clock_failure_, [&] {
    if (!is_exchanging_ && writer_->is_removed()) return close();
    retire(now);  // first, to make room
    if (now >= writer_->entry(writer_->state().end - 1).plan.window.ends) begin_window(now);
    grow_if_needed();
    check_clock(now);
  });
  if (is_open_) writer_->looked(now, is_once_ ? 0 : next_look_by(now, kPause), report_.troubles());
}

// A clock that was ahead when the window began.
void SeenKeeper::check_clock(UnixSeconds now) const {
  const SeenWindow& newest = writer_->entry(writer_->state().end - 1).plan.window;
  if (now + kClockTolerance >= newest.begins) return;
  throw Error(ErrorKind::Data, fmt::format("the clock was set back: the newest window began at {}, and lasts "
                                           "until {}",
                                           format_moment(newest.begins), format_moment(newest.ends)));
}

void SeenKeeper::retire(UnixSeconds now) {
  if (!is_exchanging_) writer_->retire(now);
}

// The next look makes it again, from the store or empty.
void SeenKeeper::close() {
  spdlog::warn("{}: its folder was removed, begins it again", config_.name);
  writer_->clear();
  writer_.reset();
  exchange_.reset();
  is_open_ = false;
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
  exchange_at_ = {};
  if (store_ != nullptr) store_->try_again_now();
}

// What is in memory is newer than what is in the store.
void SeenKeeper::open(SteadyTime steady_now, UnixSeconds now) {
  if (!writer_) writer_ = std::make_unique<SeenWriter>(directory_, config_.name, group_);
  if (!exchange_) exchange_.emplace(config_, on_progress_);
  if (!writer_->adopt()) writer_->create(random_value<std::uint64_t>(), config_.on_unavailable);
  writer_->set_on_unavailable(config_.on_unavailable);
  writer_->looked(now, is_once_ ? 0 : next_look_by(now, kPause));  // also while it waits for the store
  if (!writer_->state().is_empty()) {
    spdlog::info("{}: goes on with {}", config_.name, format_count_of(writer_->state().size(), "filter"));
  } else if (store_ != nullptr) {
    open_from_store(steady_now, now);
  } else {
    writer_->append({seen_plan(config_, seen_window(config_, now))});
    spdlog::info("{}: begun, nothing is saved", config_.name);
  }
  is_open_ = true;
}

// Until the store has said what it holds, workers answer as on_unavailable says: they would call keys new
// that were seen before a reboot.
void SeenKeeper::open_from_store(SteadyTime steady_now, UnixSeconds now) {
  store_->use(steady_now, [&](Store& store) {
    const SeenWindow window = seen_window(config_, now);
    if (const auto found = exchange_->find(store, now)) {
      report_.shards_lost = exchange_->restore(store, *found, window, *writer_);
      spdlog::info("{}: restored {} from {}, as {} saved them", config_.name,
                   format_count_of(found->saved.filters.size(), "filter"), store.name(), found->host);
      if (report_.shards_lost != 0)
        spdlog::error("{}: {} has lost {}", config_.name, store.name(),
                      format_count_of(report_.shards_lost, "shard"));
    } else {
      writer_->create(shared_seed(store), config_.on_unavailable);
      writer_->append({seen_plan(config_, window)});
      spdlog::info("{}: begun, {} holds nothing of it", config_.name, store.name());
    }
    return true;
  });
}

void SeenKeeper::begin_window(UnixSeconds now) {
  const SeenWindow window = seen_window(config_, now);
  writer_->append({seen_plan(config_, window)});
  retire(now);
  report_.is_full = false;
  spdlog::debug("{}: window of {} begun", config_.name, format_moment(window.begins));
}

// Before the next look but one it would have more keys than it is made for.
void SeenKeeper::grow_if_needed() {
  const std::uint32_t number = writer_->state().end - 1;
  const SeenPlan& plan = writer_->entry(number).plan;
  const double keys = seen_fill(writer_->filter(number)).keys;
  const double more = watched_ == number ? keys - keys_then_ : 0;
  watched_ = number;
  keys_then_ = keys;
  const auto capacity = static_cast<double>(plan.capacity);
  const bool is_last = plan.growth + 1 == kFiltersPerWindow;
  // A burst between two looks spoils the filter that took it.
  if (keys >= (is_last ? 1.0 : kMostFill) * capacity) say_full();
  if (is_last || keys + 2 * more < capacity) return;
  const SeenPlan next = grown(plan);
  writer_->append({next});
  spdlog::info("{}: more keys than planned, filter {} of {} added to the window", config_.name,
               next.growth + 1, kFiltersPerWindow);
}

void SeenKeeper::say_full() {
  if (std::exchange(report_.is_full, true)) return;
  spdlog::warn(
      "{}: the window is full: it has more keys than its filters are made for, and its false-positive rate "
      "rises; configure more keys [{}]",
      config_.name, to_string(Trouble::SeenFull));
}

void SeenKeeper::exchange(SteadyTime steady_now, UnixSeconds now) {
  exchange_at_ = steady_now + config_.persist_interval;
  is_exchanging_ = true;
  // First what workers miss after a reboot.
  with_report(merge_failure_, [&] {
    report_.shards_merged +=
        store_->use(steady_now, [&](Store& store) { return exchange_->merge(store, *writer_); });
  });
  with_report(store_failure_, [&] {
    report_.shards_written +=
        store_->use(steady_now, [&](Store& store) { return exchange_->save(store, *writer_); });
    report_.saved_at = now;
  });
  is_exchanging_ = false;
}

template <typename Work>
void SeenKeeper::with_report(Failure& failure, const Work& work) {
  try {
    work();
    failure = {};
  } catch (const Error& error) {
    failure = {error.what(), exit_status_of(error.kind())};
  }
  show_trouble();
}

// Logs a change once.
void SeenKeeper::show_trouble() {
  const Failure& failure = !clock_failure_.text.empty()   ? clock_failure_
                           : !store_failure_.text.empty() ? store_failure_
                                                          : merge_failure_;
  if (failure.text == report_.trouble) return;
  report_.trouble = failure.text;
  report_.exit_status = failure.exit_status;
  report_.code = failure.text.empty()          ? Trouble::None
                 : clock_failure_.text.empty() ? Trouble::SeenNotSaved
                 : is_open_                    ? Trouble::SeenOverdue
                                               : Trouble::SeenMissing;
  if (failure.text.empty()) {
    spdlog::info("{}: all is well again", config_.name);
  } else {
    spdlog::warn("{}: {} [{}]", config_.name, failure.text, to_string(report_.code));
  }
}

}  // namespace keysieve
