#include "tools/transfer/update.hpp"

#include <gmock/gmock.h>

#include <functional>

#include "core/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tests/tools/transfer/store_decorator.hpp"

namespace keysieve {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Something happens before chunks are put or fetched, as if another program had done it.
class StoreWithOthers : public test::StoreDecorator {
 public:
  using StoreDecorator::StoreDecorator;

  void put_many(std::span<const Record> records) override {
    if (before_put) before_put();
    StoreDecorator::put_many(records);
  }
  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    auto values = StoreDecorator::get_many(keys);
    if (after_get) after_get();
    return values;
  }

  std::function<void()> before_put;
  std::function<void()> after_get;
};

class UpdateTest : public ::testing::Test {
 protected:
  // Of set "tags", with keys "key0" and so on, and room for twice as many.
  void push(std::uint64_t keys, LogPosition adds_from = {}, std::string_view kind = kDefaultKindName) {
    BuildSettings settings{.set_name = "tags",
                           .kind = &filter_kind_named(kind),
                           .growth = 2.0,
                           .seed = 7,
                           .as_of = 1'700'000'000,
                           .adds_from = adds_from};
    SnapshotBuilder builder(settings);
    for (std::uint64_t i = 0; i < keys; ++i) builder.add("key" + std::to_string(i));
    const SnapshotBytes snapshot = builder.finish();
    keysieve::push(*others_, test::view_of(snapshot), {.max_shrink = std::nullopt});
  }

