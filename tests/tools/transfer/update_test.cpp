#include "tools/transfer/update.hpp"

#include "core/builder/base/log_positions.hpp"
#include "tests/tools/transfer/transfer_fixture.hpp"

namespace keysieve::test {
namespace {

class UpdateTest : public TransferTest {
 protected:
  // Pushes a set with room for twice as many keys.
  void push_keys(std::uint64_t keys, LogPosition adds_from = {}, std::string_view kind = kDefaultKindName) {
    push_any(build_snapshot({.kind = kind, .keys = keys, .growth = 2.0, .adds_from = adds_from}));
  }

  static KeyChanges adding(int count) {
    return {.added = numbered("new", count), .removed = {}, .as_of = 1'700'000'060};
  }

  UpdateResult update(const KeyChanges& changes, const Guards& guards = {}) {
    return keysieve::update(hooked_, "tags", changes, guards);
  }

  // Checks the keys from `first` on, and the added ones.
  void expect_all_maybe(std::uint64_t keys, const KeyChanges& changes, std::uint64_t first = 0) {
    const Pulled pulled = pull();
    const SnapshotView view = view_of(pulled.snapshot);
    for (std::uint64_t i = first; i < keys; ++i)
      ASSERT_TRUE(answers_maybe(view, "key" + std::to_string(i))) << i;
    for (const std::string& key : changes.added) ASSERT_TRUE(answers_maybe(view, key)) << key;
  }
};

TEST_F(UpdateTest, MakesTheNextGenerationFromTheCurrentOne) {
  push_keys(5'000, log_position(5, 6));
  const KeyChanges changes = adding(2'000);
  const UpdateResult result = update(changes);
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

TEST_F(UpdateTest, AddsToAPushThatCameInBetween) {
  push_keys(1'000);
  hooked_.after_get_many = once([this] { push_keys(2'000); });
  const KeyChanges changes = adding(100);
  EXPECT_EQ(update(changes).pushed.record.generation, 3U);
  expect_all_maybe(2'000, changes);
}

TEST_F(UpdateTest, AddsToAPushThatCameWhileChunksWerePut) {
  push_keys(1'000);
  hooked_.before_put = [meanwhile = once([this] { push_keys(2'000); })](auto) { meanwhile(); };
  const KeyChanges changes = adding(100);
  EXPECT_EQ(update(changes).pushed.record.generation, 3U);
  expect_all_maybe(2'000, changes);
  EXPECT_THAT(keys(), SizeIs(1 + 3)) << "a pointer, and a chunk each";
}

TEST_F(UpdateTest, GivesUpWhenOthersPushAllTheTime) {
  push_keys(1'000);
  hooked_.before_put = [this](auto) { push_keys(1'000); };
  const std::string message = message_of<ErrorKind::Locked>([this] { update(adding(100)); });
  EXPECT_THAT(message, AllOf(HasSubstr("set \"tags\""), HasSubstr("other clients keep pushing it")));
  EXPECT_GE(current().generation, 3U);
  EXPECT_EQ(current().key_count, 1'000U);
  EXPECT_THAT(keys(), SizeIs(1 + 3));
}

TEST_F(UpdateTest, IsRefusedWhenTheSetIsFull) {
  push_keys(1'000);
  const auto message_with = [this](const Guards& guards) {
    return message_of<ErrorKind::MaxFpr>([&] { update(adding(20'000), guards); });
  };
  EXPECT_THAT(message_with({.source = GuardSource::OptionsOfUpdate}),
              AllOf(HasSubstr("set \"tags\" has an estimated FPR of "), HasSubstr("above 3.00 %; --max-fpr"),
                    HasSubstr("build --like")));
  EXPECT_EQ(current().generation, 1U);
  EXPECT_EQ(message_with({.max_fpr = 1.0}), "") << "who asks for it gets it";
}

TEST_F(UpdateTest, RefusesToRemoveKeysOfAKindThatCannot) {
  push_keys(1'000);
  EXPECT_THAT(
      message_of<ErrorKind::Usage>([this] { update({.added = {}, .removed = {"key1"}, .as_of = 0}); }),
      AllOf(HasSubstr("set \"tags\""), HasSubstr("split_block_bloom"), HasSubstr("build --like")));
  EXPECT_EQ(current().generation, 1U);
}

TEST_F(UpdateTest, RemovesAndAddsAtOnceWhenTheKindCan) {
  push_keys(1'000, {}, "cuckoo");
  KeyChanges changes = adding(100);
  changes.removed = {"key1", "key2", "surely nobody has this"};
  const UpdateResult result = update(changes);
  EXPECT_EQ(result.new_keys, 100U);
  EXPECT_TRUE(result.is_exact);
  EXPECT_EQ(result.keys_to_remove, 3U);
  EXPECT_EQ(result.removed_keys, 2U);
  EXPECT_THAT(result.pushed.warnings, ElementsAre(HasSubstr("set \"tags\": removed 2 of 3 keys; the rest")));
  EXPECT_EQ(result.pushed.record.key_count, 1'098U);
  const Pulled pulled = pull();
  for (const char* key : {"key1", "key2"}) EXPECT_FALSE(answers_maybe(view_of(pulled.snapshot), key)) << key;
  expect_all_maybe(1'000, changes, 3);
}

// A second removal would remove other keys with the same fingerprint.
TEST_F(UpdateTest, RemovesAKeyListedTwiceOnlyOnce) {
  push_keys(20'000, {}, "cuckoo");
  KeyChanges changes = adding(0);
  for (int i = 0; i < 16'000; ++i) changes.removed.push_back("key" + std::to_string(i % 8'000));
  const UpdateResult result = update(changes, {.max_shrink = std::nullopt});
  EXPECT_EQ(result.keys_to_remove, 8'000U);
  EXPECT_EQ(result.removed_keys, 8'000U);
  EXPECT_EQ(result.pushed.record.key_count, 12'000U);
  EXPECT_THAT(result.pushed.warnings, ElementsAre());
  expect_all_maybe(20'000, changes, 8'000);
}

TEST_F(UpdateTest, AddsAKeyListedOftenOnlyOnce) {
  push_keys(1'000, {}, "cuckoo");
  KeyChanges changes = adding(0);
  changes.added.assign(9, "new");
  EXPECT_EQ(update(changes).new_keys, 1U);
  EXPECT_EQ(current().key_count, 1'001U);
}

TEST_F(UpdateTest, AddsIntoTheRoomOfItsRemovals) {
  push_keys(5'000, {}, "cuckoo");
  KeyChanges changes = adding(9'800);
  changes.removed = numbered("key", 4'900);
  EXPECT_EQ(update(changes).pushed.record.key_count, 9'900U);
  expect_all_maybe(5'000, changes, 4'900);
}

TEST_F(UpdateTest, RefusesAKeyInBothLists) {
  push_keys(1'000, {}, "cuckoo");
  KeyChanges changes = adding(3);
  changes.removed = {"key1", "new2"};
  EXPECT_THAT(
      message_of<ErrorKind::Usage>([&] { update(changes); }),
      AllOf(HasSubstr("set \"tags\""), HasSubstr("key \"new2\" is in the lists to add and to remove")));
  EXPECT_EQ(current().generation, 1U);
}

TEST_F(UpdateTest, NeedsASetThatWasPushed) {
  EXPECT_THAT(message_of<ErrorKind::MissingInput>([this] { update(adding(1)); }),
              HasSubstr("set \"tags\" was never pushed"));
}

// Data that was damaged in the store must not get new checksums.
TEST_F(UpdateTest, RefusesADamagedBase) {
  push_keys(1'000);
  damage(key_of_chunk(0));
  EXPECT_EQ(failure_of([&] { update(adding(1)); }), ErrorKind::Data);
  EXPECT_EQ(current().generation, 1U);
}

}  // namespace
}  // namespace keysieve::test
