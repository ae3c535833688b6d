// A set is removed from a store that can list its records, or cannot; a fault at any step leaves the set
// whole, or rests that another call removes.
#include "tools/transfer/delete_set.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"

#include "tests/support/store_calls.hpp"
#include "tests/tools/transfer/shared_store.hpp"
#include "tests/tools/transfer/stepped_store.hpp"
#include "tests/tools/transfer/transfer_fixture.hpp"
#include "tools/records/chunk.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve::test {
namespace {

class DeleteSet : public TransferTest {
 protected:
  DeleteSet() {
    for (std::size_t i = 0; i < 4; ++i) pushing(i)(*store_);
    append(*store_, {"added"});
  }

  // Deletes the set again, and checks that only its pointer record may be left.
  void expect_gone() {
    delete_set(*store_, "tags");
    EXPECT_FALSE(read_pointer(*store_, "tags"));
    EXPECT_FALSE(has_anything_of(*store_, "tags"));
    EXPECT_THAT(keys(), ElementsAre(kPointerKey));
  }

  void put_chunk(const std::string& set_name, const PushId& push, std::uint32_t number) {
    replace(chunk_key(store_->prefix(), set_name, push, number), "x");
  }

  // As a build that has looked at the log.
  SnapshotBytes fresh_snapshot() {
    return build_snapshot({.keys = 10,
                           .shard_count = kShardsOfSomeChunks,
                           .as_of = unix_now(),
                           .adds_from = store_->end_of(adds_log(*store_, "tags"))});
  }
};

TEST_F(DeleteSet, RemovesGenerationsAndAdds) {
  const DeletedSet deleted = delete_set(*store_, "tags");
  EXPECT_EQ(deleted.generations, 3U);
  EXPECT_EQ(deleted.chunks, 6U);
  EXPECT_FALSE(deleted.is_still_bypassed);
  EXPECT_FALSE(has_adds(*store_, "tags"));
  expect_gone();
}

TEST(DeleteSetOfAStoreThatCannotList, RemovesGenerations) {
  shared_memcached().flush();
  const auto store = open_store(patient(shared_memcached().url()));
  for (std::size_t i = 0; i < 4; ++i) pushing(i)(*store);
  EXPECT_EQ(delete_set(*store, "tags").chunks, 6U);
  EXPECT_FALSE(read_pointer(*store, "tags"));
  EXPECT_FALSE(has_anything_of(*store, "tags"));
  pushing(5)(*store);
  expect_usable(*store, "pushed again");
}

// As of a push whose record was lost.
TEST_F(DeleteSet, RemovesChunksThatNoRecordLists) {
  for (std::uint32_t number = 0; number < 70; ++number) put_chunk("tags", push_id(1), number);
  EXPECT_EQ(delete_set(*store_, "tags").chunks, 6U + 70U);
  EXPECT_THAT(keys(), ElementsAre(kPointerKey));
}

TEST_F(DeleteSet, RemovesTheChunksOfASetWithoutARecord) {
  put_chunk("shop", push_id(1), 0);
  put_chunk("shop", push_id(2), 4'000'000'000);
  EXPECT_TRUE(has_anything_of(*store_, "shop"));
  EXPECT_EQ(delete_set(*store_, "shop").chunks, 2U);
  EXPECT_FALSE(has_anything_of(*store_, "shop"));
  EXPECT_THAT(store_->keys_with_prefix("keysieve:shop:"), ElementsAre(pointer_key(*store_, "shop")));
  expect_whole(*store_, "the other set");
}

TEST_F(DeleteSet, LeavesForeignRecordsAlone) {
  const std::string id(32, 'a');
  std::vector<std::string> foreign{"keysieve:tags:cache", "keysieve:tagset:" + id + ":0",
                                   "other:tags:" + id + ":0"};
  for (const std::string& name : {id, id + ":", id + ":x", id + ":01", id + ":1:2", id + ":4294967296",
                                  std::string(32, 'A') + ":0", id + "a:0"}) {
    foreign.push_back("keysieve:tags:" + name);
  }
  for (const std::string& key : foreign) replace(key, "x");
  EXPECT_EQ(delete_set(*store_, "tags").chunks, 6U);
  for (const std::string& key : foreign) EXPECT_EQ(store_->get(key), "x") << key;
}

TEST_F(DeleteSet, CanBeDoneAgainAndAfterItTheSetCanBePushedAgain) {
  delete_set(*store_, "tags");
  EXPECT_EQ(delete_set(*store_, "tags").generations, 0U);
  EXPECT_EQ(push(fresh_snapshot()).record.generation, 1U);
  expect_usable(*store_, "pushed again");
}

TEST_F(DeleteSet, StillRefusesASnapshotThatLacksTheAddsThatItRemoved) {
  delete_set(*store_, "tags");
  EXPECT_EQ(failure_of([&] { push(numbered_snapshot(3)); }), ErrorKind::Data);
}

TEST_F(DeleteSet, LetsTheSameSnapshotComeBackIfNothingWasAdded) {
  const SnapshotBytes shop = build_snapshot({.set_name = "shop"});
  push(shop);
  delete_set(*store_, "shop");
  EXPECT_EQ(push(shop).record.generation, 1U);
  EXPECT_TRUE(are_same(keysieve::pull(*store_, "shop").snapshot, shop));
}

TEST_F(DeleteSet, KeepsABypassThatIsInForceAndClearsOneThatIsOver) {
  set_store_bypass(*store_, "tags", 0);
  EXPECT_TRUE(delete_set(*store_, "tags").is_still_bypassed);
  EXPECT_EQ(read_store_bypasses(*store_, "tags").of_set, 0);
  set_store_bypass(*store_, "tags", 2);
  EXPECT_FALSE(delete_set(*store_, "tags").is_still_bypassed);
  EXPECT_EQ(read_store_bypasses(*store_, "tags").of_set, std::nullopt);
}

TEST_F(DeleteSet, LeavesTheSetOrRestsForTheNextCallWhereverItIsKilled) {
  for (const Fault fault : {Fault::CrashBefore, Fault::CrashAfter, Fault::NotReached, Fault::AnswerLost}) {
    delete_set(*store_, "tags");
    const SnapshotBytes fresh = fresh_snapshot();
    bool has_failed = true;
    for (int at = 1; has_failed; ++at) {
      push(fresh);
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

TEST_F(DeleteSet, MakesAPushThatIsUnderWayBeginAgain) {
  StoppedStore stopped(*store_, 4, [this] { delete_set(*store_, "tags"); });
  const SnapshotBytes fresh = fresh_snapshot();
  EXPECT_EQ(keysieve::push(stopped, view_of(fresh), {.max_shrink = std::nullopt}).record.generation, 1U);
  EXPECT_TRUE(stopped.has_stopped());
  expect_usable(*store_, "pushed");
}

}  // namespace
}  // namespace keysieve::test
