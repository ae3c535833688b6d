// Pushes and pulls over a Redis Cluster that loses a master in their middle.
#include <gmock/gmock.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/redis_cluster.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tools/stores/redis_slots.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;

const std::size_t kSlotOfThePointer = slot_of("keysieve:tags:current");

// The parameter: whether the master that has the set's pointer is the one which is lost.
class TransferOverALostMaster : public ::testing::TestWithParam<bool> {
 protected:
  TransferOverALostMaster() { push("?wait_replicas=1&timeout=60s", old_snapshot_); }

  PushResult push(const std::string& query, const SnapshotBytes& snapshot, const Progress& progress = {}) {
    return keysieve::push(*open_store(cluster_.url() + query), test::view_of(snapshot), {}, progress);
  }
  Pulled pull(const Progress& progress = {}) {
    return keysieve::pull(*open_store(cluster_.url()), "tags", 0, progress);
  }

  // In the middle, after the first batch.
  Progress lose_master() {
    return [this](std::uint64_t done, std::uint64_t total) {
      if (done < total) lost_.kill();
    };
  }

  static void expect_same(const Pulled& pulled, const SnapshotBytes& snapshot) {
    EXPECT_TRUE(std::ranges::equal(pulled.snapshot.get(), snapshot.get()));
  }

  test::RedisCluster cluster_;
  test::RedisServer& lost_ = cluster_.master_of(
      GetParam() ? kSlotOfThePointer : (kSlotOfThePointer + kRedisSlots / 2) % kRedisSlots);
  SnapshotBytes old_snapshot_ = test::build_snapshot({.shard_count = test::kShardsOfSomeBatches});
  SnapshotBytes new_snapshot_ = test::build_snapshot({.shard_count = test::kShardsOfSomeBatches});
};

std::string name_of(const ::testing::TestParamInfo<bool>& of) {
  return of.param ? "with_the_pointer" : "with_chunks_alone";
}
INSTANTIATE_TEST_SUITE_P(Masters, TransferOverALostMaster, ::testing::Bool(), name_of);

TEST_P(TransferOverALostMaster, PullsOnFromItsReplica) {
  expect_same(pull(lose_master()), old_snapshot_);
  EXPECT_EQ(lost_.pid(), -1) << "it was lost";
}

// What was written last may be lost with the master: the pull says so, and the next push mends it.
TEST_P(TransferOverALostMaster, PushesOnToItsReplica) {
  EXPECT_EQ(push("", new_snapshot_, lose_master()).record.generation, 2U);
  EXPECT_EQ(lost_.pid(), -1) << "it was lost";
  try {
    expect_same(pull(), new_snapshot_);
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is damaged, push again"));
  }
  EXPECT_EQ(push("", new_snapshot_).record.generation, 2U);
  expect_same(pull(), new_snapshot_);
}

TEST_P(TransferOverALostMaster, LeavesTheOldGenerationWhereReplicasAreWaitedForInVain) {
  const std::string query = "?wait_replicas=1&timeout=4s";
  EXPECT_THAT(test::message_of<UnavailableError>([&] { push(query, new_snapshot_, lose_master()); }),
              HasSubstr("only 0 of 1 replicas have it"));
  expect_same(pull(), old_snapshot_);
  lost_.start();  // and becomes a replica
  EXPECT_TRUE(test::eventually(
      [&] { return test::message_of<UnavailableError>([&] { push(query, new_snapshot_); }).empty(); },
      std::chrono::seconds(30)));
  EXPECT_EQ(pull().record.generation, 2U);
  expect_same(pull(), new_snapshot_);
}

}  // namespace
}  // namespace keysieve
