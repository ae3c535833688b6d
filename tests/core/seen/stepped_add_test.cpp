// Stops a worker at the instructions of an add. There another reader adds the same key, the loader appends or
// heals a filter or takes the page over, and the worker may be killed: at most one of all calls says that the
// key is new. All other orders, and windows that are retired: tests/memory_model/seen_sets.cpp.
#include <array>
#include <atomic>
#include <memory>

#include "core/publisher/seen/new_segment.hpp"
#include "tests/core/seen/seen_sets.hpp"
#include "tests/support/shared_page.hpp"
#include "tests/support/stepped_process.hpp"

namespace keysieve {
namespace {

using test::is_new;
using test::numbered_hash;
using test::SteppedProcess;

enum class Answer : std::uint8_t { None, Seen, New };

class SteppedAdd : public test::SeenSets {
 protected:
  // What the worker does between its stops.
  enum class Path : std::uint8_t {
    Whole,       // follows and adds: nothing has changed
    AfterAppend  // adds, when a filter has been appended since it followed
  };
  static constexpr std::array kPaths{Path::Whole, Path::AfterAppend};
  enum class Fate : std::uint8_t { GoesOn, IsKilled };

  SteppedAdd() { writer_.create(kSeed, OnUnavailable::Seen); }

  // At each stop calls `meanwhile` with the key that the worker is adding; then the worker does the rest or
  // is killed, and `afterwards` gets its answer. Stops before each instruction around an atomic exchange, and
  // before some of the others.
  template <typename Meanwhile, typename Afterwards>
  void stop_everywhere(Path path, Fate fate, Meanwhile meanwhile, Afterwards afterwards) {
    std::unique_ptr<SteppedProcess> worker = start_worker(path);
    if (!worker->may_trace()) GTEST_SKIP() << "may not trace a process";
    begin_round(path, *worker);  // the dynamic linker does its part in the first
    ASSERT_TRUE(worker->resume());
    begin_round(path, *worker);
    const SteppedProcess::Trace trace = worker->trace();
    ASSERT_EQ(trace.exchanges.size(), path == Path::Whole ? 1U : 2U);
    std::size_t stops = 0;
    for (const std::size_t moment : moments(trace, fate)) {
      SCOPED_TRACE("after " + std::to_string(moment) + " of " + std::to_string(trace.addresses.size()) +
                   " instructions");
      const KeyHash hash = begin_round(path, *worker);
      const bool has_stopped = worker->run_along(trace, moment);
      meanwhile(hash);
      if (fate == Fate::IsKilled) {
        worker = start_worker(path);
      } else if (has_stopped) {
        ASSERT_TRUE(worker->resume());
      }
      stops += has_stopped ? 1 : 0;
      afterwards(hash, shared_->answer.load());
      if (HasFailure()) return;
    }
    EXPECT_GT(stops, 40U);
  }

  // `meanwhile` says whether the key is new to another one. Exactly one of both must win, each of them at
  // some of the stops.
  template <typename Meanwhile>
  void expect_one_winner(Meanwhile meanwhile) {
    for (const Path path : kPaths) {
      int wins_of_worker = 0;
      int wins_of_others = 0;
      bool is_new_to_other = false;
      stop_everywhere(
          path, Fate::GoesOn, [&](KeyHash hash) { is_new_to_other = meanwhile(hash); },
          [&](KeyHash hash, Answer answer) {
            EXPECT_EQ(answer, is_new_to_other ? Answer::Seen : Answer::New);
            EXPECT_FALSE(is_new_to_another(hash));
            ++(is_new_to_other ? wins_of_others : wins_of_worker);
          });
      if (IsSkipped()) return;
      EXPECT_GT(wins_of_worker, 5);
      EXPECT_GT(wins_of_others, 5);
    }
  }

  void append() { test::append(writer_, {roomy_plan(now_ + 2)}); }
  // Somebody removes its memory, and the loader puts back what was in it.
  void heal(std::size_t index) {
    remove_segment(writer_.filters()[index].segment.key());
    EXPECT_EQ(writer_.heal(), 1U);
  }
  // Somebody renames the folder, and the loader makes it anew.
  void take_over() {
    std::filesystem::rename(folder(), folder() + std::to_string(now_));
    SeenWriter next = writer();
    next.take_over(writer_);
    writer_ = std::move(next);
  }

