// Pushes and rollbacks of one set that crash, lose answers or are stopped, at every step.
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

class Interleaving : public ::testing::Test {
 protected:
  explicit Interleaving(const StoreKind& kind) : kind_(kind) {}

  std::unique_ptr<Store> empty_store() {
    std::filesystem::remove_all(directory_ / kind_.name);
    return kind_.open(kind_.empty_store(directory_));
  }

  // A store with three generations, and chunks that two crashes have left.
  std::unique_ptr<Store> used_store() {
    auto store = empty_store();
    for (const std::size_t number : {0U, 1U, 2U}) pushing(number)(*store);
    HookedStore interrupted(*store);
    interrupted.before_compare_and_set = [] { throw Crash{}; };
    attempt(pushing(3), interrupted);
    HookedStore crashed(*store);
    crashed.before_remove = [] { throw Crash{}; };
    attempt(pushing(4), crashed);
    EXPECT_EQ(read_pointer(*store, "tags")->current->generation, 4U);
    expect_pushes(*store, 3 + 2, "used");
    return store;
  }

  // That many have left chunks.
  static void expect_pushes(Store& store, std::size_t count, const std::string& when) {
    if (!store.abilities().list) return;
    EXPECT_THAT(stored_chunks(store, "tags"), SizeIs(count)) << when;
  }

  StoreKind kind_;
  TemporaryDirectory directory_{fast_folder()};
};

const std::array kStores{kDir, kLmdb, kRedisUnix, kRedisCluster, kMemcached, kHttp};

// All orders run over one store, whose steps are the same as over the others. Some of them run over each
// other store, and the rest nightly.
enum class Run { Always, Nightly };
template <typename Case>
std::vector<Case> chosen(Run run, const std::vector<Case>& cases, bool (*is_for_each_store)(const Case&)) {
  std::vector<Case> some;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(some), [&](const Case& one) {
    const bool is_always = one.store.name == std::string_view("dir") || is_for_each_store(one);
    return is_always == (run == Run::Always);
  });
  return some;
}

struct OneFault {
  StoreKind store;
  Fault fault;

  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest calls it by this name
  friend void PrintTo(const OneFault& tested, std::ostream* out) { *out << tested.store.name; }
};

std::vector<OneFault> faults(Run run) {
  std::vector<OneFault> all;
  for (const StoreKind& store : kStores) {
    for (const Fault fault : {Fault::CrashBefore, Fault::CrashAfter, Fault::NotReached, Fault::AnswerLost,
                              Fault::FalseThoughDone})
      all.push_back({store, fault});
  }
  return chosen<OneFault>(run, all, [](const OneFault& tested) { return tested.fault == Fault::CrashAfter; });
}

std::string fault_name(const ::testing::TestParamInfo<OneFault>& info) {
  return std::string(info.param.store.name) + "_" + std::to_string(static_cast<int>(info.param.fault));
}

class OneOperation : public Interleaving, public ::testing::WithParamInterface<OneFault> {
 protected:
  OneOperation() : Interleaving(GetParam().store) {}
};

INSTANTIATE_TEST_SUITE_P(Stores, OneOperation, ::testing::ValuesIn(faults(Run::Always)), fault_name);
INSTANTIATE_TEST_SUITE_P(Nightly, OneOperation, ::testing::ValuesIn(faults(Run::Nightly)), fault_name);

// Runs all deeds, one of which meets the fault. Returns false if there are fewer steps.
bool survives_fault(Store& store, const std::vector<Deed>& deeds, Fault fault, int at) {
  const std::string when = "at step " + std::to_string(at);
  FaultyStore faulty(store, fault, at);
  for (const Deed& deed : deeds) {
    attempt(deed, faulty);
    expect_usable(store, when);
  }
  expect_nothing_else_after_a_day(store, when);
  return faulty.has_failed();
}

TEST_P(OneOperation, AnyFaultAtAnyStepLosesNothingAndLeaksNothing) {
  const std::vector<Deed> deeds{pushing(0), pushing(1), pushing(2),     pushing(3), rolling_back(),
                                pushing(4), pushing(4), rolling_back(), pushing(5)};
  const Fault fault = GetParam().fault;
  int at = 1;
  while (survives_fault(*empty_store(), deeds, fault, at) && !HasFailure()) ++at;
  EXPECT_GT(at, fault == Fault::FalseThoughDone ? static_cast<int>(deeds.size()) : 55);
}

struct NamedDeed {
  const char* name;
  Deed deed;
};

