// Pushes to memcached and pulls from it while it evicts, restarts or is emptied.
#include <signal.h>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/memcached_server.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/store_decorator.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tools/transfer/rollback.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve::test {
namespace {

class ForgetfulStore : public ::testing::Test {
 protected:
  ForgetfulStore() { server_.flush(); }

  PushResult push_hooked(const SnapshotBytes& snapshot) { return push(hooked_, view_of(snapshot), {}); }
  static std::optional<ErrorKind> failure_to_pull(Store& store) {
    return failure_of([&] { pull(store, "tags"); });
  }
  [[nodiscard]] std::string key_of_chunk(std::uint32_t number) const {
    return chunk_key("keysieve", "tags", read_pointer(*store_, "tags")->current->push_id, number);
  }

  MemcachedServer& server_ = shared_memcached();
  std::unique_ptr<Store> store_ = open_store(patient(server_.url()));
  HookedStore hooked_{*store_};
  const SnapshotBytes first_ = build_snapshot({.shard_count = kShardsOfSomeBatches});
  const SnapshotBytes second_ = build_snapshot({.shard_count = kShardsOfSomeBatches});
};

TEST_F(ForgetfulStore, KeepsThePointerWhenAChunkIsGoneBeforeItMoves) {
  push(*store_, view_of(first_), {});
  hooked_.before_get_many = [this](std::span<const std::string> keys) {
    if (keys.size() > 1) remove_record(*store_, keys[keys.size() / 2]);
  };
  EXPECT_EQ(failure_of([&] { push_hooked(second_); }), ErrorKind::CannotCreate);
  EXPECT_TRUE(are_same(pull(*store_, "tags").snapshot, first_));
}

TEST_F(ForgetfulStore, PushesOnceMoreWhatWasForgottenInTheMiddle) {
  push(*store_, view_of(first_), {});
  hooked_.after_put = once([this] { server_.flush(); });
  EXPECT_EQ(push_hooked(second_).record.generation, 1U);
  hooked_.before_compare_and_set = once([this] { server_.flush(); });  // all chunks were read back
  EXPECT_EQ(push_hooked(second_).record.generation, 1U);
  EXPECT_TRUE(are_same(pull(*store_, "tags").snapshot, second_));
}

TEST_F(ForgetfulStore, IsToBePushedToAgainAfterAChunkWasEvicted) {
  push(*store_, view_of(first_), {});
  remove_record(*store_, key_of_chunk(3));
  EXPECT_EQ(failure_to_pull(*store_), ErrorKind::Data);
  EXPECT_EQ(push(*store_, view_of(first_), {}).record.generation, 1U);
  EXPECT_TRUE(are_same(pull(*store_, "tags").snapshot, first_));
}

TEST_F(ForgetfulStore, PullsNothingThatWasForgottenInTheMiddle) {
  push(*store_, view_of(first_), {});
  hooked_.before_get_many = [this, calls = 0](std::span<const std::string>) mutable {
    if (++calls == 2) server_.flush();
  };
  EXPECT_EQ(failure_to_pull(hooked_), ErrorKind::MissingInput);
}

// Pushes and rollbacks that move the pointer while a required replica hangs.

class MissingReplica : public ::testing::Test {
 protected:
  MissingReplica() {
    master_.flush_with_replicas();
    keysieve::push(*store_, view_of(build_snapshot()), {});
  }

  void stop_replica() {
    ::kill(replica_.pid(), SIGSTOP);
    in_vain_.emplace(master_);
  }
  void continue_replica() {
    in_vain_.reset();
    ::kill(replica_.pid(), SIGCONT);
  }

  [[nodiscard]] PointerRecord pointer() const { return read_stored_pointer(*store_, "tags").value(); }

  // The generation after a failover to the replica.
  [[nodiscard]] std::uint64_t generation_of_replica() const {
    return read_stored_pointer(*open_store(replica_.tcp_url()), "tags").value().current.value().generation;
  }

  const RedisServer master_{{"--hz", "100"}};
  const RedisServer replica_{following(master_)};
  const std::unique_ptr<Store> store_ = open_store(master_.tcp_url() + "?wait_replicas=1&timeout=2m");
  HookedStore hooked_{*store_};
  std::optional<WaitsCutShort> in_vain_;
  const SnapshotBytes second_ = build_snapshot();
};

TEST_F(MissingReplica, FailsAPushBeforeThePointerMoves) {
  stop_replica();
  EXPECT_EQ(failure_of([&] { keysieve::push(*store_, view_of(second_), {}); }), ErrorKind::Unavailable);
  EXPECT_EQ(pointer().current->generation, 1U);
  continue_replica();
}

TEST_F(MissingReplica, FailsAPushWhosePointerItMissesUntilTheBuildIsPushedAgain) {
  hooked_.after_put = [this] { stop_replica(); };
  EXPECT_EQ(failure_of([&] { keysieve::push(hooked_, view_of(second_), {}); }), ErrorKind::Unconfirmed);
  EXPECT_EQ(pointer().current->generation, 2U);
  continue_replica();
  const PushResult again = keysieve::push(*store_, view_of(second_), {});
  EXPECT_EQ(again.record.generation, 2U);
  EXPECT_THAT(again.warnings, IsEmpty());
  EXPECT_EQ(generation_of_replica(), 2U);
}

TEST_F(MissingReplica, FailsARollbackWhosePointerItMisses) {
  keysieve::push(*store_, view_of(second_), {});
  const RollbackPlan plan = plan_rollback(*store_, "tags");
  stop_replica();
  EXPECT_EQ(failure_of([&] { rollback(*store_, "tags", plan); }), ErrorKind::Unconfirmed);
  EXPECT_EQ(pointer().current->restores, 1U);
  continue_replica();
}

}  // namespace
}  // namespace keysieve::test