  // By a reader that knows all filters there are.
  bool is_new_to_another(KeyHash hash) const {
    SeenReader other = reader();
    EXPECT_TRUE(other.follow()) << other.reason();
    return other.add_if_new(hash) == SeenAnswer::New;
  }

  SeenWriter writer_ = writer();
  UnixSeconds now_ = 0;

 private:
  struct Shared {
    std::atomic<std::uint64_t> round{0};
    std::atomic<Answer> answer{Answer::None};
  };

  // A worker that was killed costs a new one.
  static std::vector<std::size_t> moments(const SteppedProcess::Trace& trace, Fate fate) {
    constexpr std::size_t kBefore = 8;
    const std::size_t behind = fate == Fate::IsKilled ? 24 : 40;
    const std::size_t others = fate == Fate::IsKilled ? 16 : 20;
    const std::size_t stride = trace.addresses.size() / others + 1;
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < trace.addresses.size(); ++i) {
      const bool is_near =
          std::any_of(trace.exchanges.begin(), trace.exchanges.end(),
                      [i, behind](std::size_t at) { return i + kBefore >= at && i <= at + behind; });
      if (is_near || i % stride == 0) chosen.push_back(i);
    }
    return chosen;
  }

  // Adds the key of the round again and again; stops before and behind.
  std::unique_ptr<SteppedProcess> start_worker(Path path) const {
    return std::make_unique<SteppedProcess>([this, path] {
      SeenReader worker = reader();
      for (;;) {
        SteppedProcess::stop_here();
        if (!worker.follow()) return;
        const KeyHash hash = numbered_hash(shared_->round);
        SteppedProcess::stop_here();
        const bool answer =
            path == Path::Whole ? is_new(worker, hash) : worker.add_if_new(hash) == SeenAnswer::New;
        shared_->answer = answer ? Answer::New : Answer::Seen;
      }
    });
  }

  // From then on there are two filters, which the worker knows.
  KeyHash begin_round(Path path, SteppedProcess& worker) {
    now_ += 10;
    test::append(writer_, {roomy_plan(now_ + 1), roomy_plan(now_ + 2)});
    writer_.retire(test::at(now_));
    EXPECT_EQ(writer_.state().size, 2U);
    shared_->answer = Answer::None;
    EXPECT_TRUE(worker.resume());
    if (path == Path::AfterAppend) append();
    return numbered_hash(shared_->round++);
  }

  const test::SharedPage<Shared> shared_;
};

TEST_F(SteppedAdd, IsNewToOneOfTwo) {
  expect_one_winner([&](KeyHash hash) { return is_new_to_another(hash); });
}

TEST_F(SteppedAdd, IsNewToOneOfTwoWhenAFilterIsAppendedInBetween) {
  expect_one_winner([&](KeyHash hash) {
    append();
    return is_new_to_another(hash);
  });
}

TEST_F(SteppedAdd, IsNewToOneOfTwoWhenTheLoaderHealsAnOlderFilter) {
  expect_one_winner([&](KeyHash hash) {
    heal(0);
    return is_new_to_another(hash);
  });
}

TEST_F(SteppedAdd, IsNewToOneOfTwoWhenTheLoaderTakesThePageOver) {
  expect_one_winner([&](KeyHash hash) {
    take_over();
    append();
    return is_new_to_another(hash);
  });
}

TEST_F(SteppedAdd, IsNewToAtMostOneWhenTheWorkerIsKilled) {
  for (const Path path : kPaths) {
    int lost = 0;
    stop_everywhere(
        path, Fate::IsKilled, [](KeyHash) {},
        [&](KeyHash hash, Answer /*answer*/) {
          const bool is_new_to_other = is_new_to_another(hash);
          EXPECT_FALSE(is_new_to_another(hash));
          lost += is_new_to_other ? 0 : 1;
        });
    if (IsSkipped()) return;
    EXPECT_GT(lost, 5) << "it must have been killed behind the exchange too";
  }
}

TEST_F(SteppedAdd, IsNewToAtMostOneWhenTheWorkerIsKilledAndAFilterAppended) {
  for (const Path path : kPaths) {
    stop_everywhere(
        path, Fate::IsKilled, [&](KeyHash) { append(); },
        [&](KeyHash hash, Answer /*answer*/) {
          is_new_to_another(hash);
          EXPECT_FALSE(is_new_to_another(hash));
        });
  }
}

}  // namespace
}  // namespace keysieve