const std::vector<NamedDeed> kStopped{{"push", pushing(5)},
                                      {"push of an older build", pushing(2)},
                                      {"push of the current build", pushing(4)},
                                      {"rollback", rolling_back()},
                                      {"push of the next day", pushing_a_day_later()}};
const std::vector<NamedDeed> kMeanwhile{
    {"push", pushing(6)},
    {"push of the same build", pushing(5)},
    {"pushes", one_after_another({pushing(6), pushing(7), pushing(8), pushing(9)})},
    {"rollback", rolling_back()},
    {"push of the next day", pushing_a_day_later()},
    {"push of the next day and the interrupted push once more",
     one_after_another({pushing_a_day_later(), pushing(3)})}};

struct TwoDeeds {
  StoreKind store;
  std::size_t stopped;
  std::size_t meanwhile;

  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest calls it by this name
  friend void PrintTo(const TwoDeeds& deeds, std::ostream* out) {
    *out << kMeanwhile[deeds.meanwhile].name << " during a " << kStopped[deeds.stopped].name;
  }
};

class TwoOperations : public Interleaving, public ::testing::WithParamInterface<TwoDeeds> {
 protected:
  TwoOperations() : Interleaving(GetParam().store) {}
};

std::vector<TwoDeeds> pairs(Run run) {
  std::vector<TwoDeeds> all;
  for (const StoreKind& store : kStores) {
    for (std::size_t i = 0; i < kStopped.size(); ++i) {
      for (std::size_t j = 0; j < kMeanwhile.size(); ++j) all.push_back({store, i, j});
    }
  }
  return chosen<TwoDeeds>(run, all, [](const TwoDeeds& deeds) {
    return deeds.stopped == std::min(deeds.meanwhile, kStopped.size() - 1);  // each deed
  });
}

std::string pair_name(const ::testing::TestParamInfo<TwoDeeds>& info) {
  const auto& [store, stopped, meanwhile] = info.param;
  return std::string(store.name) + "_" + std::to_string(stopped) + "_" + std::to_string(meanwhile);
}

INSTANTIATE_TEST_SUITE_P(Stores, TwoOperations, ::testing::ValuesIn(pairs(Run::Always)), pair_name);
INSTANTIATE_TEST_SUITE_P(Nightly, TwoOperations, ::testing::ValuesIn(pairs(Run::Nightly)), pair_name);

TEST_P(TwoOperations, InterleavedAtEveryStepLoseNothingAndLeakNothing) {
  const Deed& stopped = kStopped[GetParam().stopped].deed;
  const Deed& other = kMeanwhile[GetParam().meanwhile].deed;
  for (int at = 1;; ++at) {
    const std::string when = "before step " + std::to_string(at);
    const auto store = used_store();
    StoppedStore stopping(*store, at, [&] {
      other(*store);
      expect_usable(*store, when);
    });
    attempt(stopped, stopping);
    if (!stopping.has_stopped()) break;
    expect_usable(*store, when);
    expect_nothing_else_after_a_day(*store, when);
    if (HasFailure()) return;
  }
}

class OverEveryStore : public Interleaving, public ::testing::WithParamInterface<StoreKind> {
 protected:
  OverEveryStore() : Interleaving(GetParam()) {}
};

INSTANTIATE_TEST_SUITE_P(Stores, OverEveryStore, ::testing::ValuesIn(kStores), store_kind_name);

// The rival publishes the same build, and then a larger one, so that this one shrinks the set.
TEST_P(OverEveryStore, ARefusedPushLeavesTheRivalsChunksAndNoneOfItsOwn) {
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
      ++refusals;
    }
    if (!stopping.has_stopped()) break;
    const PointerRecord pointer = read_pointer(*store, "tags").value();
    EXPECT_EQ(pointer.current->key_count, 20U) << when;
    expect_pushes(*store, kept_generations(pointer).size(), when);
    expect_usable(*store, when);
    expect_nothing_else_after_a_day(*store, when);
  }
  EXPECT_GT(refusals, 4) << "read and change the record, two chunks, read and change it again";
}

// While the loader fetches chunks, its generation is dropped and the chunks are removed.
TEST_P(OverEveryStore, ASlowPullReturnsTheGenerationThatIsCurrentByThen) {
  for (int at = 2;; ++at) {
    const auto store = used_store();
    StoppedStore slow(*store, at, [&] {
      one_after_another({pushing(5), pushing(6), pushing(7), pushing(8), pushing_a_day_later()})(*store);
    });
    const SnapshotRecord pulled = pull(slow, "tags").record;
    if (!slow.has_stopped()) break;
    EXPECT_EQ(pulled, read_pointer(*store, "tags").value().current);
  }
}

}  // namespace
}  // namespace keysieve::test
