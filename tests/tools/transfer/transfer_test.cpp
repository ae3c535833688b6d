// Transfer over every store, and the seed and geometry that a store gives to builds.
#include "tools/transfer/transfer.hpp"

#include <cstring>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/tools/transfer/transfer_fixture.hpp"
#include "tools/records/chunk.hpp"
#include "tools/transfer/rollback.hpp"
#include "tools/transfer/shared_seed.hpp"
#include "tools/transfer/store_bypass.hpp"
#include "tools/transfer/stored_sets.hpp"

namespace keysieve::test {
namespace {

class TransferOverEveryStore : public ::testing::TestWithParam<StoreKind> {
 protected:
  [[nodiscard]] std::unique_ptr<Store> open(const std::string& parameter = "") const {
    return GetParam().open(parameter.empty() ? url_ : with_parameter(url_, parameter));
  }

  TemporaryDirectory directory_;
  std::string url_ = GetParam().empty_store(directory_);
};

INSTANTIATE_TEST_SUITE_P(Stores, TransferOverEveryStore, ::testing::ValuesIn(usual_stores_that({})),
                         store_kind_name);

TEST_P(TransferOverEveryStore, BringsEverySetToAnotherClient) {
  const auto tags = build_snapshot({.keys = 20'000, .shard_count = kShardsOfSomeBatches});
  const auto shop = build_snapshot({.set_name = "shop", .kind = "bloom", .keys = 10});
  const auto writer = open();
  push(*writer, view_of(tags), {});
  push(*writer, view_of(shop), {});
  const auto reader = open();
  EXPECT_TRUE(are_same(pull(*reader, "tags").snapshot, tags));
  EXPECT_TRUE(are_same(pull(*reader, "shop").snapshot, shop));
}

// Records of a set and those of the store never meet.
TEST_P(TransferOverEveryStore, BringsSetsThatAreNamedLikeRecords) {
  const auto store = open();
  const std::vector<std::string> names{"adds", "bypass", "current", "seed"};
  set_store_bypass(*store, std::nullopt, 1);
  const HashSeed seed = shared_seed(*store);
  UnixSeconds until = 2;
  for (const std::string& name : names) {
    const auto snapshot = build_snapshot({.set_name = name, .keys = 10});
    EXPECT_EQ(read_pointer(*store, name), std::nullopt);
    push(*store, view_of(snapshot), {});
    set_store_bypass(*store, name, until++);
    EXPECT_TRUE(are_same(pull(*store, name).snapshot, snapshot)) << name;
  }
  until = 2;
  for (const std::string& name : names) {
    EXPECT_EQ(read_store_bypasses(*store, name).of_set, until++) << name;
  }
  EXPECT_EQ(read_store_bypasses(*store, {}).of_all, 1);
  EXPECT_EQ(shared_seed(*store), seed);
}

TEST_P(TransferOverEveryStore, KeepsPrefixesApart) {
  const auto ours = open("prefix=ours");
  const auto theirs = open("prefix=theirs");
  const auto snapshot = build_snapshot();
  push(*ours, view_of(snapshot), {});
  EXPECT_EQ(read_pointer(*theirs, "tags"), std::nullopt);
  EXPECT_NE(shared_seed(*ours), shared_seed(*theirs));
}

using SharedSeed = TransferTest;
using ReadHeader = TransferTest;

class StoredSets : public TransferTest {};

TEST_F(StoredSets, AreReadOnceThoughARecordIsDamaged) {
  for (const std::string name : {"a", "b", "c"}) {
    const auto snapshot = build_snapshot({.set_name = name, .keys = 10});
    keysieve::push(*store_, view_of(snapshot), {});
  }
  replace("keysieve:b:current", "{}");
  int reads = 0;
  hooked_.before_get_many = [&reads](auto) { ++reads; };
  const std::vector<StoredSet> sets = stored_sets(hooked_);
  EXPECT_EQ(reads, 1);
  ASSERT_EQ(sets.size(), 3U);
  for (const StoredSet& set : sets) EXPECT_EQ(set.failure.has_value(), set.name == "b") << set.name;
}

TEST_F(SharedSeed, IsThatOfABuilderWhoCameFirst) {
  std::optional<HashSeed> first;
  hooked_.before_compare_and_set = once([&] { first = shared_seed(*store_); });
  EXPECT_EQ(shared_seed(hooked_), first);
  EXPECT_EQ(shared_seed(*store_), first);
}

TEST_F(SharedSeed, IsRefusedWhenItsRecordIsDamaged) {
  for (const char* text : {"", "xyz", "0123456789abcdef", "0123456789ABCDEF0123456789abcdef",
                           "0123456789abcdef0123456789abcdef\n", "00000000000000000000000000000000"}) {
    replace("keysieve:seed", text);
    EXPECT_EQ(failure_of([&] { shared_seed(*store_); }), ErrorKind::Data) << text;
  }
}

TEST_F(SharedSeed, OfASetThatCannotBeReadCountsAsAnother) {
  push(build_snapshot({.set_name = "alike"}));
  push(build_snapshot({.set_name = "other", .seed = {8}}));
  push(build_snapshot());
  EXPECT_THAT(sets_of_other_seeds(*store_, {7}), ElementsAre("other"));
  remove_record(*store_, key_of_chunk(0));
  EXPECT_THAT(sets_of_other_seeds(*store_, {7}), ElementsAre("other", "tags"));
  replace(kPointerKey, "{");
  EXPECT_THAT(sets_of_other_seeds(*store_, {7}), ElementsAre("other", "tags"));
}

TEST_F(ReadHeader, ReturnsThatOfAKeptGeneration) {
  const auto snapshot = build_snapshot({.known_absent = 20'000});
  const SnapshotRecord record = push(snapshot).record;
  push(build_snapshot());
  const SnapshotHeader header = read_header(*store_, "tags", record);
  EXPECT_EQ(std::memcmp(&header, snapshot.get().data(), sizeof header), 0);
}

TEST_F(ReadHeader, IsRefusedWhenTheFirstChunkIsDamagedOrMissingOrOfAnother) {
  const SnapshotRecord record = push(build_snapshot()).record;
  const auto failure = [&] { return failure_of([&] { read_header(*store_, "tags", record); }); };
  damage(key_of_chunk(0));
  EXPECT_EQ(failure(), ErrorKind::Data);
  replace(key_of_chunk(0), encode_chunk(0, build_snapshot().get()));
  EXPECT_EQ(failure(), ErrorKind::Data);
  remove_record(*store_, key_of_chunk(0));
  EXPECT_EQ(failure(), ErrorKind::Data);
}

constexpr UnixSeconds kBypassedAt = 1'700'000'000;

// Over each store: BringsSetsThatAreNamedLikeRecords. Where it begins and ends on a host: histories_test.cpp.
using StoreBypassTest = TransferTest;

TEST_F(StoreBypassTest, AppliesToOneSetOrToAllAsItWasSetLast) {
  EXPECT_EQ(read_store_bypasses(*store_, "tags").of_set, std::nullopt);
  EXPECT_EQ(read_store_bypasses(*store_, {}).of_all, std::nullopt);
  set_store_bypass(*store_, "tags", kBypassedAt);
  set_store_bypass(*store_, "tags", kBypassedAt + 60);
  EXPECT_EQ(read_store_bypasses(*store_, "tags").of_set, kBypassedAt + 60);
  EXPECT_EQ(read_store_bypasses(*store_, "shop").of_set, std::nullopt);
  EXPECT_EQ(read_store_bypasses(*store_, "tags").of_all, std::nullopt);
  set_store_bypass(*store_, std::nullopt, 0);
  EXPECT_EQ(read_store_bypasses(*store_, "tags").of_set, kBypassedAt + 60);
  EXPECT_EQ(read_store_bypasses(*store_, "shop").of_all, 0);
  EXPECT_EQ(read_store_bypasses(*store_, {}).of_all, 0);
}

TEST_F(StoreBypassTest, IsGoneWhenItIsCleared) {
  set_store_bypass(*store_, "tags", 0);
  set_store_bypass(*store_, std::nullopt, 0);
  set_store_bypass(*store_, "tags", {});
  EXPECT_EQ(read_store_bypasses(*store_, "tags").of_set, std::nullopt);
  EXPECT_TRUE(read_store_bypasses(*store_, "tags").of_all);
  for (int times = 0; times < 2; ++times) set_store_bypass(*store_, std::nullopt, {});
  EXPECT_FALSE(read_store_bypasses(*store_, "tags").of_all);
  set_store_bypass(*store_, "shop", {});
  EXPECT_TRUE(read_stored_pointer(*store_, "shop")) << "so that loaders hear of it";
}

TEST_F(StoreBypassTest, StaysThroughPushAndRollback) {
  push(build_snapshot());
  set_store_bypass(*store_, "tags", kBypassedAt);
  push(build_snapshot());
  rollback(*store_, "tags", plan_rollback(*store_, "tags"));
  EXPECT_EQ(read_store_bypasses(*store_, "tags").of_set, kBypassedAt);
}

// An operator may write the record of all sets with any client at 3 a.m.
TEST_F(StoreBypassTest, HasNoEndWhenItCannotBeParsed) {
  for (const char* text : {"", "on", "1", "[]", "{}", "null", R"({"until":-1})", R"({"until":"soon"})",
                           R"({"until":1e300})", R"({"until":18446744073709551615})", R"({"until":1.5})"}) {
    replace("keysieve:bypass", text);
    EXPECT_EQ(read_store_bypasses(*store_, "tags").of_all, 0) << text;
  }
  replace("keysieve:bypass", R"({"until": 1700000060, "by": "a later version"})");
  EXPECT_EQ(read_store_bypasses(*store_, {}).of_all, kBypassedAt + 60);
}

TEST_F(StoreBypassTest, RefusesAWrongSetName) {
  EXPECT_EQ(failure_of([&] { set_store_bypass(*store_, "a:b", 0); }), ErrorKind::Usage);
  EXPECT_EQ(failure_of([&] { set_store_bypass(*store_, "", {}); }), ErrorKind::Usage);
  EXPECT_EQ(failure_of([&] { read_store_bypasses(*store_, "../x"); }), ErrorKind::Usage);
}

TEST(BypassedUntil, IsTheLaterEndOfThoseInForce) {
  constexpr UnixSeconds kSooner = kBypassedAt + 1;
  constexpr UnixSeconds kLater = kBypassedAt + 2;
  EXPECT_EQ(bypassed_until({}, kBypassedAt), std::nullopt);
  EXPECT_EQ(bypassed_until({kBypassedAt, kBypassedAt - 1}, kBypassedAt), std::nullopt);
  EXPECT_EQ(bypassed_until({kSooner, {}}, kBypassedAt), kSooner);
  EXPECT_EQ(bypassed_until({kSooner, kLater}, kBypassedAt), kLater);
  EXPECT_EQ(bypassed_until({kLater, kSooner}, kBypassedAt), kLater);
  EXPECT_EQ(bypassed_until({kLater, 0}, kBypassedAt), 0);
  EXPECT_EQ(bypassed_until({0, kSooner}, kBypassedAt), 0);
}

class PullTest : public TransferTest {
 protected:
  PullTest() { push(snapshot_); }

  std::optional<ErrorKind> failure() {
    return failure_of([&] { pull(); });
  }
  // Changes the current record in the store by hand.
  void change_record(const std::function<void(SnapshotRecord&)>& change) {
    change_pointer([&](PointerRecord& pointer) { change(*pointer.current); });
  }

  SnapshotBytes snapshot_ = build_snapshot({.shard_count = kShardsOfSomeChunks});
};

TEST_F(PullTest, SaysThatASetWasNeverPushed) {
  EXPECT_EQ(failure_of([&] { keysieve::pull(*store_, "shop"); }), ErrorKind::MissingInput);
  EXPECT_EQ(read_pointer(*store_, "shop"), std::nullopt);
}

TEST_F(PullTest, RefusesWhatIsNotTheChunk) {
  const std::string whole = store_->get(key_of_chunk(1)).value();
  std::string changed = whole;
  changed.back() ^= 1;
  for (const std::string& value : {whole.substr(0, 1000), changed, store_->get(key_of_chunk(0)).value(),
                                   std::string(whole.size(), 'x')}) {
    replace(key_of_chunk(1), value);
    EXPECT_EQ(failure(), ErrorKind::Data) << value.size();
  }
  remove_record(*store_, key_of_chunk(1));
  EXPECT_EQ(failure(), ErrorKind::Data);
}

TEST_F(PullTest, RefusesChunksOfAnotherBuild) {
  const auto other = build_snapshot({.shard_count = kShardsOfSomeChunks, .seed = {8}});
  for (const std::uint32_t number : {0U, 1U}) {
    const std::string chunk = store_->get(key_of_chunk(number)).value();
    replace(key_of_chunk(number), encode_chunk(number, chunk_payload(other.get(), number)));
    EXPECT_EQ(failure(), ErrorKind::Data) << number;
    replace(key_of_chunk(number), chunk);
  }
  EXPECT_EQ(failure(), std::nullopt);
}

TEST_F(PullTest, RefusesASnapshotOfAnotherSet) {
  const PushId id = push(build_snapshot({.set_name = "shop"})).record.push_id;
  replace(kPointerKey, store_->get("keysieve:shop:current").value());
  replace(chunk_key("keysieve", "tags", id, 0), store_->get(chunk_key("keysieve", "shop", id, 0)).value());
  EXPECT_EQ(failure(), ErrorKind::Data);
}

// One of them claims 32 TiB, for which nothing is allocated.
TEST_F(PullTest, RefusesARecordThatDescribesAnotherSnapshot) {
  using Change = void (*)(SnapshotRecord&);
  const SnapshotRecord right = current();
  for (const Change change :
       {Change([](auto& record) { record.checksum ^= 1; }), Change([](auto& record) { ++record.key_count; }),
        Change([](auto& record) { ++record.as_of; }), Change([](auto& record) { record.kind = "bloom"; }),
        Change([](auto& record) { record.bytes = std::uint64_t{1} << 45; })}) {
    change_record(change);
    EXPECT_EQ(failure(), ErrorKind::Data);
    change_record([&right](SnapshotRecord& record) { record = right; });
  }
  EXPECT_EQ(failure(), std::nullopt);
}

// Other pushes run between reading the pointer and reading the chunks.
TEST_F(PullTest, StartsAgainWhenItsGenerationIsDroppedMeanwhile) {
  SnapshotBytes newest = build_snapshot();
  hooked_.before_get_many = [&, times = 3](auto) mutable {
    if (times-- <= 0) return;
    for (int i = 0; i < 3; ++i) {
      newest = build_snapshot();
      push_any(newest);
    }
  };
  const Pulled pulled = keysieve::pull(hooked_, "tags");
  EXPECT_EQ(pulled.record.generation, 10U);
  EXPECT_TRUE(are_same(pulled.snapshot, newest));
}

TEST_F(PullTest, FindsNothingWhenAllIsForgottenInTheMiddle) {
  hooked_.before_get_many = [this](auto) { store_->remove_many(keys()); };
  EXPECT_EQ(failure_of([&] { keysieve::pull(hooked_, "tags"); }), ErrorKind::MissingInput);
}

TEST_F(PullTest, FinishesAGenerationThatIsNoLongerCurrentButKept) {
  hooked_.before_get_many = [&](auto) { push_any(build_snapshot()); };
  EXPECT_EQ(keysieve::pull(hooked_, "tags").record.generation, 1U);
}

TEST(Chunk, HasTheDocumentedBytes) {
  const std::string value = encode_chunk(0x01020304, as_bytes("payload"));
  EXPECT_EQ(value.substr(0, 8), std::string("KSC1\x04\x03\x02\x01"));
  EXPECT_EQ(value.substr(16), "payload");
}

TEST(Chunk, CountCoversTheLastStartedChunk) {
  EXPECT_EQ(chunk_count_of(1), 1U);
  EXPECT_EQ(chunk_count_of(kChunkPayloadBytes), 1U);
  EXPECT_EQ(chunk_count_of(kChunkPayloadBytes + 1), 2U);
  EXPECT_EQ(chunk_count_of(UINT64_MAX), UINT64_MAX / kChunkPayloadBytes + 1);
}

TEST(Chunk, KeyNamesPrefixSetBuildAndNumber) {
  BuildId id{};
  id[0] = 0xab;
  EXPECT_EQ(chunk_key("keysieve", "tags", id, 12), "keysieve:tags:ab000000000000000000000000000000:12");
}

TEST(PushId, IsAboveAllOfEarlierMomentsAndAboveTheNewestWhateverTheClockSays) {
  const PushId id = new_push_id(kBypassedAt, {});
  EXPECT_EQ(to_hex(id).substr(0, 12), "018bcfe56800") << "1,700,000,000,000 ms";
  EXPECT_GT(id, first_push_id(kBypassedAt));
  EXPECT_LT(id, first_push_id(kBypassedAt + 1));
  EXPECT_GT(new_push_id(kBypassedAt - 1000, id), id);
  EXPECT_GT(new_push_id(-1, PushId{}), PushId{});
  EXPECT_NE(new_push_id(kBypassedAt, {}), id);
}

// tests/faults/damaged_bytes_test.cpp changes each of its bytes and cuts it short everywhere.
TEST(Chunk, IsRefusedWhenItIsLonger) {
  const std::string value = encode_chunk(0, as_bytes("payload"));
  EXPECT_EQ(failure_of([&] { decode_chunk(value + "x", 0, 7, "source"); }), ErrorKind::Data);
}

}  // namespace
}  // namespace keysieve::test
