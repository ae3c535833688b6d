// One seed for everything: simulated hosts, builders, adders and operators around a simulated store.
// KEYSIEVE_SEED=7 tells the story of one seed; KEYSIEVE_SIMULATION_SECONDS=600 tries seeds for so many
// seconds of a processor, from KEYSIEVE_FIRST_SEED on.
#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>

#include "tests/simulation/seen_simulation.hpp"
#include "tests/simulation/simulation.hpp"

namespace keysieve::test {
namespace {

constexpr std::uint64_t kSeeds = 20;

std::optional<std::uint64_t> number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  return std::strtoull(text, nullptr, 10);
}

// This process's own time, so a simulation gets as far beside other work as alone.
double processor_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Runs simulations of as many seeds as are wanted, and adds each to what was seen. False: too few for all
// that can be seen.
template <typename AnySimulation, typename Add>
bool run_seeds(const Add& add) {
  const std::optional<std::uint64_t> only = number_in("KEYSIEVE_SEED");
  const std::optional<std::uint64_t> seconds = number_in("KEYSIEVE_SIMULATION_SECONDS");
  const std::uint64_t first = only.value_or(number_in("KEYSIEVE_FIRST_SEED").value_or(1));
  const double begun = processor_seconds();
  const auto taken = [begun] { return processor_seconds() - begun; };
  const auto may_try = [&](std::uint64_t seeds) {
    if (only) return seeds < 1;
    return seconds ? taken() < static_cast<double>(*seconds) : seeds < kSeeds;
  };
  std::uint64_t seeds = 0;
  std::uint64_t steps = 0;
  SimulatedMs simulated = 0;
  for (; may_try(seeds); ++seeds) {
    const auto simulation = std::make_unique<AnySimulation>(first + seeds);
    const std::string broken = simulation->run();
    if (!broken.empty()) {
      ADD_FAILURE() << simulation->story().text() << broken << "\n"
                    << ::testing::UnitTest::GetInstance()->current_test_info()->name()
                    << " fails with KEYSIEVE_SEED=" << first + seeds << ", after " << simulated / kHour
                    << " simulated hours";
      return false;
    }
    steps += simulation->steps();
    simulated += simulation->lasted();
    add(*simulation);
  }
  const double hours = static_cast<double>(simulated) / static_cast<double>(kHour);
  fmt::print("{} seeds, {:.0f} simulated hours, {} steps in {:.0f} s of CPU: {:.0f} hours per hour\n", seeds,
             hours, steps, taken(), hours * 3'600 / taken());
  return seeds >= kSeeds;
}

// A failing seed can be looked at again and again.
template <typename AnySimulation>
void expect_same_story_twice() {
  std::optional<std::uint64_t> digest;
  for (int i = 0; i < 2; ++i) {
    AnySimulation simulation(1);
    simulation.run();
    const std::uint64_t told = simulation.story().digest();
    EXPECT_EQ(digest.value_or(told), told);
    digest = told;
  }
}

class SimulatedHosts : public ::testing::Test {
 protected:
  SimulatedHosts() { spdlog::set_level(spdlog::level::off); }
};

TEST_F(SimulatedHosts, KeepWhatSetsPromiseWhateverTheSeed) {
  Promises::Answers all;
  const bool are_many = run_seeds<Simulation>([&all](const Simulation& simulation) {
    const Promises::Answers& answers = simulation.answers();
    all.unknown_and_maybe += answers.unknown_and_maybe;
    all.unknown_and_absent += answers.unknown_and_absent;
    all.values += answers.values;
  });
  if (!are_many) return;
  // All would hold as well if every answer were maybe.
  EXPECT_LT(all.unknown_and_maybe, all.unknown_and_absent / 10);
  EXPECT_GT(all.values, 0U);
}

TEST_F(SimulatedHosts, KeepWhatSeenSetsPromiseWhateverTheSeed) {
  std::uint64_t seen = 0;
  const bool are_many =
      run_seeds<SeenSimulation>([&seen](const SeenSimulation& simulation) { seen += simulation.seen(); });
  if (!are_many) return;
  EXPECT_GT(seen, 0U);
}

TEST_F(SimulatedHosts, DoTheSameForTheSameSeed) {
  expect_same_story_twice<Simulation>();
  expect_same_story_twice<SeenSimulation>();
}

}  // namespace
}  // namespace keysieve::test
