#include "tools/transfer/garbage.hpp"
#include "tools/transfer/shared_seed.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/tools/transfer/push_fixture.hpp"
#include "tests/tools/transfer/push_ids.hpp"
#include "tools/transfer/store_bypass.hpp"
#include "tools/transfer/store_contents.hpp"

namespace keysieve {
namespace {

using test::push_id;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAreArray;

constexpr UnixSeconds kDay = std::chrono::seconds(kAbandonedAfter).count();

class CollectGarbage : public test::PushFixture {
 protected:
  void put(const std::string& key, const std::string& value = "x") {
    store_->put_many(std::vector<Record>{{key, value}});
  }
  void put_chunks(std::uint8_t id, std::uint32_t count, const std::string& set_name = "tags") {
    for (std::uint32_t i = 0; i < count; ++i) put(chunk_key("keysieve", set_name, push_id(id), i));
  }
  void change(const std::function<void(PointerRecord&)>& how) {
    PointerRecord changed = pointer();
    how(changed);
    put("keysieve:tags:current", encode(changed));
  }
  // Of the set "tags", which is the only one.
  CollectedSet collect(CollectSettings settings = {}) {
    const Collection collection = collect_garbage(*store_, settings);
    EXPECT_THAT(collection.sets, SizeIs(1));
    EXPECT_FALSE(collection.sets.at(0).failure.has_value());
    return collection.sets.at(0);
  }
};

TEST_F(CollectGarbage, FindsNothingInAnEmptyStore) {
  EXPECT_THAT(collect_garbage(*store_).sets, IsEmpty());
}

TEST_F(CollectGarbage, LeavesWhatIsNeeded) {
  for (int i = 0; i < 3; ++i) push(test::build_snapshot({.shard_count = test::kShardsOfSomeChunks}));
  shared_seed(*store_);
  set_store_bypass(*store_, "tags", {});
  set_store_bypass(*store_, std::nullopt, {});
  const auto before = keys();
  const Collection collection = collect_garbage(*store_);
  EXPECT_THAT(keys(), UnorderedElementsAreArray(before));
  EXPECT_EQ(collection.foreign_records, 0U);
  EXPECT_EQ(collection.sets.at(0).kept_generations, 3U);
  EXPECT_EQ(collection.sets.at(0).removed_chunks, 0U);
}

TEST_F(CollectGarbage, FinishesARemovalThatWasInterrupted) {
  push(test::build_snapshot());
  put_chunks(1, 70);
  change([](PointerRecord& pointer) { pointer.garbage.push_back({push_id(1), 70}); });
  const CollectedSet set = collect();
  EXPECT_EQ(set.removed_pushes, 1U);
  EXPECT_EQ(set.removed_chunks, 70U);
  EXPECT_THAT(keys(), SizeIs(2));
  EXPECT_THAT(pointer().garbage, IsEmpty());
}

TEST_F(CollectGarbage, TakesAPushOfADayForInterrupted) {
  const UnixSeconds start = unix_now();
  push(test::build_snapshot());
  put_chunks(1, 3);
  change([&](PointerRecord& pointer) { pointer.pending.push_back({push_id(1), 3, start, {}}); });
  EXPECT_EQ(collect({.now = start + kDay - 1}).pending_pushes, 1U);
  EXPECT_THAT(keys(), SizeIs(2 + 3));
  EXPECT_EQ(collect({.now = start + kDay}).removed_chunks, 3U);
  EXPECT_THAT(keys(), SizeIs(2));
  EXPECT_THAT(pointer().pending, IsEmpty());
  EXPECT_THAT(pointer().garbage, IsEmpty());
}

TEST_F(CollectGarbage, TakesAnotherAgeWhenTold) {
  const UnixSeconds start = unix_now();
  push(test::build_snapshot());
  change([&](PointerRecord& pointer) { pointer.pending.push_back({push_id(1), 3, start, {}}); });
  EXPECT_EQ(collect({.now = start + 59, .abandoned_after = std::chrono::minutes{1}}).pending_pushes, 1U);
  EXPECT_EQ(collect({.now = start + 60, .abandoned_after = std::chrono::minutes{1}}).pending_pushes, 0U);
}

TEST_F(CollectGarbage, RemovesChunksThatNoRecordKnows) {
  push(test::build_snapshot());
  put_chunks(1, 70);
  put_chunks(2, 1);
  const CollectedSet set = collect();
  EXPECT_EQ(set.removed_pushes, 2U);
  EXPECT_EQ(set.removed_chunks, 71U);
  EXPECT_THAT(keys(), SizeIs(2));
}

TEST_F(CollectGarbage, RemovesAllChunksOfASetWhoseRecordIsGone) {
  push(test::build_snapshot());
  store_->remove_many(std::vector<std::string>{"keysieve:tags:current"});
  EXPECT_EQ(collect().removed_chunks, 1U);
  EXPECT_THAT(keys(), IsEmpty());
}

TEST_F(CollectGarbage, ChangesNothingInADryRun) {
  push(test::build_snapshot());
  put_chunks(1, 3);
  put_chunks(2, 5);
  change([](PointerRecord& pointer) { pointer.garbage.push_back({push_id(1), 3}); });
  const auto before = keys();
  const std::string record = store_->get("keysieve:tags:current").value();
  const CollectedSet set = collect({.now = unix_now() + kDay, .dry_run = true});
  EXPECT_EQ(set.removed_pushes, 2U);
  EXPECT_EQ(set.removed_chunks, 8U);
  EXPECT_THAT(keys(), UnorderedElementsAreArray(before));
  EXPECT_EQ(store_->get("keysieve:tags:current"), record);
}

TEST_F(CollectGarbage, LeavesAndCountsWhatIsNotOfKeysieve) {
  push(test::build_snapshot());
  const std::string id(32, 'a');
  const std::vector<std::string> foreign{"keysieve:sessions",
                                         "keysieve:tags:cache",
                                         "keysieve:Tags:current",
                                         "keysieve:tags:" + id,
                                         "keysieve:tags:" + id + ":",
                                         "keysieve:tags:" + id + ":x",
                                         "keysieve:tags:" + id + ":01",
                                         "keysieve:tags:" + id + ":1:2",
                                         "keysieve:tags:" + id + ":4294967296",
                                         "keysieve:tags:" + std::string(32, 'A') + ":0",
                                         "keysieve:tags:" + id + "a:0",
                                         "keysieve::current",
                                         "keysieve:tags:",
                                         "keysieve:"};
  for (const std::string& key : foreign) put(key);
  put("other:tags:" + id + ":0");
  const Collection collection = collect_garbage(*store_, {.now = unix_now() + kDay});
  EXPECT_EQ(collection.foreign_records, foreign.size());
  for (const std::string& key : foreign) EXPECT_EQ(store_->get(key), "x") << key;
  EXPECT_EQ(store_->get("other:tags:" + id + ":0"), "x");
}

TEST_F(CollectGarbage, LeavesASetWithADamagedRecordAloneAndDoesTheOthers) {
  const auto snapshot = test::build_snapshot();
  push(snapshot);
  put("keysieve:tags:current", "{");
  put_chunks(1, 1, "shop");
  const Collection collection = collect_garbage(*store_);
  ASSERT_THAT(collection.sets, SizeIs(2));
  EXPECT_EQ(collection.sets[0].set_name, "shop");
  EXPECT_EQ(collection.sets[0].removed_chunks, 1U);
  EXPECT_EQ(collection.sets[1].failure->kind(), ErrorKind::Data);
  EXPECT_THAT(collection.sets[1].failure->what(), HasSubstr("keysieve:tags:current: is not JSON"));
  EXPECT_TRUE(has_chunks_of(snapshot));
}

TEST_F(CollectGarbage, LeavesASetOfANewerVersionAlone) {
  const auto snapshot = test::build_snapshot();
  push(snapshot);
  put("keysieve:tags:current", R"({"format": 99})");
  EXPECT_EQ(collect_garbage(*store_).sets.at(0).failure->kind(), ErrorKind::Incompatible);
  EXPECT_TRUE(has_chunks_of(snapshot));
}

TEST_F(CollectGarbage, TrimsTheAddsLogUpToTheOldestKeptGeneration) {
  const std::string log = "keysieve:tags:adds";
  const std::vector<std::string> added{"a", "b"};
  const LogPosition first = store_->append(log, std::span(added).first(1));
  store_->append(log, std::span(added).last(1));
  push(test::build_snapshot());
  change([&](PointerRecord& pointer) { pointer.current->adds_from = first; });
  EXPECT_EQ(collect({.dry_run = true}).adds_trimmed_to, first);
  EXPECT_THAT(store_->read_after(log, {}, 10), SizeIs(2));
  EXPECT_EQ(collect().adds_trimmed_to, first);
  EXPECT_THAT(store_->read_after(log, {}, 10), SizeIs(1));
  EXPECT_EQ(pointer().adds_trimmed_to, first);
}

TEST_F(CollectGarbage, ReportsProgressUpToTheWhole) {
  push(test::build_snapshot({.shard_count = test::kShardsOfSomeChunks}));
  put_chunks(1, 3);
  std::vector<std::uint64_t> done;
  collect_garbage(*store_, {}, [&](std::uint64_t chunks, std::uint64_t total) {
    EXPECT_EQ(total, 6U);
    done.push_back(chunks);
  });
  EXPECT_THAT(done, ElementsAre(3, 6));
}

class CollectGarbageIn : public ::testing::TestWithParam<test::StoreKind> {};
INSTANTIATE_TEST_SUITE_P(Stores, CollectGarbageIn, test::every_store, test::store_kind_name);

TEST_P(CollectGarbageIn, EveryStoreLeavesExactlyWhatIsKept) {
  const test::TemporaryDirectory directory;
  const auto store = open_store(GetParam().empty_store(directory));
  const auto snapshot = test::build_snapshot({.shard_count = test::kShardsOfSomeChunks});
  push(*store, test::view_of(snapshot), {});
  const std::string orphan = chunk_key(store->prefix(), "tags", push_id(1), 0);
  const std::string foreign = store->prefix() + ":session";
  store->put_many(std::vector<Record>{{orphan, "x"}, {foreign, "x"}});
  const Collection collection = collect_garbage(*store);
  EXPECT_EQ(collection.foreign_records, 1U);
  EXPECT_EQ(collection.sets.at(0).removed_chunks, 1U);
  EXPECT_THAT(store->keys_with_prefix(store->prefix() + ":"), SizeIs(1 + 3 + 1));
  EXPECT_EQ(store->get(foreign), "x");
  EXPECT_TRUE(std::ranges::equal(pull(*store, "tags").snapshot.get(), snapshot.get()));
}

}  // namespace
}  // namespace keysieve
