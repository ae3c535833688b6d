#include "tests/simulation/simulation.hpp"

#include "core/worker/base/error.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/delete_set.hpp"
#include "tools/transfer/rollback.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve::test {
namespace {

constexpr SimulatedMs kStormLasts = 3 * kHour;
constexpr SimulatedMs kCalmLasts = 2 * kHour;
// Shorter than --adds-overlap by what the clocks of store and builder may differ.
constexpr SimulatedMs kLongestTransaction = 5 * kMinute;
const Guards kAnything{.min_keys = 1, .max_shrink = {}, .max_changed = 1};

}  // namespace

Simulation::Simulation(std::uint64_t seed)
    : Dice(seed),
      time_(seed),
      network_(time_, scheduler_, random_, story_, draw(2) == 0 ? "redis://simulated" : "dir:/simulated"),
      promises_(network_.server(), [this](std::string what) { story_.tell(std::move(what)); }) {
  network_.on_write = [this] { promises_.has_written(); };
  network_.on_read_log = [this](const Machine& reader, std::span<const LogEntry> entries) {
    for (SimulatedHost& host : hosts_) {
      if (&host.machine == &reader) promises_.has_read_log(host, entries);
    }
  };
  const std::size_t count = 2 + draw(2);
  for (std::size_t i = 1; i <= count; ++i) {
    const std::string name = "web" + std::to_string(i);
    promises_.watch(hosts_.emplace_back(time_, network_, name, root_ / name));
  }
  draw_weather();
}

void Simulation::draw_weather() {
  network_.weather = {.lost_calls = draw_rate(100),
                      .lost_answers = draw_rate(200),
                      .late_calls = draw_rate(100),
                      .slow_calls = draw_rate(300)};
  trouble_ = {.cuts = draw_rate(10),
              .kills = draw_rate(10),
              .reboots = draw_rate(5),
              .lost_disks = draw_rate(1),
              .clock_jumps = draw_rate(5),
              .failovers = draw_rate(3),
              .restarts_of_workers = draw_rate(3)};
  // A key that is seldom added is in a build before the next add, so layers are empty.
  adds_come_within_ = draw(3) == 0 ? 40 * kMinute : 2 * kMinute;
  // Within what clocks may differ.
  network_.server_machine.clock_is_off = draw_time(-2 * kMinute, 2 * kMinute);
  builder_.clock_is_off = draw_time(-2 * kMinute, 2 * kMinute);
}

std::string Simulation::run() {
  const auto after_step = [this](const Actor& actor) {
    for (SimulatedHost& host : hosts_) {
      const bool may_concern_any = actor.machine == &operator_ || actor.machine == &fate_;
      if (may_concern_any || actor.machine == &host.machine) promises_.check(host);
    }
  };
  return broken_in(story_, [&] {
    start_actors();
    scheduler_.run_until(kStormLasts, after_step);
    calm_down();
    scheduler_.run_until(kStormLasts + kCalmLasts, after_step);
    check_end();
  });
}

void Simulation::start_actors() {
  for (SimulatedHost& host : hosts_) {
    loaders_[&host] = &scheduler_.start(host.machine.name, host.machine, [this, &host] { load(host); });
    loaders_[&host]->on_kill = [&host] { host.kill_loader(); };
  }
  const auto start = [this](const char* name, const Machine& machine, void (Simulation::*work)()) {
    scheduler_.start(name, machine, [this, work] { (this->*work)(); });
  };
  start("builder", builder_, &Simulation::build_and_push);
  start("second builder", builder_, &Simulation::build_and_push);
  start("adder", adder_, &Simulation::add_keys);
  start("second adder", adder_, &Simulation::add_keys);
  start("operator", operator_, &Simulation::operate);
  start("fate", fate_, &Simulation::make_trouble);
}

// The loader of a host, as often as it is killed and started again, sometimes much later.
void Simulation::load(SimulatedHost& host) {
  for (SimulatedMs rest = 0;; rest = draw(3) == 0 ? draw_time(0, 20 * kMinute) : 0) {
    try {
      scheduler_.sleep(rest);
      host.start_loader();
      promises_.has_started(host);
      promises_.check(host);
      follow(host);
    } catch (const Killed&) {
      host.end_loader();
      if (scheduler_.is_ending()) throw;
      if (const auto reboot = reboots_.find(&host); reboot != reboots_.end()) {
        host.reboot(reboot->second);
        promises_.has_rebooted(host, reboot->second);
        reboots_.erase(reboot);
      }
      story_.tell("is killed");
    }
  }
}

