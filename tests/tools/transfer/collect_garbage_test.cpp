#include "tests/tools/transfer/transfer_fixture.hpp"
#include "tools/transfer/garbage.hpp"
#include "tools/transfer/shared_seed.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve::test {
namespace {

class CollectGarbage : public TransferTest {
 protected:
  void put_chunks(std::uint8_t id, std::uint32_t count, const std::string& set_name = "tags") {
    for (std::uint32_t i = 0; i < count; ++i) replace(chunk_key("keysieve", set_name, push_id(id), i), "x");
  }
  // Returns the result for the set "tags", the only one.
  CollectedSet collect(CollectSettings settings = {}) {
    const Collection collection = collect_garbage(*store_, settings);
    EXPECT_THAT(collection.sets, SizeIs(1));
    EXPECT_FALSE(collection.sets.at(0).failure.has_value());
    return collection.sets.at(0);
  }
};

TEST_F(CollectGarbage, LeavesEverythingThatIsNeeded) {
  for (int i = 0; i < 3; ++i) push(build_snapshot({.shard_count = kShardsOfSomeChunks}));
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
  push(build_snapshot());
  put_chunks(1, 70);
  change_pointer([](PointerRecord& pointer) { pointer.garbage.push_back({push_id(1), 70}); });
  const CollectedSet set = collect();
  EXPECT_EQ(set.removed_pushes, 1U);
  EXPECT_EQ(set.removed_chunks, 70U);
  EXPECT_THAT(keys(), SizeIs(2));
  EXPECT_THAT(pointer().garbage, IsEmpty());
}

TEST_F(CollectGarbage, TreatsAPushAsInterruptedAfterADayOrTheGivenAge) {
  push(build_snapshot());
  for (const auto& [age, used] :
       {std::pair{kDay, CollectSettings{}}, {60, {.abandoned_after = std::chrono::minutes{1}}}}) {
    const auto collect_at = [&, &settings = used](UnixSeconds now) {
      CollectSettings at = settings;
      at.now = now;
      return collect(at);
    };
    const UnixSeconds start = unix_now();
    put_chunks(1, 3);
    change_pointer([&](PointerRecord& pointer) { pointer.pending.push_back({push_id(1), 3, start, {}}); });
    EXPECT_EQ(collect_at(start + age - 1).pending_pushes, 1U);
    EXPECT_THAT(keys(), SizeIs(2 + 3));
    EXPECT_EQ(collect_at(start + age).removed_chunks, 3U);
    EXPECT_THAT(keys(), SizeIs(2));
    EXPECT_THAT(pointer().pending, IsEmpty());
    EXPECT_THAT(pointer().garbage, IsEmpty());
  }
}

TEST_F(CollectGarbage, RemovesChunksThatNoRecordLists) {
  push(build_snapshot());
  put_chunks(1, 70);
  put_chunks(2, 1);
  const CollectedSet set = collect();
  EXPECT_EQ(set.removed_pushes, 2U);
  EXPECT_EQ(set.removed_chunks, 71U);
  EXPECT_THAT(keys(), SizeIs(2));
}

TEST_F(CollectGarbage, RemovesAllChunksOfASetWhoseRecordIsGone) {
  push(build_snapshot());
  remove_record(*store_, kPointerKey);
  EXPECT_EQ(collect().removed_chunks, 1U);
  EXPECT_THAT(keys(), IsEmpty());
}

TEST_F(CollectGarbage, ChangesNothingInADryRun) {
  push(build_snapshot());
  put_chunks(1, 3);
  put_chunks(2, 5);
  change_pointer([](PointerRecord& pointer) { pointer.garbage.push_back({push_id(1), 3}); });
  const auto before = keys();
  const std::string record = store_->get(kPointerKey).value();
  const CollectedSet set = collect({.now = unix_now() + kDay, .dry_run = true});
  EXPECT_EQ(set.removed_pushes, 2U);
  EXPECT_EQ(set.removed_chunks, 8U);
  EXPECT_THAT(keys(), UnorderedElementsAreArray(before));
  EXPECT_EQ(store_->get(kPointerKey), record);
}

TEST_F(CollectGarbage, LeavesAndCountsForeignRecords) {
  push(build_snapshot());
  const std::string id(32, 'a');
  std::vector<std::string> foreign{"keysieve:sessions", "keysieve:tags:cache", "keysieve:Tags:current",
                                   "keysieve::current", "keysieve:tags:",      "keysieve:"};
  for (const std::string& name : {id, id + ":", id + ":x", id + ":01", id + ":1:2", id + ":4294967296",
                                  std::string(32, 'A') + ":0", id + "a:0"}) {
    foreign.push_back("keysieve:tags:" + name);
  }
  for (const std::string& key : foreign) replace(key, "x");
  replace("other:tags:" + id + ":0", "x");
  const Collection collection = collect_garbage(*store_, {.now = unix_now() + kDay});
  EXPECT_EQ(collection.foreign_records, foreign.size());
  for (const std::string& key : foreign) EXPECT_EQ(store_->get(key), "x") << key;
  EXPECT_EQ(store_->get("other:tags:" + id + ":0"), "x");
}

TEST_F(CollectGarbage, SkipsASetWhoseRecordIsDamagedOrOfANewerVersionAndCollectsTheOthers) {
  const auto snapshot = build_snapshot();
  push(snapshot);
  replace(kPointerKey, "{");
  put_chunks(1, 1, "shop");
  const Collection collection = collect_garbage(*store_);
  ASSERT_THAT(collection.sets, SizeIs(2));
  EXPECT_EQ(collection.sets[0].set_name, "shop");
  EXPECT_EQ(collection.sets[0].removed_chunks, 1U);
  EXPECT_EQ(collection.sets[1].failure->kind(), ErrorKind::Data);
  EXPECT_THAT(collection.sets[1].failure->what(), HasSubstr("keysieve:tags:current: is not JSON"));
  replace(kPointerKey, R"({"format": 99})");
  EXPECT_EQ(collect_garbage(*store_).sets.at(0).failure->kind(), ErrorKind::Incompatible);
  EXPECT_TRUE(has_chunks_of(snapshot));
}

TEST_F(CollectGarbage, TrimsTheAddsLogUpToTheOldestKeptGeneration) {
  const LogPosition first = append(*store_, {"a"});
  append(*store_, {"b"});
  push(build_snapshot());
  change_pointer([&](PointerRecord& pointer) { pointer.current->adds_from = first; });
  EXPECT_EQ(collect({.dry_run = true}).adds_trimmed_to, first);
  EXPECT_THAT(keys_in(*store_), SizeIs(2));
  EXPECT_EQ(collect().adds_trimmed_to, first);
  EXPECT_THAT(keys_in(*store_), SizeIs(1));
  EXPECT_EQ(pointer().adds_trimmed_to, first);
}

TEST_F(CollectGarbage, ReportsProgressUpToTheTotal) {
  push(build_snapshot({.shard_count = kShardsOfSomeChunks}));
  put_chunks(1, 3);
  std::vector<std::uint64_t> done;
  collect_garbage(*store_, {}, [&](std::uint64_t chunks, std::uint64_t total) {
    EXPECT_EQ(total, 6U);
    done.push_back(chunks);
  });
  EXPECT_THAT(done, ElementsAre(3, 6));
}

}  // namespace
}  // namespace keysieve::test
