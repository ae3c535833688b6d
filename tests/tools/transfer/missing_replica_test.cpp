// Pushes and rollbacks that move the pointer while a required replica hangs.
#include <signal.h>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/store_decorator.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tools/transfer/rollback.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve::test {
namespace {

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
  EXPECT_THAT(message_of<ErrorKind::Unavailable>([&] { keysieve::push(*store_, view_of(second_), {}); }),
              AllOf(HasSubstr("only 0 of 1 replicas have it"), Not(HasSubstr("is current"))));
  EXPECT_EQ(pointer().current->generation, 1U);
  continue_replica();
}

TEST_F(MissingReplica, FailsAPushWhosePointerItMissesUntilTheBuildIsPushedAgain) {
  hooked_.after_put = [this] { stop_replica(); };
  EXPECT_THAT(message_of<ErrorKind::Unconfirmed>([&] { keysieve::push(hooked_, view_of(second_), {}); }),
              AllOf(HasSubstr("set \"tags\": generation 2 is current, but not confirmed: "),
                    HasSubstr(master_.tcp_url() + ": only 0 of 1 replicas have it after 60000 ms")));
  EXPECT_EQ(pointer().current->generation, 2U);
  continue_replica();
  const PushResult again = keysieve::push(*store_, view_of(second_), {});
  EXPECT_EQ(again.record.generation, 2U);
  EXPECT_THAT(again.warnings, IsEmpty());
  EXPECT_EQ(generation_of_replica(), 2U);
  EXPECT_THAT(pointer().garbage, IsEmpty());
}

TEST_F(MissingReplica, FailsARollbackWhosePointerItMisses) {
  keysieve::push(*store_, view_of(second_), {});
  const RollbackPlan plan = plan_rollback(*store_, "tags");
  stop_replica();
  EXPECT_THAT(message_of<ErrorKind::Unconfirmed>([&] { rollback(*store_, "tags", plan); }),
              AllOf(HasSubstr("generation 3 is current, but not confirmed: "),
                    HasSubstr("only 0 of 1 replicas have it")));
  EXPECT_EQ(pointer().current->restores, 1U);
  continue_replica();
}

}  // namespace
}  // namespace keysieve::test
