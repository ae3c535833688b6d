// A set is removed from every kind of store; a fault at any step leaves the set whole, or rests that
// another call removes.
#include "tools/transfer/delete_set.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"

#include "tests/support/store_calls.hpp"
#include "tests/tools/transfer/shared_store.hpp"
#include "tests/tools/transfer/stepped_store.hpp"
#include "tools/records/chunk.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve::test {
namespace {

class DeleteSet : public ::testing::TestWithParam<StoreKind> {
 protected:
  DeleteSet() {
    for (std::size_t i = 0; i < 4; ++i) pushing(i)(*store_);
    if (store_->abilities().log) {
      const std::string key = "added";
      store_->append(adds_log(*store_, "tags"), {&key, 1});
    }
  }

  // Deletes the set again, and checks that only its pointer record may be left.
  void expect_gone() {
    delete_set(*store_, "tags");
    EXPECT_FALSE(read_pointer(*store_, "tags"));
    EXPECT_FALSE(has_anything_of(*store_, "tags"));
    if (!store_->abilities().list) return;
    EXPECT_THAT(store_->keys_with_prefix("keysieve:"), ::testing::ElementsAre(pointer_key(*store_, "tags")));
  }

  void put_chunk(const std::string& set_name, const PushId& push, std::uint32_t number) {
    put(*store_, chunk_key(store_->prefix(), set_name, push, number), "x");
  }

  // As a build that has looked at the log.
  SnapshotBytes fresh_snapshot() {
    return build_snapshot({.keys = 10,
                           .shard_count = kShardsOfSomeChunks,
                           .as_of = unix_now(),
                           .adds_from = store_->end_of(adds_log(*store_, "tags"))});
  }

