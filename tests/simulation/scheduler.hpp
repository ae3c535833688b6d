// Actors of a simulation, each a process on a machine. One runs until it sleeps; then time moves on to the
// next that is due. Actors that are due in the same millisecond follow in the order of chance.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <random>
#include <string>

#include "tests/simulation/clocks.hpp"
#include "tests/simulation/fiber.hpp"

namespace keysieve::test {

// Thrown where a killed actor sleeps. It is no std::exception, so that the product's code does not catch it.
// Unwinding then only closes descriptors, as the kernel does for a killed process.
struct Killed {};

struct Actor {
  Actor(std::string actor_name, const Machine& its_machine, std::function<void()> work)
      : name(std::move(actor_name)), machine(&its_machine), fiber(std::move(work)) {}

  std::string name;
  const Machine* machine;
  Fiber fiber;
  SimulatedMs wakes_at = 0;
  std::uint64_t tie = 0;
  bool is_killed = false;
  std::function<void()> on_kill = [] {};  // right before Killed is thrown
};

class Scheduler {
 public:
  Scheduler(SimulatedTime& time, std::mt19937_64& random) : time_(time), random_(random) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  // Kills all, so that their stacks are unwound.
  ~Scheduler();

  // What it throws but Killed ends the simulation.
  Actor& start(std::string name, const Machine& machine, std::function<void()> work);
  // The one that runs pauses for so long.
  void sleep(SimulatedMs duration);
  void kill(Actor& actor);
  // Not later than then. It must be asleep.
  void wake(Actor& actor, SimulatedMs at) const;

  // Runs what is due until then, and calls `after_step` whenever an actor has stopped.
  void run_until(SimulatedMs end, const std::function<void(const Actor&)>& after_step);
  // An actor that goes on after being killed must end now.
  [[nodiscard]] bool is_ending() const noexcept { return is_ending_; }
  [[nodiscard]] const Actor* running() const noexcept { return running_; }
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

 private:
  std::list<Actor>::iterator next();
  void resume(Actor& actor);

  SimulatedTime& time_;
  std::mt19937_64& random_;
  std::list<Actor> actors_;
  Actor* running_ = nullptr;
  std::exception_ptr failure_;
  std::uint64_t steps_ = 0;
  bool is_ending_ = false;
};

}  // namespace keysieve::test