  static KeyChanges adding(int count) {
    KeyChanges changes{.added = {}, .removed = {}, .as_of = 1'700'000'060};
    for (int i = 0; i < count; ++i) changes.added.push_back("new" + std::to_string(i));
    return changes;
  }

  void expect_all_maybe(std::uint64_t keys, const KeyChanges& changes) { expect_all_maybe(0, keys, changes); }
  void expect_all_maybe(std::uint64_t first, std::uint64_t keys, const KeyChanges& changes) {
    const Pulled pulled = pull(*others_, "tags");
    const SnapshotView view = test::view_of(pulled.snapshot);
    for (std::uint64_t i = first; i < keys; ++i) {
      ASSERT_TRUE(view.may_contain(hash_key("key" + std::to_string(i), view.seed()))) << i;
    }
    for (const std::string& key : changes.added) {
      ASSERT_TRUE(view.may_contain(hash_key(key, view.seed()))) << key;
    }
  }

  [[nodiscard]] std::uint64_t generation() const {
    return read_pointer(*others_, "tags")->current->generation;
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<Store> others_ = open_store("dir:" + directory_ / "store");
  std::unique_ptr<Store> connection_ = open_store("dir:" + directory_ / "store");
  StoreWithOthers store_{*connection_};
};

TEST_F(UpdateTest, MakesTheNextGenerationFromTheCurrentOne) {
  push(5'000, log_position(5, 6));
  const KeyChanges changes = adding(2'000);
  const UpdateResult result = update(store_, "tags", changes, {});
  EXPECT_EQ(result.pushed.record.generation, 2U);
  EXPECT_THAT(result.pushed.warnings, ElementsAre());
  EXPECT_FALSE(result.is_exact);
  EXPECT_LE(result.new_keys, 2'000U);
  EXPECT_GE(result.new_keys, 1'980U);
  EXPECT_EQ(result.pushed.record.key_count, 5'000 + result.new_keys);
  EXPECT_EQ(result.pushed.record.as_of, changes.as_of);
  EXPECT_EQ(result.pushed.record.adds_from, log_position(5, 6));
  EXPECT_GT(result.estimated_fpr, 0.0);
  expect_all_maybe(5'000, changes);
}

TEST_F(UpdateTest, AddsToWhatAPushInBetweenBrought) {
  push(1'000);
  store_.after_get = [this] {
    store_.after_get = nullptr;
    push(2'000);
  };
  const KeyChanges changes = adding(100);
  EXPECT_EQ(update(store_, "tags", changes, {}).pushed.record.generation, 3U);
  expect_all_maybe(2'000, changes);
}

TEST_F(UpdateTest, AddsToWhatAPushBroughtWhileChunksWerePut) {
  push(1'000);
  store_.before_put = [this] {
    store_.before_put = nullptr;
    push(2'000);
  };
  const KeyChanges changes = adding(100);
  EXPECT_EQ(update(store_, "tags", changes, {}).pushed.record.generation, 3U);
  expect_all_maybe(2'000, changes);
  EXPECT_THAT(others_->keys_with_prefix("keysieve:tags:"), SizeIs(1 + 3)) << "a pointer, and a chunk each";
}

TEST_F(UpdateTest, GivesUpWhenOthersPushAllTheTime) {
  push(1'000);
  store_.before_put = [this] { push(1'000); };
  const std::string message =
      test::message_of<ErrorKind::Locked>([this] { update(store_, "tags", adding(100), {}); });
  EXPECT_THAT(message, AllOf(HasSubstr("set \"tags\""), HasSubstr("pushed by others all the time")));
  EXPECT_GE(generation(), 3U);
  EXPECT_EQ(read_pointer(*others_, "tags")->current->key_count, 1'000U);
  EXPECT_THAT(others_->keys_with_prefix("keysieve:tags:"), SizeIs(1 + 3));
}

TEST_F(UpdateTest, IsRefusedWhenTheSetIsFull) {
  push(1'000);
  const auto message_with = [this](const Guards& guards) {
    return test::message_of<ErrorKind::MaxFpr>([&] { update(store_, "tags", adding(20'000), guards); });
  };
  EXPECT_THAT(message_with({.source = GuardSource::OptionsOfUpdate}),
              AllOf(HasSubstr("set \"tags\" has an estimated FPR of "), HasSubstr("above 3.00 %; --max-fpr"),
                    HasSubstr("build --like")));
  EXPECT_EQ(generation(), 1U);
  EXPECT_EQ(message_with({.max_fpr = 1.0}), "") << "who asks for it gets it";
}

TEST_F(UpdateTest, HoldsTheOtherGuardsToo) {
  push(1'000);
  EXPECT_THAT([&] { update(store_, "tags", adding(1), {.min_keys = 2'000}); },
              test::fails(ErrorKind::MinKeys));
  EXPECT_THAT(
      [&] {
        update(store_, "tags", adding(1), {.canaries = {"new0", "surely not", "nor this", "nor that"}});
      },
      test::fails(ErrorKind::Canaries));
  EXPECT_EQ(generation(), 1U);
  update(store_, "tags", adding(1), {.canaries = {"new0", "key0"}});
}

TEST_F(UpdateTest, RemovesNothingWhereTheKindCannot) {
  push(1'000);
  EXPECT_THAT(test::message_of<ErrorKind::Usage>(
                  [this] { update(store_, "tags", {.added = {}, .removed = {"key1"}, .as_of = 0}, {}); }),
              AllOf(HasSubstr("set \"tags\""), HasSubstr("split_block_bloom"), HasSubstr("build --like")));
  EXPECT_EQ(generation(), 1U);
}

TEST_F(UpdateTest, RemovesAndAddsAtOnceWhereTheKindCan) {
  push(1'000, {}, "cuckoo");
  KeyChanges changes = adding(100);
  changes.removed = {"key1", "key2", "surely nobody has this"};
  const UpdateResult result = update(store_, "tags", changes, {});
  EXPECT_EQ(result.new_keys, 100U);
  EXPECT_TRUE(result.is_exact);
  EXPECT_EQ(result.keys_to_remove, 3U);
  EXPECT_EQ(result.removed_keys, 2U);
  EXPECT_THAT(result.pushed.warnings,
              ElementsAre(HasSubstr("set \"tags\": 1 of 3 keys to remove were not removed")));
  EXPECT_EQ(result.pushed.record.key_count, 1'098U);
  const Pulled pulled = pull(*others_, "tags");
  const SnapshotView view = test::view_of(pulled.snapshot);
  const auto answer = [&view](const std::string& key) {
    return view.may_contain(hash_key(key, view.seed()));
  };
  EXPECT_FALSE(answer("key1"));
  EXPECT_FALSE(answer("key2"));
  for (int i = 3; i < 1'000; ++i) ASSERT_TRUE(answer("key" + std::to_string(i))) << i;
  for (const std::string& key : changes.added) ASSERT_TRUE(answer(key)) << key;
}

// A second removal would take keys away that look alike.
TEST_F(UpdateTest, RemovesAKeyOnceThatIsListedTwice) {
  push(20'000, {}, "cuckoo");
  KeyChanges changes = adding(0);
  for (int i = 0; i < 16'000; ++i) changes.removed.push_back("key" + std::to_string(i % 8'000));
  const UpdateResult result = update(store_, "tags", changes, {.max_shrink = std::nullopt});
  EXPECT_EQ(result.keys_to_remove, 8'000U);
  EXPECT_EQ(result.removed_keys, 8'000U);
  EXPECT_EQ(result.pushed.record.key_count, 12'000U);
  EXPECT_THAT(result.pushed.warnings, ElementsAre());
  expect_all_maybe(8'000, 20'000, changes);
}

TEST_F(UpdateTest, AddsAKeyOnceThatIsListedOften) {
  push(1'000, {}, "cuckoo");
  KeyChanges changes = adding(0);
  changes.added.assign(9, "new");
  EXPECT_EQ(update(store_, "tags", changes, {}).new_keys, 1U);
  EXPECT_EQ(read_pointer(*others_, "tags")->current->key_count, 1'001U);
}

TEST_F(UpdateTest, AddsToTheRoomThatItsRemovalsLeave) {
  push(5'000, {}, "cuckoo");
  KeyChanges changes = adding(9'800);
  for (int i = 0; i < 4'900; ++i) changes.removed.push_back("key" + std::to_string(i));
  EXPECT_EQ(update(store_, "tags", changes, {}).pushed.record.key_count, 9'900U);
  expect_all_maybe(4'900, 5'000, changes);
}

TEST_F(UpdateTest, RefusesAKeyInBothLists) {
  push(1'000, {}, "cuckoo");
  KeyChanges changes = adding(3);
  changes.removed = {"key1", "new2"};
  EXPECT_THAT(
      test::message_of<ErrorKind::Usage>([&] { update(store_, "tags", changes, {}); }),
      AllOf(HasSubstr("set \"tags\""), HasSubstr("key \"new2\" is in the lists to add and to remove")));
  EXPECT_EQ(generation(), 1U);
}

TEST_F(UpdateTest, NeedsASetThatWasPushed) {
  EXPECT_THAT(test::message_of<ErrorKind::MissingInput>([this] { update(store_, "tags", adding(1), {}); }),
              HasSubstr("set \"tags\" was never pushed"));
}

// What was damaged in the store must not be passed on under new checksums.
TEST_F(UpdateTest, RefusesADamagedBase) {
  push(1'000);
  for (const std::string& key : others_->keys_with_prefix("keysieve:tags:")) {
    if (key.ends_with(":current")) continue;
    std::string chunk = others_->get(key).value();
    chunk.back() = static_cast<char>(chunk.back() ^ 1);
    const Record record{key, chunk};
    others_->put_many({&record, 1});
  }
  EXPECT_THAT([&] { update(store_, "tags", adding(1), {}); }, test::fails(ErrorKind::Data));
  EXPECT_EQ(generation(), 1U);
}

}  // namespace
}  // namespace keysieve
