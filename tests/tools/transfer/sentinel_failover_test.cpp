// Pushes and pulls over Redis Sentinel that lose the master in their middle.
#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "tests/support/redis_sentinels.hpp"
#include "tests/tools/transfer/carried_set.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;

class TransferOverSentinels : public ::testing::Test {
 protected:
  Progress lose_master() {
    return test::in_the_middle([this] { servers_.lose_master(); });
  }

  test::RedisSentinels servers_{2};
  test::CarriedSet set_{servers_.url(), 2};
};

TEST_F(TransferOverSentinels, PullsOnFromTheNextMaster) {
  test::expect_same(set_.pull(lose_master()), set_.old_snapshot);
  EXPECT_EQ(servers_.master().pid(), -1) << "it was lost";
}

// What was written last may be lost with the master: the pull says so, and the next push mends it.
TEST_F(TransferOverSentinels, PushesOnToTheNextMaster) {
  EXPECT_EQ(set_.push("", set_.new_snapshot, lose_master()).record.generation, 2U);
  EXPECT_EQ(servers_.master().pid(), -1) << "it was lost";
  try {
    test::expect_same(set_.pull(), set_.new_snapshot);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data) throw;
    EXPECT_THAT(error.what(), HasSubstr("is damaged, push again"));
  }
  EXPECT_EQ(set_.push("", set_.new_snapshot).record.generation, 2U);
  test::expect_same(set_.pull(), set_.new_snapshot);
}

// One of two replicas remains, and becomes the master's: nothing that was confirmed is lost.
TEST_F(TransferOverSentinels, LosesNothingThatAReplicaHasConfirmed) {
  EXPECT_EQ(set_.push("&wait_replicas=1", set_.new_snapshot, lose_master()).record.generation, 2U);
  EXPECT_EQ(servers_.master().pid(), -1) << "it was lost";
  test::expect_same(set_.pull(), set_.new_snapshot);
}

}  // namespace
}  // namespace keysieve
