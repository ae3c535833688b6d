#include "tests/tools/transfer/transfer_fixture.hpp"

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/matchers.hpp"
#include "tools/transfer/chunk.hpp"

namespace keysieve::test {
namespace {

class PullTest : public TransferTest {
 protected:
  PullTest() { push(snapshot_); }

  // Returns the error message of a pull; empty if it works.
  std::string message() {
    return message_of<ErrorKind::Data>([&] { pull(); });
  }

  // Changes the current record in the store by hand.
  void change_record(const std::function<void(SnapshotRecord&)>& change) {
    change_pointer([&](PointerRecord& pointer) { change(*pointer.current); });
  }

  const std::string kForeign = "the snapshot is not the one that the pointer describes";
  SnapshotBytes snapshot_ = build_snapshot({.shard_count = kShardsOfSomeChunks});
};

TEST_F(PullTest, SaysThatASetWasNeverPushed) {
  EXPECT_EQ(message_of<ErrorKind::MissingInput>([&] { keysieve::pull(*store_, "shop"); }),
            url_ + ": set \"shop\" was never pushed");
  EXPECT_EQ(read_pointer(*store_, "shop"), std::nullopt);
}

TEST_F(PullTest, RefusesASnapshotAboveTheLimit) {
  const std::uint64_t bytes = snapshot_.get().size();
  EXPECT_EQ(keysieve::pull(*store_, "tags", bytes).record.generation, 1U);
  EXPECT_THAT(message_of<ErrorKind::MaxSize>([&] { keysieve::pull(*store_, "tags", bytes - 1); }),
              AllOf(StartsWith(url_ + ": set \"tags\" generation 1: is "), HasSubstr("above the limit of ")));
}

TEST_F(PullTest, AllocatesNothingForAClaimedSize) {
  // The record claims 32 TiB; the first chunk exists and is right.
  change_record([](SnapshotRecord& record) {
    record.shard_bytes = 8192;
    record.shard_count = UINT32_MAX;
    record.bytes = snapshot_layout(record.shard_count, {record.shard_bytes}).file_bytes;
    record.chunk_count = static_cast<std::uint32_t>(chunk_count_of(record.bytes));
  });
  EXPECT_EQ(message(), url_ + ": set \"tags\" generation 1: " + kForeign);
}

TEST_F(PullTest, RefusesAFirstChunkOfAnotherBuildAtOnce) {
  const auto other = build_snapshot({.shard_count = kShardsOfSomeChunks});
  replace(key_of_chunk(0), encode_chunk(0, chunk_payload(other.get(), 0)));
  remove_record(*store_, key_of_chunk(1));
  EXPECT_THAT(message(), EndsWith(kForeign));
}

TEST_F(PullTest, NamesAMissingChunk) {
  const std::string key = key_of_chunk(1);
  remove_record(*store_, key);
  EXPECT_EQ(message(), url_ + ": set \"tags\" generation 1: is damaged, push again: " + key + " is missing");
}

TEST_F(PullTest, NamesAChunkThatIsDamaged) {
  const std::string key = key_of_chunk(1);
  const std::string whole = store_->get(key).value();
  std::string changed = whole;
  changed.back() ^= 1;
  for (const auto& [value, reason] : {std::pair(whole.substr(0, 1000), "is 1000 bytes, not 65520"),
                                      {changed, "is damaged (checksum)"},
                                      {store_->get(key_of_chunk(0)).value(), "is chunk 0, not 1"},
                                      {std::string(whole.size(), 'x'), "is not a chunk of a snapshot"}}) {
    replace(key, value);
    EXPECT_EQ(message(), url_ + ": " + key + ": " + reason);
  }
}

TEST_F(PullTest, RefusesAChunkOfAnotherBuild) {
  const std::string chunk = store_->get(key_of_chunk(1)).value();
  push(build_snapshot({.shard_count = kShardsOfSomeChunks, .seed = {8}}));
  replace(key_of_chunk(1), chunk);
  EXPECT_THAT(message(), StartsWith(url_ + ": set \"tags\" generation 2: "));
}

TEST_F(PullTest, RefusesASnapshotOfAnotherSet) {
  const PushId id = push(build_snapshot({.set_name = "shop"})).record.push_id;
  replace(kPointerKey, store_->get("keysieve:shop:current").value());
  replace(chunk_key("keysieve", "tags", id, 0), store_->get(chunk_key("keysieve", "shop", id, 0)).value());
  EXPECT_THAT(message(), EndsWith(" holds set \"shop\", not \"tags\""));
}

TEST_F(PullTest, RefusesARecordThatDescribesAnotherSnapshot) {
  using Change = void (*)(SnapshotRecord&);
  const SnapshotRecord right = current();
  for (const Change change :
       {Change([](auto& record) { record.checksum ^= 1; }), Change([](auto& record) { ++record.key_count; }),
        Change([](auto& record) { ++record.as_of; }), Change([](auto& record) { ++record.seed.high; }),
        Change([](auto& record) { ++record.hash_count; }),
        Change([](auto& record) { record.kind = "bloom"; })}) {
    change_record(change);
    EXPECT_THAT(message(), EndsWith(kForeign));
    change_record([&right](SnapshotRecord& record) { record = right; });
  }
  EXPECT_EQ(message(), "");
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

// tests/faults/damaged_bytes_test.cpp changes each of its bytes and cuts it short everywhere.
TEST(Chunk, IsRefusedWhenItIsLonger) {
  const std::string value = encode_chunk(0, as_bytes("payload"));
  EXPECT_EQ(failure_of([&] { decode_chunk(value + "x", 0, 7, "source"); }), ErrorKind::Data);
}

}  // namespace
}  // namespace keysieve::test
