// What a lookup in an attached set, or an add to a seen set, must not do: allocate, call the system, read a
// clock. An executable of its own, since it counts the memory that operator new hands out.
#include <gmock/gmock.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "tests/core/allocations.hpp"
#include "tests/core/seen/seen_sets.hpp"
#include "tests/core/shm/live_layer.hpp"
#include "tests/support/forked.hpp"

namespace keysieve {
namespace {

using ::testing::AnyOf;

constexpr std::size_t kBatch = 33;
constexpr std::size_t kMaybe = 2 * kBatch / 3 * 2;  // in a batch and in as many single lookups
// A new reader doubles the calls between two checks up to 4,096, while they come fast.
constexpr int kCallsToARareCheck = 8'192;
constexpr int kCallsBelowACheck = 4'000;
constexpr int kCallsOverAFewChecks = 20'000;

// From then on the process ends when the C library reads a clock without a system call: the code for that
// is gone. The processor's own counter alone would not do, since not every virtual machine can deny it.
void unmap_clocks() {
  std::ifstream mappings("/proc/self/maps");
  for (std::string line; std::getline(mappings, line);) {
    if (!line.ends_with("[vdso]")) continue;
    std::istringstream range(line);
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    range >> std::hex >> begin >> dash >> end;
    ::munmap(reinterpret_cast<void*>(begin), end - begin);
  }
}

// How a process ends that does `work` and meanwhile may neither call the system nor read a clock. A trap at
// the end is its only way out.
constexpr int kKeptQuiet = -SIGILL;
template <typename Work>
int run_confined(Work work) {
  return test::run_in_process([&]() -> int {
    std::signal(SIGILL, SIG_DFL);
    std::signal(SIGSEGV, SIG_DFL);
    unmap_clocks();
#ifdef __x86_64__
    ::prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
#endif
    ::prctl(PR_SET_DUMPABLE, 0);  // no core file of this process
    ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    work();
    __builtin_trap();
  });
}

// Every third key is in the base, every third in the live layer, and every third is absent.
class HotPath : public test::LiveLayers {
 protected:
  void SetUp() override {
    publish_with(empty_layer());
    LayerWriter writer = publisher().open_layer().value();
    for (std::size_t i = 0; i < kBatch; ++i) {
      keys_.push_back((i % 3 == 0 ? "base" : i % 3 == 1 ? "live" : "absent") + std::to_string(i));
      if (i % 3 == 1) writer.add(hash(keys_.back()));
    }
    ASSERT_EQ(look_up(), kMaybe);  // attached, and the sanitizers have done their one-time work
  }

  // Single and batch lookups, as a request makes them; returns how many keys came back as maybe.
  [[nodiscard]] std::size_t look_up() {
    std::array<KeyHash, kBatch> hashes;
    std::array<bool, kBatch> results{};
    const Attachment* attached = reader_.follow();
    if (!attached) return 0;
    for (std::size_t i = 0; i < kBatch; ++i) hashes[i] = attached->snapshot().hasher()(keys_[i]);
    attached->may_contain_many(hashes, results.data());
    std::size_t count = 0;
    for (const bool result : results) count += result ? 1U : 0U;
    for (const KeyHash& hash : hashes) count += attached->may_contain(hash) ? 1U : 0U;
    return count;
  }