  TemporaryDirectory directory_;
  const std::string url_ = GetParam().empty_store(directory_);
  std::unique_ptr<Store> store_ = GetParam().open(url_);
};

TEST_P(DeleteSet, RemovesGenerationsAndAdds) {
  const DeletedSet deleted = delete_set(*store_, "tags");
  EXPECT_EQ(deleted.generations, 3U);
  EXPECT_EQ(deleted.chunks, 6U);
  EXPECT_FALSE(deleted.is_still_bypassed);
  EXPECT_FALSE(has_adds(*store_, "tags"));
  expect_gone();
}

// As of a push whose record was lost. A store that cannot list drops them by itself.
TEST_P(DeleteSet, RemovesChunksThatNoRecordLists) {
  if (!store_->abilities().list) return;
  for (std::uint32_t number = 0; number < 70; ++number) put_chunk("tags", push_id(1), number);
  EXPECT_EQ(delete_set(*store_, "tags").chunks, 6U + 70U);
  EXPECT_THAT(store_->keys_with_prefix("keysieve:"), ::testing::ElementsAre(pointer_key(*store_, "tags")));
}

TEST_P(DeleteSet, RemovesTheChunksOfASetWithoutARecord) {
  if (!store_->abilities().list) return;
  put_chunk("shop", push_id(1), 0);
  put_chunk("shop", push_id(2), 4'000'000'000);
  EXPECT_TRUE(has_anything_of(*store_, "shop"));
  EXPECT_EQ(delete_set(*store_, "shop").chunks, 2U);
  EXPECT_FALSE(has_anything_of(*store_, "shop"));
  EXPECT_THAT(store_->keys_with_prefix("keysieve:shop:"),
              ::testing::ElementsAre(pointer_key(*store_, "shop")));
  expect_whole(*store_, "the other set");
}

TEST_P(DeleteSet, LeavesForeignRecordsAlone) {
  if (!store_->abilities().list) return;
  const std::string id(32, 'a');
  std::vector<std::string> foreign{"keysieve:tags:cache", "keysieve:tagset:" + id + ":0",
                                   "other:tags:" + id + ":0"};
  for (const std::string& name : {id, id + ":", id + ":x", id + ":01", id + ":1:2", id + ":4294967296",
                                  std::string(32, 'A') + ":0", id + "a:0"}) {
    foreign.push_back("keysieve:tags:" + name);
  }
  for (const std::string& key : foreign) put(*store_, key, "x");
  EXPECT_EQ(delete_set(*store_, "tags").chunks, 6U);
  for (const std::string& key : foreign) EXPECT_EQ(store_->get(key), "x") << key;
}

TEST_P(DeleteSet, CanBeDoneAgainAndAfterItTheSetCanBePushedAgain) {
  delete_set(*store_, "tags");
  EXPECT_EQ(delete_set(*store_, "tags").generations, 0U);
  EXPECT_EQ(push(*store_, view_of(fresh_snapshot()), {}).record.generation, 1U);
  expect_usable(*store_, "pushed again");
}

TEST_P(DeleteSet, StillRefusesASnapshotThatLacksTheAddsThatItRemoved) {
  if (!store_->abilities().log) return;
  delete_set(*store_, "tags");
  EXPECT_EQ(failure_of([&] { push(*store_, view_of(numbered_snapshot(3)), {}); }), ErrorKind::Data);
}

TEST_P(DeleteSet, LetsTheSameSnapshotComeBackIfNothingWasAdded) {
  const SnapshotBytes shop = build_snapshot({.set_name = "shop"});
  push(*store_, view_of(shop), {});
  delete_set(*store_, "shop");
  EXPECT_EQ(push(*store_, view_of(shop), {}).record.generation, 1U);
  EXPECT_TRUE(are_same(pull(*store_, "shop").snapshot, shop));
}

TEST_P(DeleteSet, KeepsABypassThatIsInForceAndClearsOneThatIsOver) {
  set_store_bypass(*store_, "tags", 0);
  EXPECT_TRUE(delete_set(*store_, "tags").is_still_bypassed);
  EXPECT_EQ(read_store_bypasses(*store_, "tags").of_set, 0);
  set_store_bypass(*store_, "tags", 2);
  EXPECT_FALSE(delete_set(*store_, "tags").is_still_bypassed);
  EXPECT_EQ(read_store_bypasses(*store_, "tags").of_set, std::nullopt);
}

TEST_P(DeleteSet, LeavesTheSetOrRestsForTheNextCallWhereverItIsKilled) {
  for (const Fault fault : {Fault::CrashBefore, Fault::CrashAfter, Fault::NotReached, Fault::AnswerLost}) {
    delete_set(*store_, "tags");
    const SnapshotBytes fresh = fresh_snapshot();
    bool has_failed = true;
    for (int at = 1; has_failed; ++at) {
      push(*store_, view_of(fresh), {});
      FaultyStore faulty(*store_, fault, at);
      try {
        delete_set(faulty, "tags");
      } catch (const Crash&) {
      } catch (const Error&) {
      }
      has_failed = faulty.has_failed();
      const std::string when = "step " + std::to_string(at);
      expect_whole(*store_, when);
      expect_usable(*store_, when);
      if (!read_pointer(*store_, "tags")) expect_gone();
    }
    delete_set(*store_, "tags");
    expect_gone();
  }
}

TEST_P(DeleteSet, MakesAPushThatIsUnderWayBeginAgain) {
  if (!store_->abilities().durable) return;  // the push ends, for its chunks are gone
  StoppedStore stopped(*store_, 4, [this] { delete_set(*store_, "tags"); });
  const SnapshotBytes fresh = fresh_snapshot();
  EXPECT_EQ(push(stopped, view_of(fresh), {.max_shrink = std::nullopt}).record.generation, 1U);
  EXPECT_TRUE(stopped.has_stopped());
  expect_usable(*store_, "pushed");
}

INSTANTIATE_TEST_SUITE_P(EveryStore, DeleteSet, ::testing::ValuesIn(usual_stores_that({.write = true})),
                         store_kind_name);

}  // namespace
}  // namespace keysieve::test
