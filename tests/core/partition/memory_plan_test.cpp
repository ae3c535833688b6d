#include "core/builder/partition/memory_plan.hpp"

#include <gmock/gmock.h>

#include "core/worker/base/error.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kResident = 11 * kMiB;

// The memory that the plan lets hashes take while they are partitioned and sorted.
std::uint64_t bytes_of(const MemoryPlan& plan) {
  const std::uint64_t chunk_bytes = plan.chunk_hashes * sizeof(KeyHash);
  return plan.threads * kPartitions * chunk_bytes + plan.kept_chunks * chunk_bytes +
         plan.threads * plan.piece_hashes * (2 * sizeof(KeyHash) + 8);
}

TEST(MemoryPlan, StaysBelowTheLimit) {
  for (const std::uint64_t limit : {20 * kMiB, 32 * kMiB, 100 * kMiB, 800 * kMiB, 100'000 * kMiB}) {
    for (const unsigned threads : {1U, 2U, 8U, 64U}) {
      const MemoryPlan plan = plan_memory(limit, kResident, threads);
      EXPECT_GE(plan.threads, 1U);
      EXPECT_LE(plan.threads, threads);
      EXPECT_LT(kResident + bytes_of(plan), limit) << limit << " with " << threads;
      EXPECT_GE(bytes_of(plan), (limit - kResident) / 8) << "and uses what there is";
      EXPECT_GE(plan.piece_hashes, 20'000U);
    }
  }
}

TEST(MemoryPlan, UsesFewerThreadsWhenThereIsNoRoomForAll) {
  EXPECT_EQ(plan_memory(20 * kMiB, kResident, 64).threads, 1U);
  EXPECT_EQ(plan_memory(800 * kMiB, kResident, 64).threads, 64U);
}

TEST(MemoryPlan, SaysHowMuchMemoryIsNeeded) {
  EXPECT_THAT(test::message_of<ErrorKind::Usage>([] { plan_memory(10 * kMiB, kResident, 2); }),
              "memory limit of 10M is too small: needs 21M or more");
  EXPECT_NO_THROW(plan_memory(20 * kMiB, kResident, 2));
}

TEST(MemoryPlan, HasNoLimitsByDefault) {
  const MemoryPlan plan = plan_memory(kNoMemoryLimit, kResident, 2);
  EXPECT_EQ(plan.kept_chunks, kNoMemoryLimit);
  EXPECT_EQ(plan.piece_hashes, kNoMemoryLimit);
  EXPECT_EQ(plan.most_key_bytes, SIZE_MAX);
  EXPECT_EQ(plan.less(kMiB).piece_hashes, kNoMemoryLimit);
}

TEST(MemoryPlan, GivesUpSomeRoomForSorting) {
  const MemoryPlan plan = plan_memory(32 * kMiB, kResident, 1);
  EXPECT_EQ(bytes_of(plan) / 1000, (bytes_of(plan.less(kMiB)) + kMiB) / 1000);
  EXPECT_THAT(test::message_of<ErrorKind::Usage>([&] { static_cast<void>(plan.less(100 * kMiB)); }),
              HasSubstr("too small for the tables"));
}

}  // namespace
}  // namespace keysieve
