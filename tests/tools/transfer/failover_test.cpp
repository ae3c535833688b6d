// Pushes and pulls that lose a server halfway: a master of a Redis Cluster, or the master that sentinels
// name.
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/redis_cluster.hpp"
#include "tests/support/redis_sentinels.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tools/stores/redis/redis_slots.hpp"

namespace keysieve::test {
namespace {

const std::size_t kSlotOfThePointer = slot_of("keysieve:tags:current");

// A server that can be lost and is then replaced by another one.
template <bool HasThePointer>
class ClusterMaster {
 public:
  static constexpr const char* kName = HasThePointer ? "cluster_master_with_the_pointer" : "cluster_master";
  static constexpr int kReplicas = 1;

  [[nodiscard]] std::string url() const { return cluster_->url(); }
  [[nodiscard]] RedisServer& losable() { return lost_; }
  // Once the cluster misses the server, its replica takes its place.
  void lose() {
    if (lost_.pid() < 0) return;
    cluster_->replace_when_missed(lost_);
    lost_.kill();
  }
  [[nodiscard]] RedisServer& replica() { return cluster_->replica_of(lost_); }

 private:
  const std::unique_ptr<RedisCluster> cluster_ = RedisCluster::take();
  RedisServer& lost_ = cluster_->master_of(
      HasThePointer ? kSlotOfThePointer : (kSlotOfThePointer + kRedisSlots / 2) % kRedisSlots);
};

class SentinelMaster {
 public:
  static constexpr const char* kName = "sentinel_master";
  static constexpr int kReplicas = 2;

  [[nodiscard]] std::string url() const { return servers_.url(); }
  [[nodiscard]] RedisServer& losable() { return servers_.master(); }
  void lose() { servers_.lose_master(); }

 private:
  RedisSentinels servers_{2};
};

template <typename Servers>
class TransferOverALostMaster : public ::testing::Test {
 protected:
  TransferOverALostMaster() { push("&wait_replicas=" + std::to_string(Servers::kReplicas), old_snapshot_); }

  // `query`: "&name=value", appended to the URL, whose timeouts allow for a busy machine.
  PushResult push(const std::string& query, const SnapshotBytes& snapshot, const Progress& progress = {}) {
    return keysieve::push(*open_store(url_ + query), view_of(snapshot), {}, progress);
  }
  Pulled pull(const Progress& progress = {}) {
    return keysieve::pull(*open_store(url_), "tags", 0, progress);
  }
  // Loses the server after the first batch.
  Progress lose() {
    return [this](std::uint64_t done, std::uint64_t total) {
      if (done < total) servers_.lose();
    };
  }
  void expect_current(const SnapshotBytes& snapshot) { EXPECT_TRUE(are_same(pull().snapshot, snapshot)); }
  void expect_lost() { EXPECT_EQ(servers_.losable().pid(), -1) << "it was lost"; }

  Servers servers_;
  const std::string url_ = servers_.url() + "?timeout=2m&failover=2m";
  const SnapshotBytes old_snapshot_ = build_snapshot({.shard_count = kShardsOfSomeBatches});
  const SnapshotBytes new_snapshot_ = build_snapshot({.shard_count = kShardsOfSomeBatches});
};

struct NameOfServers {
  template <typename Servers>
  static std::string GetName(int /*index*/) {  // NOLINT(readability-identifier-naming): GoogleTest's name
    return Servers::kName;
  }
};
using ClusterMasters = ::testing::Types<ClusterMaster<true>, ClusterMaster<false>>;
using AllMasters = ::testing::Types<ClusterMaster<true>, ClusterMaster<false>, SentinelMaster>;
TYPED_TEST_SUITE(TransferOverALostMaster, AllMasters, NameOfServers);

TYPED_TEST(TransferOverALostMaster, ContinuesAPullFromItsReplica) {
  EXPECT_TRUE(are_same(this->pull(this->lose()).snapshot, this->old_snapshot_));
  this->expect_lost();
}

// The last writes may be lost with the master. Then the pull says so, and the next push repairs it.
TYPED_TEST(TransferOverALostMaster, ContinuesAPushToItsReplica) {
  EXPECT_EQ(this->push("", this->new_snapshot_, this->lose()).record.generation, 2U);
  this->expect_lost();
  try {
    this->expect_current(this->new_snapshot_);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data) throw;
    EXPECT_THAT(error.what(), HasSubstr("is damaged, push again"));
  }
  EXPECT_EQ(this->push("", this->new_snapshot_).record.generation, 2U);
  this->expect_current(this->new_snapshot_);
}

using TransferOverSentinels = TransferOverALostMaster<SentinelMaster>;

// One of the two replicas becomes master, and the other remains: nothing that was confirmed is lost.
TEST_F(TransferOverSentinels, LosesNothingThatAReplicaHasConfirmed) {
  EXPECT_EQ(push("&wait_replicas=1", new_snapshot_, lose()).record.generation, 2U);
  expect_lost();
  expect_current(new_snapshot_);
}

template <typename Master>
using TransferOverACluster = TransferOverALostMaster<Master>;
TYPED_TEST_SUITE(TransferOverACluster, ClusterMasters, NameOfServers);

TYPED_TEST(TransferOverACluster, KeepsTheOldGenerationWhenReplicasDoNotConfirm) {
  const std::string query = "&wait_replicas=1";
  {
    const WaitsCutShort in_vain(this->servers_.replica());
    EXPECT_THAT(
        message_of<ErrorKind::Unavailable>([&] { this->push(query, this->new_snapshot_, this->lose()); }),
        HasSubstr("only 0 of 1 replicas have it"));
  }
  this->expect_current(this->old_snapshot_);
  this->servers_.losable().start();  // and becomes a replica
  when_available([&] { return this->push(query, this->new_snapshot_); });
  EXPECT_EQ(this->pull().record.generation, 2U);
  this->expect_current(this->new_snapshot_);
}

}  // namespace
}  // namespace keysieve::test
