// Hosts that keep the same seen set and exchange it through a store, by a seed as in simulation.hpp. On each
// host a key is new once for as long as windows promise; the others learn it.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "core/worker/seen/seen_reader.hpp"
#include "tests/simulation/dice.hpp"
#include "tests/simulation/network.hpp"
#include "tests/support/segments.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/loader/seen/seen_keeper.hpp"

namespace keysieve::test {

class SeenMachine {
 public:
  SeenMachine(SimulatedTime& time, Network& network, const std::string& name, std::string root);
  SeenMachine(const SeenMachine&) = delete;
  SeenMachine& operator=(const SeenMachine&) = delete;
  ~SeenMachine();

  void start_keeper();
  // Whether it has saved all that was added before.
  bool look();
  void kill_keeper() const { std::filesystem::rename(root_, dead_root()); }
  void end_keeper();
  // Memory is lost; the clock that cannot be set begins again.
  void reboot();

  bool add_if_new(std::uint64_t key);
  bool has(std::uint64_t key);
  SeenReader& worker();
  [[nodiscard]] const SeenReport& report() const { return keeper_->report(); }

  Machine machine;

 private:
  [[nodiscard]] std::string dead_root() const { return root_ + ".dead"; }
  [[nodiscard]] std::string folder() const;

  SimulatedTime& time_;
  Network& network_;
  std::string root_;
  std::optional<StoreConnection> store_;
  std::optional<SeenKeeper> keeper_;
  std::optional<SeenReader> reader_;
};

class SeenSimulation : Dice {
 public:
  explicit SeenSimulation(std::uint64_t seed);

  // As Simulation::run().
  std::string run();

  [[nodiscard]] const Story& story() const noexcept { return story_; }
  [[nodiscard]] SimulatedMs lasted() const noexcept { return time_.now; }
  [[nodiscard]] std::uint64_t steps() const noexcept { return scheduler_.steps(); }
  // How many times a key was known and had to be seen.
  [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }

 private:
  struct Host {
    Host(SimulatedTime& time, Network& network, const std::string& name, const std::string& root)
        : seen(time, network, name, root) {}
    SeenMachine seen;
    std::map<std::uint64_t, SimulatedMs> since{};  // when a key was new
    std::map<std::uint64_t, SimulatedMs> unsaved{};
    Actor* keeper = nullptr;
    bool reboots = false;
    // It has restored with a clock that is ahead, by which what it restores may be over: until a look with a
    // right clock it promises nothing. With one that is behind it promises nothing of keys that come until
    // then.
    bool is_ahead = false;
    bool is_behind = false;
  };

  void keep(Host& host);
  void look(Host& host);
  void add_keys(Host& host);
  void add(Host& host, std::uint64_t key);
  void make_trouble();
  void calm_down();
  void check_end();
  [[nodiscard]] bool is_known(const Host& host, std::uint64_t key) const;

  SimulatedTime time_;
  TemporaryDirectory root_{fast_folder()};
  Machine fate_{"fate"};
  std::deque<Host> hosts_;
  Scheduler scheduler_{time_, random_};
  Story story_{time_, scheduler_, root_.path()};
  Network network_;
  std::uint64_t seen_ = 0;
  bool is_calm_ = false;
};

}  // namespace keysieve::test
