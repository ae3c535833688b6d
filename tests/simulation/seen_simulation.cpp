#include "tests/simulation/seen_simulation.hpp"

namespace keysieve::test {
namespace {

constexpr SimulatedMs kSeenStormLasts = 2 * kHour;
constexpr SimulatedMs kSeenCalmLasts = 10 * kMinute;  // longer than the longest backoff
constexpr SimulatedMs kLearningTakes = kMinute;
constexpr std::uint64_t kSeenKeys = 400;
// Two windows of ten minutes: a key stays for the one after its own.
constexpr SimulatedMs kWindow = 10 * kMinute;
constexpr SimulatedMs kClocksRound = 2 * kSecond;  // windows begin and end in whole seconds

SeenConfig clicks(const std::string& host) {
  SeenConfig config;
  config.name = "clicks";
  config.keys = 2'000;
  config.window = std::chrono::minutes(10);
  config.windows = 2;
  config.on_unavailable = OnUnavailable::Seen;
  config.store = "main";
  config.host = host;
  return config;
}

KeyHash hash_of(const SeenReader& reader, std::uint64_t key) {
  return reader.hasher()(std::string_view(reinterpret_cast<const char*>(&key), sizeof key));
}

}  // namespace

SeenMachine::SeenMachine(SimulatedTime& time, Network& network, const std::string& name, std::string root)
    : machine{name}, time_(time), network_(network), root_(std::move(root)) {
  std::filesystem::create_directory(root_);
}

SeenMachine::~SeenMachine() {
  remove_segments_of(folder());
}

std::string SeenMachine::folder() const {
  return seen_directory(root_) + "/clicks";
}

void SeenMachine::start_keeper() {
  LoaderConfig loader;
  loader.directory = root_;
  store_.emplace([this] { return network_.connect(); }, "the store", std::chrono::seconds(1));
  keeper_.emplace(clicks(machine.name), loader, &*store_);
}

bool SeenMachine::look() {
  const Moment now = moment_now();
  const UnixSeconds saved_before = keeper_->report().saved_at;
  do keeper_->look(std::chrono::steady_clock::now(), moment_now());
  while (keeper_->has_more());
  store_->close();
  // It saves at most once in a second, so an equal moment means the look before.
  return saved_before != now.unix && keeper_->report().saved_at == now.unix;
}

void SeenMachine::end_keeper() {
  keeper_.reset();
  store_.reset();
  if (std::filesystem::exists(dead_root())) std::filesystem::rename(dead_root(), root_);
}

void SeenMachine::reboot() {
  reader_.reset();
  remove_segments_of(folder());
  std::filesystem::remove_all(seen_directory(root_));
  machine.booted_at = time_.now;
}

SeenReader& SeenMachine::worker() {
  if (!reader_) reader_.emplace(ReaderSettings{.directory = root_}, "clicks");
  reader_->check_soon();
  reader_->follow();
  return *reader_;
}

bool SeenMachine::add_if_new(std::uint64_t key) {
  SeenReader& reader = worker();
  return reader.is_ready() && reader.add_if_new(hash_of(reader, key)) == SeenAnswer::New;
}

bool SeenMachine::has(std::uint64_t key) {
  SeenReader& reader = worker();
  return reader.is_ready() && reader.may_contain(hash_of(reader, key));
}

SeenSimulation::SeenSimulation(std::uint64_t seed)
    : Dice(seed), time_(seed), network_(time_, scheduler_, random_, story_, "redis://simulated") {
  const std::size_t count = 2 + draw(2);
  for (std::size_t i = 1; i <= count; ++i) {
    const std::string name = "web" + std::to_string(i);
    hosts_.emplace_back(time_, network_, name, root_ / name);
  }
  network_.weather = {.lost_calls = draw_rate(50),
                      .lost_answers = draw_rate(50),
                      .late_calls = draw_rate(20),
                      .slow_calls = draw_rate(50)};
}

std::string SeenSimulation::run() {
  for (Host& host : hosts_) {
    const Machine& machine = host.seen.machine;
    host.keeper = &scheduler_.start(machine.name, machine, [this, &host] { keep(host); });
    host.keeper->on_kill = [&host] { host.seen.kill_keeper(); };
    scheduler_.start(machine.name + "'s worker", machine, [this, &host] { add_keys(host); });
  }
  scheduler_.start("fate", fate_, [this] { make_trouble(); });
  const auto after_step = [](const Actor&) {};
  return broken_in(story_, [&] {
    scheduler_.run_until(kSeenStormLasts, after_step);
    calm_down();
    scheduler_.run_until(kSeenStormLasts + kSeenCalmLasts, after_step);
    check_end();
  });
}

void SeenSimulation::keep(Host& host) {
  for (;;) {
    try {
      host.seen.start_keeper();
      for (;;) {
        look(host);
        scheduler_.sleep(draw(4) == 0 ? draw_time(0, 20 * kSecond) : draw_time(0, 2 * kSecond));
      }
    } catch (const Killed&) {
      host.seen.end_keeper();
      if (scheduler_.is_ending()) throw;
      if (std::exchange(host.reboots, false)) {
        host.seen.reboot();
        for (const auto& [key, since] : std::exchange(host.unsaved, {})) host.since.erase(key);
      }
      story_.tell("starts again");
    }
  }
}

void SeenSimulation::look(Host& host) {
  const std::map<std::uint64_t, SimulatedMs> before = host.unsaved;
  const SimulatedMs clock_is_off = host.seen.machine.clock_is_off;
  if (!host.seen.worker().is_ready()) {
    host.is_ahead |= clock_is_off > 0;
    host.is_behind |= clock_is_off < 0;
  }
  const bool has_saved = host.seen.look();
  story_.tell(has_saved ? "has saved" : host.seen.report().reason);
  if (!has_saved) return;
  if (clock_is_off == 0) host.is_ahead = host.is_behind = false;
  // A key that had expired may be new again meanwhile.
  std::erase_if(host.unsaved, [&](const auto& one) {
    const auto found = before.find(one.first);
    return found != before.end() && found->second == one.second;
  });
}

void SeenSimulation::add_keys(Host& host) {
  while (time_.now < kSeenStormLasts + kSeenCalmLasts - kLearningTakes) {
    scheduler_.sleep(draw_time(0, 20 * kSecond));
    for (int i = 0; i < 10; ++i) add(host, draw(kSeenKeys));
  }
}

void SeenSimulation::add(Host& host, std::uint64_t key) {
  if (host.is_ahead) return;
  const bool is_new = host.seen.add_if_new(key);
  if (is_known(host, key)) {
    ++seen_;
    if (!is_new) return;
    throw Broken{fmt::format("{} calls {} new, of {} s ago", host.seen.machine.name, key,
                             (time_.now - host.since[key]) / kSecond)};
  }
  if (!is_new || host.is_behind) return;
  host.since[key] = time_.now;
  host.unsaved[key] = time_.now;
  story_.tell(fmt::format("{} is new", key));
}

bool SeenSimulation::is_known(const Host& host, std::uint64_t key) const {
  const auto found = host.since.find(key);
  return found != host.since.end() && time_.now < found->second + kWindow - kClocksRound;
}

void SeenSimulation::make_trouble() {
  const unsigned cuts = draw_rate(10);
  const unsigned kills = draw_rate(10);
  const unsigned reboots = draw_rate(10);
  const unsigned clock_jumps = draw_rate(10);
  const unsigned all = cuts + kills + reboots + clock_jumps;
  if (all == 0) return;
  for (;;) {
    scheduler_.sleep(draw_time(1, 5 * kMinute));
    if (is_calm_) return;
    Host& host = hosts_[draw(hosts_.size())];
    Machine& machine = host.seen.machine;
    const std::uint64_t which = draw(all);
    if (which < cuts) {
      if (network_.is_cut_off(machine)) {
        network_.reconnect(machine);
      } else {
        network_.cut_off(machine);
      }
      story_.tell((network_.is_cut_off(machine) ? "cuts off " : "reconnects ") + machine.name);
    } else if (which < cuts + clock_jumps) {
      machine.clock_is_off = draw(2) == 0 ? 0 : draw_time(-kHour, kHour);
      story_.tell(
          fmt::format("sets the clock of {} off by {} s", machine.name, machine.clock_is_off / kSecond));
    } else {
      host.reboots = which < cuts + clock_jumps + reboots;
      story_.tell((host.reboots ? "reboots " : "kills the loader of ") + machine.name);
      scheduler_.kill(*host.keeper);
    }
  }
}

void SeenSimulation::calm_down() {
  is_calm_ = true;
  network_.weather = {};
  for (Host& host : hosts_) {
    network_.reconnect(host.seen.machine);
    host.seen.machine.clock_is_off = 0;
  }
  story_.tell("all is well again");
}

void SeenSimulation::check_end() {
  for (const Host& host : hosts_) {
    for (std::uint64_t key = 0; key < kSeenKeys; ++key) {
      if (!is_known(host, key)) continue;
      for (Host& other : hosts_) {
        const OnMachine there(time_, other.seen.machine);
        if (other.seen.has(key)) continue;
        throw Broken{fmt::format("{} has not learned {} from {}", other.seen.machine.name, key,
                                 host.seen.machine.name)};
      }
    }
  }
}

}  // namespace keysieve::test