  std::vector<std::string> keys_;
  SetReader reader_ = reader();
};

TEST_F(HotPath, AllocatesNothing) {
  const test::AllocationWatch allocations;
  std::size_t maybe = 0;
  for (int call = 0; call < kCallsOverAFewChecks; ++call) maybe += look_up();
  EXPECT_EQ(allocations.count(), 0U);
  EXPECT_EQ(maybe, kMaybe * kCallsOverAFewChecks);
}

TEST_F(HotPath, IsWatchedByAnAllocationCounterThatWorks) {
  const test::AllocationWatch allocations;
  const std::vector<char> bytes(1'000);
  EXPECT_EQ(allocations.count(), 1U);
  EXPECT_EQ(allocations.largest_bytes(), bytes.size());
}

#ifndef __SANITIZE_THREAD__  // its background thread calls the system, and outlives the confined one
TEST_F(HotPath, MakesNoSystemCallAndReadsNoClock) {
  // Once more if the machine has paused meanwhile, after which each call checks.
  EXPECT_TRUE(test::eventually([&] {
    reader_ = reader();
    for (int call = 0; call < kCallsToARareCheck; ++call) static_cast<void>(look_up());
    return run_confined([&] {
             for (int call = 0; call < kCallsBelowACheck; ++call) static_cast<void>(look_up());
           }) == kKeptQuiet;
  }));
}

TEST_F(HotPath, WouldBeKilledForAClockReadOrASystemCall) {
  EXPECT_THAT(run_confined([] { unix_now(); }), AnyOf(-SIGSEGV, -SIGKILL));
  EXPECT_EQ(run_confined([] { ::getppid(); }), -SIGKILL);
}
#endif

// Three filters, of which the newest takes new keys all the time.
class SeenHotPath : public test::SeenSets {
 protected:
  SeenHotPath() {
    writer_.create(kSeed, OnUnavailable::Throw);
    SeenPlan newest = plan();
    newest.size.words *= 4096;
    test::append(writer_, {plan(), plan(), newest});
  }
  void SetUp() override { ASSERT_EQ(add(), kNew); }  // attached

  static constexpr std::size_t kNew = kBatch;

  // Single and batch adds, as a request makes them, half of keys that are there; returns how many were new.
  [[nodiscard]] std::size_t add() {
    if (!reader_.follow()) return 0;
    std::array<KeyHash, kBatch> hashes;
    std::array<bool, kBatch> are_new{};
    for (KeyHash& hash : hashes) hash = test::numbered_hash(next_key_++);
    std::size_t count = 0;
    for (std::size_t i = 0; i < kBatch / 2; ++i)
      count += reader_.add_if_new(hashes[i]) == SeenAnswer::New ? 1U : 0U;
    if (reader_.add_many_if_new(hashes, are_new.data()) != kBatch) return 0;
    for (const bool is_new : are_new) count += is_new ? 1U : 0U;
    for (const KeyHash& hash : hashes) count += reader_.may_contain(hash) ? 0U : 1U;
    return count;
  }

  SeenWriter writer_ = writer();
  SeenReader reader_ = reader();
  std::uint64_t next_key_ = 0;
};

TEST_F(SeenHotPath, AllocatesNothing) {
  const test::AllocationWatch allocations;
  for (int call = 0; call < kCallsOverAFewChecks; ++call) static_cast<void>(add());
  EXPECT_EQ(allocations.count(), 0U);
}

#ifndef __SANITIZE_THREAD__
TEST_F(SeenHotPath, MakesNoSystemCallAndReadsNoClock) {
  EXPECT_TRUE(test::eventually([&] {
    reader_ = reader();
    for (int call = 0; call < kCallsToARareCheck; ++call) static_cast<void>(add());
    return run_confined([&] {
             for (int call = 0; call < kCallsBelowACheck; ++call) static_cast<void>(add());
           }) == kKeptQuiet;
  }));
}

// The first call after it looks at the new filter, the others do as before.
TEST_F(SeenHotPath, CallsTheSystemOnceForAFilterThatIsAppended) {
  EXPECT_TRUE(test::eventually([&] {
    reader_ = reader();
    for (int call = 0; call < kCallsToARareCheck; ++call) static_cast<void>(add());
    test::append(writer_, {plan()});
    EXPECT_EQ(run_confined([&] { static_cast<void>(add()); }), -SIGKILL);
    static_cast<void>(add());
    return run_confined([&] {
             for (int call = 0; call < kCallsBelowACheck; ++call) static_cast<void>(add());
           }) == kKeptQuiet;
  }));
}
#endif

}  // namespace
}  // namespace keysieve
