// Loaders on several hosts, builders, adders and operators of one set around one store, all in one thread.
// A seed decides every interleaving, delay and fault; the promises are checked after each step.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>

#include "tests/simulation/dice.hpp"
#include "tests/simulation/host.hpp"
#include "tests/simulation/promises.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {

class Simulation : Dice {
 public:
  explicit Simulation(std::uint64_t seed);

  // Lets things go wrong for some hours, and well for some more; then every host must have what is newest.
  // Returns what is wrong; empty: nothing.
  std::string run();

  [[nodiscard]] const Story& story() const noexcept { return story_; }
  [[nodiscard]] SimulatedMs lasted() const noexcept { return time_.now; }
  [[nodiscard]] std::uint64_t steps() const noexcept { return scheduler_.steps(); }
  [[nodiscard]] const Promises::Answers& answers() const noexcept { return promises_.answers; }

 private:
  // How often what goes wrong beside the network; drawn once. 0: never.
  struct Trouble {
    unsigned cuts = 0;
    unsigned kills = 0;
    unsigned reboots = 0;
    unsigned lost_disks = 0;
    unsigned clock_jumps = 0;
    unsigned failovers = 0;
    unsigned restarts_of_workers = 0;
  };

  void draw_weather();
  void calm_down();
  void start_actors();

  void load(SimulatedHost& host);
  void follow(SimulatedHost& host);
  bool take_adds(SimulatedHost& host);
  void add_keys();
  void add(int key);
  void build_and_push();
  const Build& build_from_source(Store& store);
  void operate();
  void publish_by_hand();
  void roll_back();
  void make_trouble();
  void fail_over();
  void move_clock(Machine& machine);
  void check_end();

  SimulatedTime time_;
  TemporaryDirectory root_{fast_folder()};
  Machine builder_{"builder"};
  Machine adder_{"adder"};
  Machine operator_{"operator"};
  Machine fate_{"fate"};
  Trouble trouble_;
  std::deque<SimulatedHost> hosts_;
  std::map<const SimulatedHost*, Actor*> loaders_;
  std::map<const SimulatedHost*, bool> reboots_;  // that are due, and whether the disk is lost
  Scheduler scheduler_{time_, random_};
  Story story_{time_, scheduler_, root_.path()};
  Network network_;
  Promises promises_;
  std::optional<std::pair<ServerContents, Logged>> replica_;
  SimulatedMs adds_come_within_ = 0;
  bool is_calm_ = false;
};

}  // namespace keysieve::test