void Simulation::follow(SimulatedHost& host) {
  for (;;) {
    promises_.begins_look(host);
    promises_.has_looked(host, host.look());
    do scheduler_.sleep(draw_time(1, 2 * SimulatedHost::kPollInterval.count()));
    while (draw(2) == 0 && take_adds(host));
  }
}

bool Simulation::take_adds(SimulatedHost& host) {
  promises_.begins_reading(host);
  if (!host.take_adds(draw(2) == 0 ? Changed::Adds : Changed::Anything)) return false;
  story_.tell("takes adds");
  promises_.has_read(host);
  return true;
}

void Simulation::add_keys() {
  while (!is_calm_) {
    scheduler_.sleep(draw_time(1, adds_come_within_));
    add(static_cast<int>(draw(kSimulatedKeys)));
  }
}

// Add, then commit.
void Simulation::add(int key) {
  if (draw(10) == 0) {
    story_.tell("imports " + key_text(key));
    return promises_.import(key);
  }
  const SimulatedMs begun = time_.now;
  promises_.begin_add(key);
  bool is_added = false;
  for (int tries = 0; tries < 3 && !is_added; ++tries) {
    try {
      const auto store = network_.connect();
      const std::string added = key_text(key);
      append_adds(*store, kSimulatedSet, {&added, 1}, [](std::uint64_t /*appended*/) {});
      is_added = true;
    } catch (const Error&) {
    }
  }
  if (draw(2) == 0) scheduler_.sleep(draw_time(0, 4 * kMinute));
  const bool is_committed = is_added && time_.now - begun < kLongestTransaction && draw(10) != 0;
  promises_.end_add(key, is_committed);
  story_.tell(fmt::format("{} {}", is_committed ? "commits" : "gives up", key_text(key)));
}

void Simulation::build_and_push() {
  for (;;) {
    scheduler_.sleep(draw_time(1, 20 * kMinute));
    try {
      const auto store = network_.connect();
      if (promises_.source().empty()) continue;
      const Build& build = build_from_source(*store);
      story_.tell(fmt::format("has made build {}", build.number));
      scheduler_.sleep(draw_time(0, 3 * kMinute));
      push(*store, SnapshotView::decode(build.snapshot.get(), "simulated", Check::Tables), kAnything);
      story_.tell(fmt::format("has pushed build {}", build.number));
    } catch (const Error& error) {
      story_.tell(error.what());
    }
  }
}

// As `keysieve build` does.
const Build& Simulation::build_from_source(Store& store) {
  const UnixSeconds as_of = unix_now();
  const std::int64_t read_at_ms = unix_now_ms();
  const PointerRecord pointer = read_stored_pointer(store, kSimulatedSet).value_or(PointerRecord{});
  const LogPosition from = std::max(adds_from(store, kSimulatedSet, read_at_ms),
                                    adds_trimmed_to(store, kSimulatedSet, pointer.adds_trimmed_to));
  scheduler_.sleep(draw_time(0, kMinute));
  return promises_.build(promises_.source(), from, as_of);
}

void Simulation::operate() {
  for (;;) {
    scheduler_.sleep(draw_time(1, 30 * kMinute));
    if (is_calm_) return;
    try {
      draw(2) == 0 ? roll_back() : publish_by_hand();
    } catch (const Error& error) {
      story_.tell(error.what());
    }
  }
}

// To the oldest that is kept.
void Simulation::roll_back() {
  const auto store = network_.connect();
  const auto pointer = read_pointer(*store, kSimulatedSet);
  if (!pointer || pointer->previous.empty()) return;
  story_.tell("rolls back to " + promises_.name_of(pointer->previous.back().build_id));
  rollback(*store, kSimulatedSet, plan_rollback(*store, kSimulatedSet, pointer->previous.back().generation));
}

void Simulation::publish_by_hand() {
  SimulatedHost& host = hosts_[draw(hosts_.size())];
  const Build* build = promises_.newest_build();
  if (build == nullptr) return;
  const OnMachine there(time_, host.machine);
  promises_.publishes_by_hand(host);
  if (host.publish_by_hand(build->snapshot.get()))
    story_.tell(fmt::format("publishes build {} on {}", build->number, host.machine.name));
}

