#include "tests/simulation/scheduler.hpp"

#include <algorithm>
#include <tuple>

namespace keysieve::test {

Scheduler::~Scheduler() {
  is_ending_ = true;
  for (Actor& actor : actors_) {
    while (!actor.fiber.has_ended()) {
      actor.is_killed = true;
      resume(actor);
    }
  }
}

Actor& Scheduler::start(std::string name, const Machine& machine, std::function<void()> work) {
  Actor& actor = actors_.emplace_back(std::move(name), machine, [this, work = std::move(work)] {
    try {
      work();
    } catch (const Killed&) {
    } catch (...) {
      failure_ = std::current_exception();
    }
  });
  actor.wakes_at = time_.now;
  actor.tie = random_();
  return actor;
}

void Scheduler::sleep(SimulatedMs duration) {
  Actor& actor = *running_;
  actor.wakes_at = time_.now + duration;
  actor.tie = random_();
  actor.fiber.pause();
  if (!std::exchange(actor.is_killed, false)) return;
  actor.on_kill();
  throw Killed{};
}

void Scheduler::kill(Actor& actor) {
  actor.is_killed = true;
  wake(actor, time_.now);
}

void Scheduler::wake(Actor& actor, SimulatedMs at) const {
  actor.wakes_at = std::min(actor.wakes_at, std::max(at, time_.now));
}

std::list<Actor>::iterator Scheduler::next() {
  return std::ranges::min_element(actors_, {},
                                  [](const Actor& actor) { return std::tuple(actor.wakes_at, actor.tie); });
}

void Scheduler::resume(Actor& actor) {
  const OnMachine there(time_, *actor.machine);
  running_ = &actor;
  actor.fiber.resume();
  running_ = nullptr;
}

void Scheduler::run_until(SimulatedMs end, const std::function<void(const Actor&)>& after_step) {
  for (;;) {
    const auto actor = next();
    if (actor == actors_.end() || actor->wakes_at > end) break;
    time_.now = std::max(time_.now, actor->wakes_at);
    resume(*actor);
    ++steps_;
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    after_step(*actor);
    if (actor->fiber.has_ended()) actors_.erase(actor);
  }
  time_.now = end;
}

}  // namespace keysieve::test
