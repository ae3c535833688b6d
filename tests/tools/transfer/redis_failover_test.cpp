// Pushes and pulls over a Redis Cluster that loses a master in their middle.
#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/redis_cluster.hpp"
#include "tests/support/waits_cut_short.hpp"
#include "tests/support/when_available.hpp"
#include "tests/tools/transfer/carried_set.hpp"
#include "tools/stores/redis/redis_slots.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;

const std::size_t kSlotOfThePointer = slot_of("keysieve:tags:current");

// The parameter: whether the master that has the set's pointer is the one which is lost.
class TransferOverALostMaster : public ::testing::TestWithParam<bool> {
 protected:
  // Its replica takes its place once it is missed.
  Progress lose() {
    return test::in_the_middle([this] {
      if (lost_.pid() < 0) return;
      cluster_.replace_when_missed(lost_);
      lost_.kill();
    });
  }

  const std::unique_ptr<test::RedisCluster> own_ = test::RedisCluster::take();
  test::RedisCluster& cluster_ = *own_;
  test::RedisServer& lost_ = cluster_.master_of(
      GetParam() ? kSlotOfThePointer : (kSlotOfThePointer + kRedisSlots / 2) % kRedisSlots);
  test::CarriedSet set_{cluster_.url(), 1};
};

std::string name_of(const ::testing::TestParamInfo<bool>& of) {
  return of.param ? "with_the_pointer" : "with_chunks_alone";
}
INSTANTIATE_TEST_SUITE_P(Masters, TransferOverALostMaster, ::testing::Bool(), name_of);

TEST_P(TransferOverALostMaster, PullsOnFromItsReplica) {
  test::expect_same(set_.pull(lose()), set_.old_snapshot);
  EXPECT_EQ(lost_.pid(), -1) << "it was lost";
}

// What was written last may be lost with the master: the pull says so, and the next push mends it.
TEST_P(TransferOverALostMaster, PushesOnToItsReplica) {
  EXPECT_EQ(set_.push("", set_.new_snapshot, lose()).record.generation, 2U);
  EXPECT_EQ(lost_.pid(), -1) << "it was lost";
  try {
    test::expect_same(set_.pull(), set_.new_snapshot);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data) throw;
    EXPECT_THAT(error.what(), HasSubstr("is damaged, push again"));
  }
  EXPECT_EQ(set_.push("", set_.new_snapshot).record.generation, 2U);
  test::expect_same(set_.pull(), set_.new_snapshot);
}

TEST_P(TransferOverALostMaster, LeavesTheOldGenerationWhereReplicasAreWaitedForInVain) {
  const std::string query = "&wait_replicas=1";
  {
    const test::WaitsCutShort in_vain(cluster_.replica_of(lost_));
    EXPECT_THAT(
        test::message_of<ErrorKind::Unavailable>([&] { set_.push(query, set_.new_snapshot, lose()); }),
        HasSubstr("only 0 of 1 replicas have it"));
  }
  test::expect_same(set_.pull(), set_.old_snapshot);
  lost_.start();  // and becomes a replica
  test::when_available([&] { return set_.push(query, set_.new_snapshot); });
  EXPECT_EQ(set_.pull().record.generation, 2U);
  test::expect_same(set_.pull(), set_.new_snapshot);
}

}  // namespace
}  // namespace keysieve
