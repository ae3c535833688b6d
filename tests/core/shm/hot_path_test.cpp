// What a lookup in an attached set must not do: allocate, call the system, read a clock. An executable of its
// own, since it counts the memory that operator new hands out.
#include <gmock/gmock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>

#include <csignal>

#include "tests/core/allocations.hpp"
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
    for (std::size_t i = 0; i < kBatch; ++i) hashes[i] = hash_key(keys_[i], attached->snapshot().seed());
    attached->may_contain_many(hashes, results.data());
    std::size_t count = 0;
    for (const bool result : results) count += result ? 1U : 0U;
    for (const KeyHash& hash : hashes) count += attached->may_contain(hash) ? 1U : 0U;
    return count;
  }

  // How a process ends that does `work` and meanwhile may neither call the system nor read the processor's
  // clock. A trap at the end is its only way out.
  static constexpr int kKeptQuiet = -SIGILL;
  template <typename Work>
  static int run_confined(Work work) {
    return test::run_in_process([&]() -> int {
      std::signal(SIGILL, SIG_DFL);
      std::signal(SIGSEGV, SIG_DFL);
#ifdef __x86_64__
      ::prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
#endif
      ::prctl(PR_SET_DUMPABLE, 0);  // no core file of this process
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
      work();
      __builtin_trap();
    });
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

}  // namespace
}  // namespace keysieve
