#include "core/builder/snapshot/editor.hpp"

#include <gmock/gmock.h>

#include "core/builder/base/log_positions.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/error.hpp"
#include "tests/core/sample_snapshot.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::build_snapshot;
using test::decode;
using test::hash_of;
using test::kAsOf;
using test::kSeed;
using test::may_contain;
using test::numbered_keys;
using test::shards_of;
using ::testing::HasSubstr;
using ::testing::Not;

BuildSettings settings_of(const FilterKind& kind) {
  return {.set_name = "tags",
          .kind = &kind,
          .growth = 2.0,
          .shard_bytes = 1024,
          .seed = kSeed,
          .as_of = kAsOf,
          .valid_for = 3'600,
          .adds_from = log_position(123, 4),
          .built_at = 1,
          .build_id = {1},
          .key_profile = "NFC"};
}

// A set of "key0" and so on.
SnapshotBytes base_of(std::string_view kind, int keys) {
  return build_snapshot(settings_of(filter_kind_named(kind)), numbered_keys("key", keys));
}

SnapshotBytes updated(const SnapshotBytes& base, std::span<const std::string> keys,
                      UnixSeconds as_of = kAsOf + 60) {
  SnapshotEditor editor(decode(base));
  for (const std::string& key : keys) editor.add(hash_of(key));
  return editor.finish(as_of);
}

