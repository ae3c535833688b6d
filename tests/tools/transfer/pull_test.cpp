#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "core/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tests/tools/transfer/store_decorator.hpp"
#include "tools/transfer/chunk.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class PullTest : public ::testing::Test {
 protected:
  PullTest() { push(snapshot_); }

  SnapshotRecord push(const SnapshotBytes& snapshot) {
    return keysieve::push(*store_, test::view_of(snapshot), {.max_shrink = std::nullopt}).record;
  }

  // Of the current generation.
  [[nodiscard]] std::string key_of_chunk(std::uint32_t number) const {
    return chunk_key("keysieve", "tags", read_pointer(*store_, "tags").value().current->push_id, number);
  }

  void replace(const std::string& key, const std::string& value) {
    store_->put_many(std::vector<Record>{{key, value}});
  }

  // What pulling says; empty when it works.
  std::string message() {
    return test::message_of<ErrorKind::Data>([&] { pull(*store_, "tags"); });
  }

  // Moves the pointer to a record that somebody changed.
  void change_record(const std::function<void(SnapshotRecord&)>& change) {
    PointerRecord pointer = read_pointer(*store_, "tags").value();
    change(*pointer.current);
    replace("keysieve:tags:current", encode(pointer));
  }

  test::TemporaryDirectory directory_{test::fast_folder()};
  std::string url_ = "dir:" + directory_ / "store";
  std::unique_ptr<Store> store_ = open_store(url_);
  SnapshotBytes snapshot_ = test::build_snapshot({.shard_count = test::kShardsOfSomeChunks});
};

TEST_F(PullTest, GivesBackWhatWasPushed) {
  const Pulled pulled = pull(*store_, "tags");
  EXPECT_TRUE(std::ranges::equal(pulled.snapshot.get(), snapshot_.get()));
  EXPECT_EQ(pulled.record, read_pointer(*store_, "tags").value().current);
}

TEST_F(PullTest, SaysThatASetWasNeverPushed) {
  EXPECT_EQ(test::message_of<ErrorKind::MissingInput>([&] { pull(*store_, "shop"); }),
            url_ + ": set \"shop\" was never pushed");
  EXPECT_EQ(read_pointer(*store_, "shop"), std::nullopt);
}

TEST_F(PullTest, RefusesWhatIsNoSetName) {
  for (const char* name : {"", ".", "..", "-x", "A", "a:b", "a/b"}) {
    EXPECT_THAT([&] { pull(*store_, name); }, test::fails(ErrorKind::Usage)) << name;
  }
}

TEST_F(PullTest, RefusesASnapshotAboveTheLimit) {
  const std::uint64_t bytes = snapshot_.get().size();
  EXPECT_EQ(pull(*store_, "tags", bytes).record.generation, 1U);
  EXPECT_THAT(test::message_of<ErrorKind::MaxSize>([&] { pull(*store_, "tags", bytes - 1); }),
              AllOf(StartsWith(url_ + ": set \"tags\" generation 1: is "), HasSubstr("above the limit of ")));
}

TEST_F(PullTest, AllocatesNothingForASizeThatIsOnlyClaimed) {
  // 32 TiB; the first chunk is there and right.
  change_record([](SnapshotRecord& record) {
    record.shard_bytes = 8192;
    record.shard_count = UINT32_MAX;
    record.bytes = snapshot_layout(record.shard_count, record.shard_bytes).file_bytes;
    record.chunk_count = static_cast<std::uint32_t>(chunk_count_of(record.bytes));
  });
  EXPECT_EQ(message(),
            url_ + ": set \"tags\" generation 1: the snapshot is not the one that the pointer describes");
}

TEST_F(PullTest, RefusesAFirstChunkOfAnotherBuildAtOnce) {
  const auto other = test::build_snapshot({.shard_count = test::kShardsOfSomeChunks});
  replace(key_of_chunk(0), encode_chunk(0, chunk_payload(other.get(), 0)));
  store_->remove_many(std::vector{key_of_chunk(1)});
  EXPECT_THAT(message(), EndsWith("the snapshot is not the one that the pointer describes"));
}

TEST_F(PullTest, NamesAMissingChunk) {
  const std::string key = key_of_chunk(1);
  store_->remove_many(std::vector{key});
  EXPECT_EQ(message(), url_ + ": set \"tags\" generation 1: is damaged, push again: " + key + " is missing");
}

TEST_F(PullTest, NamesAShortChunk) {
  const std::string key = key_of_chunk(1);
  replace(key, store_->get(key).value().substr(0, 1000));
  EXPECT_EQ(message(), url_ + ": " + key + ": is 1000 bytes, not 65520");
}

TEST_F(PullTest, NamesADamagedChunk) {
  const std::string key = key_of_chunk(1);
  std::string value = store_->get(key).value();
  value.back() ^= 1;
  replace(key, value);
  EXPECT_EQ(message(), url_ + ": " + key + ": is damaged (checksum)");
}