void Simulation::make_trouble() {
  const unsigned all = trouble_.cuts + trouble_.kills + trouble_.reboots + trouble_.lost_disks +
                       trouble_.clock_jumps + 2 * trouble_.failovers + trouble_.restarts_of_workers;
  if (all == 0) return;
  std::vector<const Machine*> cut;
  for (;;) {
    scheduler_.sleep(draw_time(1, 10 * kMinute));
    if (is_calm_) return;
    SimulatedHost& host = hosts_[draw(hosts_.size())];
    const std::string& name = host.machine.name;
    std::uint64_t which = draw(all);
    const auto is = [&which](unsigned rate) {
      if (which < rate) return true;
      which -= rate;
      return false;
    };
    if (is(trouble_.cuts)) {
      const std::array<const Machine*, 4> all_machines{&host.machine, &host.machine, &builder_, &adder_};
      const Machine& machine = *all_machines[draw(4)];
      if (network_.is_cut_off(machine)) {
        network_.reconnect(machine);
      } else {
        network_.cut_off(machine);
      }
      story_.tell((network_.is_cut_off(machine) ? "cuts off " : "reconnects ") + machine.name);
    } else if (is(trouble_.kills)) {
      scheduler_.kill(*loaders_.at(&host));
      story_.tell("kills the loader of " + name);
    } else if (const bool with_disk = is(trouble_.lost_disks); with_disk || is(trouble_.reboots)) {
      story_.tell("reboots " + name + (with_disk ? ", without its disk" : ""));
      reboots_[&host] = with_disk;
      scheduler_.kill(*loaders_.at(&host));
    } else if (is(trouble_.clock_jumps)) {
      move_clock(host.machine);
    } else if (is(trouble_.failovers)) {
      replica_ = {network_.server().contents, promises_.logged()};
      story_.tell("replicates the store");
    } else if (is(trouble_.failovers)) {
      fail_over();
    } else {
      host.begin_reading();
      story_.tell("restarts the workers of " + name);
    }
  }
}

// To the replica, with all that the store held when it was made.
void Simulation::fail_over() {
  if (!replica_) return;
  network_.replace_server(replica_->first);
  promises_.store_was_replaced(replica_->second);
  story_.tell("replaces the store by its replica");
}

void Simulation::move_clock(Machine& machine) {
  machine.clock_is_off = draw(3) == 0 ? 0 : draw_time(-24 * kHour, 24 * kHour);
  story_.tell(fmt::format("sets the clock of {} off by {} s", machine.name, machine.clock_is_off / kSecond));
}

void Simulation::calm_down() {
  is_calm_ = true;
  network_.weather = {};
  for (const Machine* machine : {&builder_, &adder_}) network_.reconnect(*machine);
  for (SimulatedHost& host : hosts_) {
    network_.reconnect(host.machine);
    host.machine.clock_is_off = 0;
  }
  promises_.import(0);  // an empty set cannot be built
  story_.tell("all is well again");
}

void Simulation::check_end() {
  const auto& pointer = promises_.pointer();
  if (!pointer || !pointer->current) throw Broken{"nothing was pushed while all was well"};
  for (SimulatedHost& host : hosts_) {
    const RefreshOutcome& outcome = host.refresher().outcome();
    if (!outcome.is_good()) throw Broken{host.machine.name + " is still in trouble: " + outcome.reason};
    const OnMachine there(time_, host.machine);
    const Attachment* attached = host.attached();
    for (const int key : promises_.source()) {
      if (!attached->may_contain(attached->snapshot().hasher()(key_text(key))))
        throw Broken{fmt::format("{} calls {} absent at the end", host.machine.name, key_text(key))};
    }
  }
  Server& server = network_.server();
  LogPosition needed = pointer->current->adds_from;
  for (const SnapshotRecord& kept : pointer->previous) needed = std::min(needed, kept.adds_from);
  for (const auto& [name, log] : server.contents.logs) {
    if (!log.entries.empty() && log.entries.begin()->first <= needed)
      throw Broken{"the log " + name + " holds adds that nothing needs any more"};
  }
  // A failover may have left chunks that no record lists.
  delete_set(server, kSimulatedSet);
  if (server.contents.records.size() > 1)
    throw Broken{fmt::format("the store holds {} records of a deleted set", server.contents.records.size())};
}

}  // namespace keysieve::test
