// Many threads, each with a connection of its own, take their steps in random order.
#include <gmock/gmock.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

#include "tests/tools/transfer/shared_store.hpp"
#include "tests/tools/transfer/stepped_store.hpp"

namespace keysieve::test {
namespace {

// Lets one thread at a time take one step.
class Turns {
 public:
  explicit Turns(std::size_t players) : states_(players, State::AtWork) {}

  // Called by a player before each step; returns at its turn. Throws Crash if the player must die here.
  void wait_for_turn(std::size_t player) {
    std::unique_lock lock(mutex_);
    states_[player] = State::Waiting;
    changed_.notify_all();
    changed_.wait(lock, [&] { return states_[player] != State::Waiting; });
    if (states_[player] == State::Dying) throw Crash{};
  }
  void leave(std::size_t player) {
    const std::scoped_lock lock(mutex_);
    states_[player] = State::Gone;
    changed_.notify_all();
  }

  // Returns the waiting players, once none is at work. For the thread that gives turns.
  std::vector<std::size_t> waiting() {
    std::unique_lock lock(mutex_);
    const auto is_at_work = [](State state) { return state == State::AtWork || state == State::Dying; };
    changed_.wait(lock, [&] { return std::none_of(states_.begin(), states_.end(), is_at_work); });
    std::vector<std::size_t> players;
    for (std::size_t player = 0; player < states_.size(); ++player) {
      if (states_[player] == State::Waiting) players.push_back(player);
    }
    return players;
  }
  void give_turn(std::size_t player, bool to_die) {
    const std::scoped_lock lock(mutex_);
    states_[player] = to_die ? State::Dying : State::AtWork;
    changed_.notify_all();
  }

 private:
  enum class State { AtWork, Waiting, Dying, Gone };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<State> states_;
};

class TurnStore : public SteppedStore {
 public:
  TurnStore(Store& inner, Turns& turns, std::size_t player)
      : SteppedStore(inner), turns_(turns), player_(player) {}

 private:
  void before_step() override { turns_.wait_for_turn(player_); }

  Turns& turns_;
  std::size_t player_;
};

class TakingTurns : public ::testing::TestWithParam<StoreKind> {
 protected:
  void play(const std::vector<Deed>& deeds, unsigned seed) {
    Turns turns(deeds.size());
    std::vector<std::thread> players;
    for (std::size_t player = 0; player < deeds.size(); ++player) {
      players.emplace_back([&, player] {
        try {
          const auto connection = open_store(url_);
          TurnStore store(*connection, turns, player);
          deeds[player](store);
        } catch (const Error&) {
        } catch (const Crash&) {
        }
        turns.leave(player);
      });
    }
    give_turns(turns, seed);
    for (std::thread& player : players) player.join();
  }

  std::string url_;
  std::unique_ptr<Store> store_;
  TemporaryDirectory directory_{fast_folder()};

 private:
  void give_turns(Turns& turns, unsigned seed) {
    constexpr unsigned kStepsPerDeath = 40;
    std::mt19937 random(seed);
    for (auto waiting = turns.waiting(); !waiting.empty(); waiting = turns.waiting()) {
      const bool to_die = random() % kStepsPerDeath == 0;
      turns.give_turn(waiting[random() % waiting.size()], to_die);
      static_cast<void>(turns.waiting());
      expect_whole(*store_, "seed " + std::to_string(seed));
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Stores, TakingTurns, ::testing::Values(kLmdb, kDir, kRedisUnix, kRedisCluster),
                         store_kind_name);

TEST_P(TakingTurns, LosesNothingAndLeaksNothing) {
  const std::vector<Deed> deeds{pushing(5),     pushing(6),   pushing(2),
                                rolling_back(), collecting(), collecting(kMoreThanADay),
                                rolling_back(), pushing(5)};
  for (unsigned seed = 1; seed <= 15 && !HasFailure(); ++seed) {
    store_.reset();
    std::filesystem::remove_all(directory_ / GetParam().name);
    url_ = GetParam().empty_store(directory_);
    store_ = open_store(url_);
    for (const std::size_t number : {0U, 1U, 2U}) pushing(number)(*store_);
    play(deeds, seed);
    expect_nothing_else_after_a_day(*store_, "seed " + std::to_string(seed));
  }
}

}  // namespace
}  // namespace keysieve::test
