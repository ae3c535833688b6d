// Pushes and pulls over Redis Sentinel that lose the master in their middle.
#include <gmock/gmock.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "tests/support/redis_sentinels.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;

class TransferOverSentinels : public ::testing::Test {
 protected:
  TransferOverSentinels() { push("?wait_replicas=2&timeout=60s", old_snapshot_); }

  PushResult push(const std::string& query, const SnapshotBytes& snapshot, const Progress& progress = {}) {
    return keysieve::push(*open_store(servers_.url() + query), test::view_of(snapshot), {}, progress);
  }
  Pulled pull(const Progress& progress = {}) {
    return keysieve::pull(*open_store(servers_.url()), "tags", 0, progress);
  }

  // In the middle, after the first batch.
  Progress lose_master() {
    return [this](std::uint64_t done, std::uint64_t total) {
      if (done < total) servers_.master().kill();
    };
  }

  static void expect_same(const Pulled& pulled, const SnapshotBytes& snapshot) {
    EXPECT_TRUE(std::ranges::equal(pulled.snapshot.get(), snapshot.get()));
  }

  test::RedisSentinels servers_{2};
  SnapshotBytes old_snapshot_ = test::build_snapshot({.shard_count = test::kShardsOfSomeBatches});
  SnapshotBytes new_snapshot_ = test::build_snapshot({.shard_count = test::kShardsOfSomeBatches});
};

TEST_F(TransferOverSentinels, PullsOnFromTheNextMaster) {
  expect_same(pull(lose_master()), old_snapshot_);
  EXPECT_EQ(servers_.master().pid(), -1) << "it was lost";
}

// What was written last may be lost with the master: the pull says so, and the next push mends it.
TEST_F(TransferOverSentinels, PushesOnToTheNextMaster) {
  EXPECT_EQ(push("", new_snapshot_, lose_master()).record.generation, 2U);
  EXPECT_EQ(servers_.master().pid(), -1) << "it was lost";
  try {
    expect_same(pull(), new_snapshot_);
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is damaged, push again"));
  }
  EXPECT_EQ(push("", new_snapshot_).record.generation, 2U);
  expect_same(pull(), new_snapshot_);
}

// One of two replicas remains, and becomes the master's: nothing that was confirmed is lost.
TEST_F(TransferOverSentinels, LosesNothingThatAReplicaHasConfirmed) {
  EXPECT_EQ(push("?wait_replicas=1&timeout=20s", new_snapshot_, lose_master()).record.generation, 2U);
  EXPECT_EQ(servers_.master().pid(), -1) << "it was lost";
  expect_same(pull(), new_snapshot_);
}

}  // namespace
}  // namespace keysieve