TEST_F(PullTest, NamesAChunkThatLiesInTheWrongPlace) {
  replace(key_of_chunk(1), store_->get(key_of_chunk(0)).value());
  EXPECT_EQ(message(), url_ + ": " + key_of_chunk(1) + ": is chunk 0, not 1");
}

TEST_F(PullTest, NamesAValueThatIsNoChunk) {
  replace(key_of_chunk(0), std::string(kChunkHeaderBytes + kChunkPayloadBytes, 'x'));
  EXPECT_EQ(message(), url_ + ": " + key_of_chunk(0) + ": is not a chunk of a snapshot");
}

TEST_F(PullTest, RefusesAChunkOfAnotherBuild) {
  const auto other = test::build_snapshot({.shard_count = test::kShardsOfSomeChunks, .seed = 8});
  const std::string chunk = store_->get(key_of_chunk(1)).value();
  push(other);
  replace(key_of_chunk(1), chunk);
  EXPECT_THAT(message(), StartsWith(url_ + ": set \"tags\" generation 2: "));
}

TEST_F(PullTest, RefusesASnapshotOfAnotherSet) {
  const auto shop = test::build_snapshot({.set_name = "shop"});
  const PushId id = push(shop).push_id;
  replace("keysieve:tags:current", store_->get("keysieve:shop:current").value());
  replace(chunk_key("keysieve", "tags", id, 0), store_->get(chunk_key("keysieve", "shop", id, 0)).value());
  EXPECT_THAT(message(), EndsWith("the snapshot is of set \"shop\""));
}

TEST_F(PullTest, RefusesARecordThatDescribesAnotherSnapshot) {
  const std::vector<std::function<void(SnapshotRecord&)>> changes{[](SnapshotRecord& record) { record.checksum ^= 1; },
                                                                  [](SnapshotRecord& record) { ++record.key_count; },
                                                                  [](SnapshotRecord& record) { ++record.as_of; },
                                                                  [](SnapshotRecord& record) { ++record.seed; },
                                                                  [](SnapshotRecord& record) { ++record.hash_count; },
                                                                  [](SnapshotRecord& record) { record.kind = "bloom"; }};
  const SnapshotRecord right = read_pointer(*store_, "tags").value().current.value();
  for (const auto& change : changes) {
    change_record(change);
    EXPECT_THAT(message(), EndsWith("the snapshot is not the one that the pointer describes"));
    change_record([&right](SnapshotRecord& record) { record = right; });
  }
  EXPECT_EQ(message(), "");
}

TEST_F(PullTest, RefusesADamagedPointerRecord) {
  replace("keysieve:tags:current", "not a record");
  EXPECT_EQ(message(), url_ + ": keysieve:tags:current: is not JSON");
  EXPECT_THAT([&] { read_pointer(*store_, "tags"); }, test::fails(ErrorKind::Data));
}

TEST_F(PullTest, ReportsProgressUpToTheWhole) {
  const auto snapshot = test::build_snapshot({.shard_count = test::kShardsOfSomeBatches});
  push(snapshot);
  std::vector<std::uint64_t> done;
  pull(*store_, "tags", 0, [&](std::uint64_t bytes, std::uint64_t total) {
    EXPECT_EQ(total, snapshot.get().size());
    done.push_back(bytes);
  });
  EXPECT_GE(done.size(), 2U);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), snapshot.get().size());
}

// Lets pushes happen between the pointer and the chunks.
class PushedDuringReads : public test::StoreDecorator {
 public:
  PushedDuringReads(Store& inner, int times, std::function<void()> rivals)
      : StoreDecorator(inner), times_(times), rivals_(std::move(rivals)) {}

  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    if (times_-- > 0) rivals_();
    return inner_.get_many(keys);
  }

 private:
  int times_;
  std::function<void()> rivals_;
};

TEST_F(PullTest, StartsAgainWhenItsGenerationFellOutMeanwhile) {
  SnapshotBytes newest = test::build_snapshot();
  PushedDuringReads store(*store_, 3, [&] {
    for (int i = 0; i < 3; ++i) {
      newest = test::build_snapshot();
      push(newest);
    }
  });
  const Pulled pulled = pull(store, "tags");
  EXPECT_EQ(pulled.record.generation, 10U);
  EXPECT_TRUE(std::ranges::equal(pulled.snapshot.get(), newest.get()));
}

TEST_F(PullTest, FinishesAGenerationThatIsNoLongerCurrentButKept) {
  PushedDuringReads store(*store_, 1, [&] { push(test::build_snapshot()); });
  EXPECT_EQ(pull(store, "tags").record.generation, 1U);
}

}  // namespace
}  // namespace keysieve
