// Pushes, rollbacks and collections of one set that crash, lose answers or are stopped, at every step.
#include <gmock/gmock.h>

#include "tests/tools/transfer/shared_store.hpp"
#include "tests/tools/transfer/stepped_store.hpp"

namespace keysieve::test {
namespace {

// Ignores the error, which an operator would see, and the end of the process.
void attempt(const Deed& deed, Store& store) {
  try {
    deed(store);
  } catch (const Error&) {
  } catch (const Crash&) {
  }
}

class Interleaving : public ::testing::TestWithParam<StoreKind> {
 protected:
  std::unique_ptr<Store> empty_store() {
    std::filesystem::remove_all(directory_ / GetParam().name);
    return GetParam().open(GetParam().empty_store(directory_));
  }

  // A store with three generations, an interrupted push, and garbage that a crash has left.
  std::unique_ptr<Store> used_store() {
    auto store = empty_store();
    for (const std::size_t number : {0U, 1U, 2U}) pushing(number)(*store);
    const int trims = store->abilities().log ? 1 : 0;
    const int after_the_chunks = 5 + trims;  // read and change the record, trim, two chunks, read the record
    FaultyStore interrupted(*store, Fault::CrashBefore, after_the_chunks);
    attempt(pushing(3), interrupted);
    // A store that is not durable reads the chunks back.
    const int after_the_pointer_moved = after_the_chunks + (store->abilities().durable ? 2 : 3);
    FaultyStore crashed(*store, Fault::CrashBefore, after_the_pointer_moved);
    attempt(pushing(4), crashed);
    const PointerRecord pointer = read_pointer(*store, "tags").value();
    EXPECT_EQ(pointer.pending.size(), 1U);
    EXPECT_EQ(pointer.garbage.size(), 1U);
    EXPECT_EQ(pointer.current->generation, 4U);
    return store;
  }

  TemporaryDirectory directory_{fast_folder()};
};

INSTANTIATE_TEST_SUITE_P(Stores, Interleaving,
                         ::testing::Values(kLmdb, kDir, kRedisUnix, kRedisCluster, kMemcached,
                                           kMemcachedWithoutCas, kHttp),
                         store_kind_name);

// Runs all deeds, one of which meets the fault. Returns false if there are fewer steps.
bool survives_fault(Store& store, const std::vector<Deed>& deeds, Fault fault, int at) {
  const std::string when =
      "fault " + std::to_string(static_cast<int>(fault)) + " at step " + std::to_string(at);
  FaultyStore faulty(store, fault, at);
  for (const Deed& deed : deeds) {
    attempt(deed, faulty);
    expect_usable(store, when);
  }
  expect_nothing_else_after_a_day(store, when);
  return faulty.has_failed();
}

TEST_P(Interleaving, AnyFaultAtAnyStepLosesNothingAndLeaksNothing) {
  const std::vector<Deed> deeds{pushing(0),     pushing(1), pushing(2),   pushing(3),
                                rolling_back(), pushing(4), collecting(), pushing(4)};
  for (const Fault fault : {Fault::CrashBefore, Fault::CrashAfter, Fault::NotReached, Fault::AnswerLost,
                            Fault::FalseThoughDone}) {
    int at = 1;
    while (survives_fault(*empty_store(), deeds, fault, at) && !HasFailure()) ++at;
    EXPECT_GT(at, fault == Fault::FalseThoughDone ? 15 : 60);
  }
}

struct NamedDeed {
  const char* name;
  Deed deed;
};

TEST_P(Interleaving, TwoOperationsInterleavedAtEveryStepLoseNothingAndLeakNothing) {
  const std::vector<NamedDeed> stopped{{"push", pushing(5)},
                                       {"push of an older build", pushing(2)},
                                       {"push of the current build", pushing(4)},
                                       {"rollback", rolling_back()},
                                       {"collection", collecting()},
                                       {"collection of the next day", collecting(kMoreThanADay)}};
  const std::vector<NamedDeed> meanwhile{
      {"push", pushing(6)},
      {"push of the same build", pushing(5)},
      {"pushes", one_after_another({pushing(6), pushing(7), pushing(8), pushing(9)})},
      {"rollback", rolling_back()},
      {"collection", collecting()},
      {"collection of the next day", collecting(kMoreThanADay)},
      {"collection of the next day and the interrupted push once more",
       one_after_another({collecting(kMoreThanADay), pushing(3)})}};
  for (const auto& [stopped_name, stopped_deed] : stopped) {
    for (const auto& [other_name, other_deed] : meanwhile) {
      for (int at = 1;; ++at) {
        const std::string when =
            std::string(other_name) + " before step " + std::to_string(at) + " of a " + stopped_name;
        const auto store = used_store();
        StoppedStore stopping(*store, at, [&, &deed = other_deed] {
          deed(*store);
          expect_usable(*store, when);
        });
        attempt(stopped_deed, stopping);
        if (!stopping.has_stopped()) break;
        expect_usable(*store, when);
        expect_nothing_else_after_a_day(*store, when);
        if (HasFailure()) return;
      }
    }
  }
}

// The rival publishes the same build, and then a larger one, so that this one shrinks the set.
TEST_P(Interleaving, ARefusedPushLeavesTheRivalsChunksAndNoneOfItsOwn) {
  const SnapshotBytes snapshot = build_snapshot({.keys = 10, .shard_count = kShardsOfTwoChunks});
  const SnapshotBytes larger = build_snapshot({.keys = 20, .shard_count = kShardsOfTwoChunks});
  int refusals = 0;
  for (int at = 1;; ++at) {
    const std::string when = "before step " + std::to_string(at);
    const auto store = empty_store();
    StoppedStore stopping(*store, at, [&] {
      push(*store, view_of(snapshot), {});
      push(*store, view_of(larger), {});
    });
    try {
      push(stopping, view_of(snapshot), {});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::MaxShrink) << when;
      EXPECT_THAT(error.what(), HasSubstr("shrank from 20 to 10"));
      ++refusals;
    }
    if (!stopping.has_stopped()) break;
    const PointerRecord pointer = read_pointer(*store, "tags").value();
    EXPECT_EQ(pointer.current->key_count, 20U) << when;
    EXPECT_THAT(pointer.pending, IsEmpty()) << when;
    EXPECT_THAT(pointer.garbage, IsEmpty()) << when;
    expect_usable(*store, when);
    expect_nothing_else_after_a_day(*store, when);
  }
  EXPECT_GT(refusals, 4) << "read and change the record, two chunks, read and change it again";
}

// While the loader fetches chunks, its generation is dropped and the chunks are removed.
TEST_P(Interleaving, ASlowPullReturnsTheGenerationThatIsCurrentByThen) {
  for (int at = 2;; ++at) {
    const auto store = used_store();
    StoppedStore slow(*store, at, [&] {
      one_after_another({pushing(5), pushing(6), pushing(7), pushing(8), collecting(kMoreThanADay)})(*store);
    });
    const SnapshotRecord pulled = pull(slow, "tags").record;
    if (!slow.has_stopped()) break;
    EXPECT_EQ(pulled, read_pointer(*store, "tags").value().current);
  }
}

}  // namespace
}  // namespace keysieve::test
