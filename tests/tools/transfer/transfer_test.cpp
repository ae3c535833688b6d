// Transfer over every store, and what sets of one store share.
#include "tools/transfer/transfer.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>
#include <thread>

#include "core/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tools/transfer/shared_seed.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;

class Transfer : public ::testing::TestWithParam<test::StoreKind> {
 protected:
  test::TemporaryDirectory directory_;
  std::string url_ = GetParam().empty_store(directory_);
};

INSTANTIATE_TEST_SUITE_P(Stores, Transfer, test::every_store, test::store_kind_name);

TEST_P(Transfer, BringsEverySetToAnotherClient) {
  const auto tags = test::build_snapshot({.keys = 20'000, .shard_count = test::kShardsOfSomeBatches});
  const auto shop = test::build_snapshot({.set_name = "shop", .kind = "bloom", .keys = 10});
  const auto writer = open_store(url_);
  push(*writer, test::view_of(tags), {});
  push(*writer, test::view_of(shop), {});
  const auto reader = open_store(url_);
  EXPECT_TRUE(std::ranges::equal(pull(*reader, "tags").snapshot.get(), tags.get()));
  EXPECT_TRUE(std::ranges::equal(pull(*reader, "shop").snapshot.get(), shop.get()));
}

TEST_P(Transfer, KeepsPrefixesApart) {
  const auto ours = open_store(test::with_parameter(url_, "prefix=ours"));
  const auto theirs = open_store(test::with_parameter(url_, "prefix=theirs"));
  const auto snapshot = test::build_snapshot();
  push(*ours, test::view_of(snapshot), {});
  EXPECT_EQ(read_pointer(*theirs, "tags"), std::nullopt);
  EXPECT_NE(shared_seed(*ours), shared_seed(*theirs));
}

TEST_P(Transfer, KeepsThreeGenerations) {
  const auto store = open_store(url_);
  for (int i = 0; i < 5; ++i) {
    const auto snapshot = test::build_snapshot();
    EXPECT_TRUE(push(*store, test::view_of(snapshot), {}).warnings.empty());
  }
  EXPECT_EQ(read_pointer(*store, "tags").value().previous.size(), 2U);
  EXPECT_EQ(pull(*store, "tags").record.generation, 5U);
}

TEST_P(Transfer, SharesOneSeedAmongRacingBuilders) {
  std::vector<std::uint64_t> seeds(4);
  std::vector<std::thread> threads;
  for (auto& seed : seeds) {
    threads.emplace_back([&seed, this] { seed = shared_seed(*open_store(url_)); });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(std::set(seeds.begin(), seeds.end()).size(), 1U);
  EXPECT_EQ(shared_seed(*open_store(url_)), seeds.front());
}

class OneStore : public ::testing::Test {
 protected:
  void replace(const std::string& key, const std::string& value) {
    store_->put_many(std::vector<Record>{{key, value}});
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<Store> store_ = open_store("dir:" + directory_ / "store");
};

using SharedSeed = OneStore;
using CurrentGeometry = OneStore;

TEST_F(SharedSeed, IsRefusedWhenItsRecordIsDamaged) {
  for (const char* text : {"", "xyz", "0123456789ABCDEF", "0123456789abcdef\n"}) {
    replace("keysieve:seed", text);
    EXPECT_THAT(test::message_of<ErrorKind::Data>([&] { shared_seed(*store_); }),
                HasSubstr("keysieve:seed: is not 16 hexadecimal digits"));
  }
}

TEST_F(CurrentGeometry, IsNothingBeforeTheFirstPush) {
  EXPECT_FALSE(current_geometry(*store_, "tags").has_value());
}

TEST_F(CurrentGeometry, IsThatOfThePushedSnapshot) {
  const auto snapshot = test::build_snapshot({.kind = "blocked_bloom", .keys = 50'000});
  push(*store_, test::view_of(snapshot), {});
  const Geometry geometry = current_geometry(*store_, "tags").value();
  const Geometry expected = geometry_of(test::view_of(snapshot));
  EXPECT_EQ(geometry.kind, expected.kind);
  EXPECT_EQ(geometry.params.shard_bytes, expected.params.shard_bytes);
  EXPECT_EQ(geometry.params.hash_count, expected.params.hash_count);
  EXPECT_EQ(geometry.shard_count, expected.shard_count);
}

TEST_F(CurrentGeometry, IsRefusedWhenThisBuildCannotKeepIt) {
  const auto snapshot = test::build_snapshot();
  push(*store_, test::view_of(snapshot), {});
  PointerRecord pointer = read_pointer(*store_, "tags").value();
  pointer.current->hash_count = 99;
  replace("keysieve:tags:current", encode(pointer));
  EXPECT_THAT([&] { current_geometry(*store_, "tags"); }, test::fails(ErrorKind::Data));
  pointer.current->kind = "a_kind_of_tomorrow";
  replace("keysieve:tags:current", encode(pointer));
  EXPECT_THAT(test::message_of<ErrorKind::Incompatible>([&] { current_geometry(*store_, "tags"); }),
              HasSubstr("a_kind_of_tomorrow"));
}

}  // namespace
}  // namespace keysieve
