// Checks the checker: classic litmus tests, whose outcomes under C++'s model are known. Sources: Batty et
// al., "Mathematizing C++ concurrency" (2011); Lahav et al., "Repairing sequential consistency in C/C++11"
// (2017).
#include <gmock/gmock.h>

#include "tests/memory_model/modelled_atomic.hpp"

namespace keysieve::model {
namespace {

constexpr Order kRelaxed = Order::relaxed;
constexpr Order kAcquire = Order::acquire;
constexpr Order kRelease = Order::release;
constexpr Order kBoth = Order::acq_rel;
constexpr Order kSeqCst = Order::seq_cst;

struct Shared {
  ModelledAtomic<int> x, y;
  std::array<int, 8> r{};
};
using Thread = std::function<void(Shared&)>;

// Whether an execution ends so.
bool can_end(const std::vector<Thread>& threads, const std::function<bool(Shared&)>& outcome) {
  const Explored explored = explore([&] {
    auto shared = std::make_shared<Shared>();
    Program program;
    for (const Thread& thread : threads) program.threads.push_back([=] { thread(*shared); });
    program.at_end = [=] { require(!outcome(*shared), "this outcome"); };
    return program;
  });
  return !explored.violation.empty();
}

bool passes_messages_stale(Order store, Order load) {
  return can_end({[=](Shared& s) { s.x.store(1, kRelaxed), s.y.store(1, store); },
                  [=](Shared& s) { s.r[0] = s.y.load(load), s.r[1] = s.x.load(kRelaxed); }},
                 [](Shared& s) { return s.r[0] == 1 && s.r[1] == 0; });
}

TEST(Litmus, MessagePassingNeedsReleaseAndAcquire) {
  EXPECT_FALSE(passes_messages_stale(kRelease, kAcquire));
  EXPECT_FALSE(passes_messages_stale(kSeqCst, kSeqCst));
  EXPECT_TRUE(passes_messages_stale(kRelaxed, kAcquire));
  EXPECT_TRUE(passes_messages_stale(kRelease, kRelaxed));
}

bool passes_messages_stale_by_fences(Order store, Order load) {
  return can_end(
      {[=](Shared& s) { s.x.store(1, kRelaxed), modelled_fence(store), s.y.store(1, kRelaxed); },
       [=](Shared& s) { s.r[0] = s.y.load(kRelaxed), modelled_fence(load), s.r[1] = s.x.load(kRelaxed); }},
      [](Shared& s) { return s.r[0] == 1 && s.r[1] == 0; });
}

TEST(Litmus, MessagePassingByFencesNeedsBoth) {
  EXPECT_FALSE(passes_messages_stale_by_fences(kRelease, kAcquire));
  EXPECT_TRUE(passes_messages_stale_by_fences(kAcquire, kAcquire));
  EXPECT_TRUE(passes_messages_stale_by_fences(kRelease, kRelease));
}

bool both_loads_miss_the_stores(Order store, Order load) {
  return can_end({[=](Shared& s) { s.x.store(1, store), s.r[0] = s.y.load(load); },
                  [=](Shared& s) { s.y.store(1, store), s.r[1] = s.x.load(load); }},
                 [](Shared& s) { return s.r[0] == 0 && s.r[1] == 0; });
}

TEST(Litmus, StoreBufferingNeedsSequentialConsistencyOfAllFour) {
  EXPECT_FALSE(both_loads_miss_the_stores(kSeqCst, kSeqCst));
  EXPECT_TRUE(both_loads_miss_the_stores(kRelease, kAcquire));
  EXPECT_TRUE(both_loads_miss_the_stores(kSeqCst, kAcquire));
  EXPECT_TRUE(both_loads_miss_the_stores(kRelease, kSeqCst));
}

// Store buffering with a read-modify-write in the place of each store, as a seen set has it.
TEST(Litmus, AnUpdateIsNoFenceForALaterLoad) {
  const auto both_miss = [](Order update, Order load) {
    return can_end({[=](Shared& s) { s.x.fetch_or(1, update), s.r[0] = s.y.load(load); },
                    [=](Shared& s) { s.y.fetch_or(1, update), s.r[1] = s.x.load(load); }},
                   [](Shared& s) { return s.r[0] == 0 && s.r[1] == 0; });
  };
  EXPECT_FALSE(both_miss(kSeqCst, kSeqCst));
  EXPECT_TRUE(both_miss(kSeqCst, kAcquire));
  EXPECT_TRUE(both_miss(kBoth, kSeqCst));
}

// One thread hears of a store by another one, and reads what the third one, which has missed that store, has
// written before. C++ allows it where that last load alone is not sequentially consistent; x86-64 and arm64
// do not.
TEST(Litmus, ReadToWriteCausalityNeedsSequentialConsistencyOfTheLastLoad) {
  const auto is_stale = [](Order last) {
    return can_end({[](Shared& s) { s.x.fetch_or(1), s.r[0] = s.y.load(); }, [](Shared& s) { s.y.store(1); },
                    [=](Shared& s) { s.r[1] = s.y.load(), s.r[2] = s.x.load(last); }},
                   [](Shared& s) { return s.r[0] == 0 && s.r[1] == 1 && s.r[2] == 0; });
  };
  EXPECT_FALSE(is_stale(kSeqCst));
  EXPECT_TRUE(is_stale(kAcquire));
}

// RC11 has none, nor has this model. C++ and arm64 have it for relaxed operations, so what the model says of
// a load that a store follows needs a look.
TEST(Litmus, LoadBufferingIsNotInTheModel) {
  EXPECT_FALSE(can_end({[](Shared& s) { s.r[0] = s.x.load(kRelaxed), s.y.store(1, kRelaxed); },
                        [](Shared& s) { s.r[1] = s.y.load(kRelaxed), s.x.store(1, kRelaxed); }},
                       [](Shared& s) { return s.r[0] == 1 && s.r[1] == 1; }));
}

// The two halves of a word, as Word::load() has them.
bool reads_halves_of_two_values(Order between) {
  return can_end({[](Shared& s) {
                    perform({.kind = Kind::CompareAndSetTwo,
                             .location = s.x.location(),
                             .second = s.y.location(),
                             .operands = {0, 0, 1, 1},
                             .order = kRelaxed});
                  },
                  [=](Shared& s) {
                    s.r[0] = s.y.load(kAcquire), s.r[1] = s.x.load(between), s.r[2] = s.y.load(kRelaxed);
                  }},
                 [](Shared& s) { return s.r[0] == 0 && s.r[1] == 1 && s.r[2] == 0; });
}

TEST(Litmus, WhoAcquiresOneOfTwoLocationsThatChangedAtOnceHasSeenTheOther) {
  EXPECT_FALSE(reads_halves_of_two_values(kAcquire));
  EXPECT_TRUE(reads_halves_of_two_values(kRelaxed));
}

TEST(Litmus, OneThreadNeverReadsALocationBackwards) {
  EXPECT_FALSE(can_end({[](Shared& s) { s.x.store(1, kRelaxed); }, [](Shared& s) { s.x.store(2, kRelaxed); },
                        [](Shared& s) { s.r[0] = s.x.load(kRelaxed), s.r[1] = s.x.load(kRelaxed); },
                        [](Shared& s) { s.r[2] = s.x.load(kRelaxed), s.r[3] = s.x.load(kRelaxed); }},
                       [](Shared& s) { return s.r[0] == 1 && s.r[1] == 2 && s.r[2] == 2 && s.r[3] == 1; }));
}

bool ends_with_the_first_of_each(Order order) {
  return can_end({[=](Shared& s) { s.x.store(2, order), s.y.store(1, order); },
                  [=](Shared& s) { s.y.store(2, order), s.x.store(1, order); }},
                 [](Shared& s) { return s.x.load() == 2 && s.y.load() == 2; });
}

TEST(Litmus, TwoStoresTwiceMayEndWithTheFirstOnes) {
  EXPECT_TRUE(ends_with_the_first_of_each(kRelaxed));
  EXPECT_TRUE(ends_with_the_first_of_each(kRelease));
  EXPECT_FALSE(ends_with_the_first_of_each(kSeqCst));
}

bool two_readers_disagree(Order store, Order load) {
  return can_end({[=](Shared& s) { s.x.store(1, store); }, [=](Shared& s) { s.y.store(1, store); },
                  [=](Shared& s) { s.r[0] = s.x.load(load), s.r[1] = s.y.load(load); },
                  [=](Shared& s) { s.r[2] = s.y.load(load), s.r[3] = s.x.load(load); }},
                 [](Shared& s) { return s.r[0] == 1 && s.r[1] == 0 && s.r[2] == 1 && s.r[3] == 0; });
}

TEST(Litmus, TwoReadersMayDisagreeOnTheOrderOfTwoWriters) {
  EXPECT_TRUE(two_readers_disagree(kRelease, kAcquire));
  EXPECT_TRUE(two_readers_disagree(kSeqCst, kAcquire));
  EXPECT_FALSE(two_readers_disagree(kSeqCst, kSeqCst));
}

// What a third thread reads that has heard of it from the second one.
TEST(Litmus, AcquiringPassesOnWhatWasAcquired) {
  EXPECT_FALSE(can_end({[](Shared& s) { s.x.store(1, kRelaxed); },
                        [](Shared& s) { s.r[0] = s.x.load(kRelaxed), s.y.store(1, kRelease); },
                        [](Shared& s) { s.r[1] = s.y.load(kAcquire), s.r[2] = s.x.load(kRelaxed); }},
                       [](Shared& s) { return s.r[0] == 1 && s.r[1] == 1 && s.r[2] == 0; }));
}

// The release of a store that others have updated since, relaxed. A plain store ends it (C++20).
TEST(Litmus, AnUpdateContinuesAReleaseSequenceAndAStoreDoesNot) {
  const auto is_stale = [](const Thread& between) {
    return can_end({[](Shared& s) { s.x.store(1, kRelaxed), s.y.store(1, kRelease); }, between,
                    [](Shared& s) { s.r[0] = s.y.load(kAcquire), s.r[1] = s.x.load(kRelaxed); }},
                   [](Shared& s) { return s.r[0] == 3 && s.r[1] == 0; });
  };
  EXPECT_FALSE(is_stale([](Shared& s) { s.y.fetch_add(2, kRelaxed); }));
  EXPECT_TRUE(is_stale([](Shared& s) { s.y.store(3, kRelaxed); }));
}

// States that were reached before are not gone on from: that must leave no end out.
TEST(Litmus, EveryEndIsReachedThoughNoStateIsVisitedTwice) {
  const auto program = [](Order order) {
    return [=] {
      auto s = std::make_shared<Shared>();
      const auto reader = [=] { s->x.load(order), s->y.load(order); };
      const auto writer = [=] { s->y.store(1, order), s->x.store(1, order); };
      return Program{{reader, reader, writer}, {}};
    };
  };
  for (const Order order : {kRelaxed, kSeqCst}) {
    const Explored once = explore(program(order));
    const Explored always = explore(program(order), {}, Visit::Always);
    EXPECT_EQ(once.states, always.states);
    EXPECT_EQ(once.ends, always.ends);
    EXPECT_THAT(once.ends, ::testing::SizeIs(order == kRelaxed ? 16 : 9));
  }
}

TEST(Litmus, OfTwoUpdatesOneReadsTheOther) {
  EXPECT_FALSE(can_end({[](Shared& s) { s.r[0] = s.x.fetch_add(1, kRelaxed); },
                        [](Shared& s) { s.r[1] = s.x.fetch_add(1, kRelaxed); }},
                       [](Shared& s) { return s.r[0] == s.r[1]; }));
}

}  // namespace
}  // namespace keysieve::model