TEST(SnapshotEditor, AnswersMaybeForEveryOldAndNewKey) {
  const auto old_keys = numbered_keys("old", 5'000);
  const auto new_keys = numbered_keys("new", 4'000);
  for (const FilterKind& kind : filter_kinds()) {
    if (!kind.can_add()) continue;
    const SnapshotBytes snapshot = updated(build_snapshot(settings_of(kind), old_keys), new_keys);
    const SnapshotView view = decode(snapshot);
    for (const std::string& key : old_keys) ASSERT_TRUE(may_contain(view, key)) << kind.name << " " << key;
    for (const std::string& key : new_keys) ASSERT_TRUE(may_contain(view, key)) << kind.name << " " << key;
    EXPECT_FALSE(may_contain(view, "nobody has this")) << kind.name;
  }
}

// True for the Bloom family, where the order in which bits were set does not matter.
TEST(SnapshotEditor, GivesTheSameShardsAndFprAsABuildOfAllKeys) {
  auto keys = numbered_keys("old", 5'000);
  for (const char* name : {"bloom", "blocked_bloom", "split_block_bloom"}) {
    BuildSettings settings = settings_of(filter_kind_named(name));
    const SnapshotBytes base = build_snapshot(settings, keys);
    const auto more = numbered_keys("new", 3'000);
    settings.like = geometry_of(decode(base));
    auto all = keys;
    all.insert(all.end(), more.begin(), more.end());
    const SnapshotBytes built = build_snapshot(settings, all);
    const SnapshotBytes edited = updated(base, more);
    EXPECT_TRUE(as_text(shards_of(edited)) == as_text(shards_of(built))) << name;
    EXPECT_EQ(decode(edited).header().estimated_fpr, decode(built).header().estimated_fpr) << name;
    EXPECT_GT(decode(edited).header().estimated_fpr, decode(base).header().estimated_fpr) << name;
  }
}

TEST(SnapshotEditor, CountsTheKeysThatWereCertainlyNew) {
  const SnapshotBytes base = base_of("bloom", 5'000);
  SnapshotEditor editor(decode(base));
  for (const std::string& key : numbered_keys("key", 5'000)) editor.add(hash_of(key));
  EXPECT_EQ(editor.new_keys(), 0U) << "all were there";
  for (int i = 0; i < 2; ++i) {
    for (const std::string& key : numbered_keys("new", 1'000)) editor.add(hash_of(key));
    EXPECT_LE(editor.new_keys(), 1'000U);
    EXPECT_GE(editor.new_keys(), 970U) << "less what the FPR of at most 1 % hides";
  }
  const std::uint64_t new_keys = editor.new_keys();
  const SnapshotBytes snapshot = editor.finish(kAsOf);
  EXPECT_EQ(decode(snapshot).header().key_count, 5'000 + new_keys);
}

TEST(SnapshotEditor, LeavesTheBaseUnchanged) {
  const SnapshotBytes base = base_of("bloom", 50);
  const std::string before(as_text(base.get()));
  static_cast<void>(updated(base, numbered_keys("new", 50)));
  EXPECT_TRUE(as_text(base.get()) == before);
}

TEST(SnapshotEditor, KeepsAllOtherBuildSettings) {
  const SnapshotBytes base = base_of("bloom", 50);
  const SnapshotBytes snapshot = updated(base, numbered_keys("new", 50));
  const SnapshotView view = decode(snapshot);
  const SnapshotHeader& header = view.header();
  EXPECT_EQ(header.as_of, kAsOf + 60);
  EXPECT_NEAR(static_cast<double>(header.built_at), static_cast<double>(unix_now()), 60.0);
  EXPECT_NE(header.build_id, decode(base).header().build_id);
  EXPECT_NE(header.build_id, decode(updated(base, {})).header().build_id);
  EXPECT_EQ(header.adds_from, log_position(123, 4)) << "what the log holds is not in the base";
  EXPECT_EQ(header.seed, kSeed);
  EXPECT_EQ(header.valid_for, 3'600);
  EXPECT_EQ(header.target_fpr, 0.01);
  EXPECT_EQ(view.set_name(), "tags");
  EXPECT_EQ(view.key_profile(), "NFC");
  EXPECT_EQ(geometry_of(view).shard_count, geometry_of(decode(base)).shard_count);
}

TEST(SnapshotEditor, NeverMovesAsOfBack) {
  const SnapshotBytes base = base_of("bloom", 50);
  EXPECT_EQ(decode(updated(base, {}, kAsOf - 1)).header().as_of, kAsOf);
  EXPECT_EQ(test::failure_of([&] { updated(base, {}, -1); }), ErrorKind::Usage);
  EXPECT_EQ(test::failure_of([&] { updated(base, {}, kFarthestMoment + 1); }), ErrorKind::Usage);
}

TEST(SnapshotEditor, RemovesKeysAndKeepsTheOthers) {
  const auto kept = numbered_keys("kept", 3'000);
  auto keys = numbered_keys("gone", 2'000);
  const auto gone = keys;
  keys.insert(keys.end(), kept.begin(), kept.end());
  const SnapshotBytes base = build_snapshot(settings_of(filter_kind_named("cuckoo")), keys);
  SnapshotEditor editor(decode(base));
  for (const std::string& key : gone) EXPECT_TRUE(editor.remove(hash_of(key))) << key;
  EXPECT_EQ(editor.removed_keys(), 2'000U);
  const SnapshotBytes edited = editor.finish(kAsOf);
  const SnapshotView view = decode(edited);
  EXPECT_EQ(view.header().key_count, 3'000U);
  EXPECT_LT(view.header().estimated_fpr, decode(base).header().estimated_fpr);
  for (const std::string& key : kept) ASSERT_TRUE(may_contain(view, key)) << key;
  EXPECT_LT(std::count_if(gone.begin(), gone.end(), [&](const auto& key) { return may_contain(view, key); }),
            60);
}

TEST(SnapshotEditor, ChangesNothingForAnAbsentKey) {
  const SnapshotBytes base = base_of("cuckoo", 1'000);
  SnapshotEditor editor(decode(base));
  for (const std::string& key : numbered_keys("other", 1'000)) {
    if (may_contain(decode(base), key)) continue;
    EXPECT_FALSE(editor.remove(hash_of(key))) << key;
  }
  EXPECT_EQ(editor.removed_keys(), 0U);
  EXPECT_TRUE(as_text(shards_of(editor.finish(kAsOf))) == as_text(shards_of(base)));
}

// Two keys may have the same fingerprint in a filter that removes: each has a place of its own.
TEST(SnapshotEditor, KeepsAKeyThatWasAddedTwiceAndRemovedOnce) {
  const SnapshotBytes base = base_of("cuckoo", 50);
  SnapshotEditor editor(decode(base));
  editor.add(hash_of("key1"));
  EXPECT_EQ(editor.new_keys(), 1U);
  EXPECT_TRUE(editor.remove(hash_of("key1")));
  const SnapshotBytes edited = editor.finish(kAsOf);
  EXPECT_TRUE(may_contain(decode(edited), "key1"));
  EXPECT_EQ(decode(edited).header().key_count, 50U);
}

TEST(SnapshotEditor, ReportsAShardThatHasNoRoomLeft) {
  BuildSettings settings = settings_of(filter_kind_named("cuckoo"));
  settings.growth = 1.0;
  SnapshotEditor editor(decode(build_snapshot(settings, numbered_keys("key", 700))));
  const auto fill = [&editor] {
    for (int i = 0; i < 5'000; ++i) editor.add(hash_of("n" + std::to_string(i)));
  };
  EXPECT_THAT(test::message_of<ErrorKind::Data>(fill),
              AllOf(HasSubstr("set \"tags\""), HasSubstr("is full with"), HasSubstr("--growth")));
}

// This happens however empty the shard is; a larger set does not help.
TEST(SnapshotEditor, ReportsAKeyThatIsThereAsOftenAsItCanBe) {
  SnapshotEditor editor(decode(base_of("cuckoo", 50)));
  for (int i = 0; i < 7; ++i) editor.add(hash_of("key1"));
  EXPECT_EQ(editor.new_keys(), 7U);
  EXPECT_THAT(test::message_of<ErrorKind::Data>([&] { editor.add(hash_of("key1")); }),
              AllOf(HasSubstr("set \"tags\""), HasSubstr("already there 8 times"),
                    HasSubstr("add only new keys"), Not(HasSubstr("is full with"))));
  EXPECT_EQ(editor.new_keys(), 7U);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(editor.remove(hash_of("key1"))) << i;
  EXPECT_FALSE(editor.remove(hash_of("key1")));
}

// One bit per key: the only way to get more new keys than an entry can count.
TEST(SnapshotEditor, RefusesMoreKeysThanAShardCanCount) {
  BuildSettings settings = settings_of(filter_kind_named("bloom"));
  settings.shard_bytes = 8192;
  settings.like = {settings.kind, {.shard_bytes = 8192, .hash_count = 1}, 1};
  settings.target_fpr = 0.5;
  SnapshotEditor editor(decode(build_snapshot(settings, numbered_keys("key", 10))));
  const auto fill = [&editor] {
    for (int i = 0; i < 2'000'000; ++i) editor.add(hash_of("n" + std::to_string(i)));
  };
  EXPECT_THAT(test::message_of<ErrorKind::Data>(fill), HasSubstr("overfull with 65536 keys"));
}

TEST(SnapshotEditor, SaysWhichKindsSupportAdding) {
  FilterKind kind = filter_kind_named("bloom");
  EXPECT_NO_THROW(check_can_add(kind, "tags"));
  kind.add = nullptr;
  kind.name = "static";
  EXPECT_THAT(test::message_of<ErrorKind::Usage>([&] { check_can_add(kind, "tags"); }),
              AllOf(HasSubstr("set \"tags\": keys cannot be added to filter kind static (kinds that can: "),
                    HasSubstr("split_block_bloom"), HasSubstr("build --like")));
}

TEST(SnapshotEditor, SaysWhatToDoWhenKeysCannotBeRemoved) {
  const auto check = [] { check_can_remove(filter_kind_named("bloom"), "tags", false); };
  EXPECT_THAT(
      test::message_of<ErrorKind::Usage>(check),
      AllOf(HasSubstr("set \"tags\": keys cannot be removed from filter kind bloom (kinds that can: "),
            HasSubstr("build --like")));
}

}  // namespace
}  // namespace keysieve
