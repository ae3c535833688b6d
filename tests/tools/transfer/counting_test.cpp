// The counters of a counting set have chunks of their own in a store, which only update fetches.
#include "core/builder/snapshot/counters.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/tools/transfer/transfer_fixture.hpp"
#include "tools/transfer/pointer_changes.hpp"
#include "tools/transfer/rollback.hpp"
#include "tools/transfer/update.hpp"

namespace keysieve::test {
namespace {

struct CountingSet {
  SnapshotBytes snapshot;
  SnapshotBytes counters;
};

CountingSet build_counting(std::uint64_t keys, double target_fpr = 0.0001) {
  SnapshotBuilder builder(
      settings_of({.kind = "bloom", .keys = keys, .target_fpr = target_fpr, .growth = 2.0}));
  add_keys(builder, keys);
  SnapshotBytes snapshot = builder.finish();
  SnapshotBytes counters = builder.counters(view_of(snapshot));
  return {std::move(snapshot), std::move(counters)};
}

class Counting : public TransferTest {
 protected:
  static constexpr std::uint64_t kKeys = 40'000;  // some chunks of snapshot, more of counters

  PushResult push_counting(const CountingSet& set) {
    return keysieve::push(*store_, view_of(set.snapshot), {.allow_any_as_of = true}, {}, unix_now(),
                          set.counters.get());
  }
  UpdateResult update(const std::vector<std::string>& added, const std::vector<std::string>& removed) {
    return keysieve::update(*store_, "tags", {.added = added, .removed = removed, .as_of = 1'700'000'060},
                            {});
  }
  [[nodiscard]] std::string chunk_of_counters(std::uint32_t number) const {
    return key_of_chunk(current().chunk_count + number);
  }
  [[nodiscard]] bool answers_maybe(const std::string& key) {
    const Pulled pulled = pull();
    return test::answers_maybe(view_of(pulled.snapshot), key);
  }
  void expect_all_maybe_from(std::uint64_t first) {
    const Pulled pulled = pull();
    const SnapshotView view = view_of(pulled.snapshot);
    for (std::uint64_t i = first; i < kKeys; ++i) {
      ASSERT_TRUE(test::answers_maybe(view, "key" + std::to_string(i))) << i;
    }
  }

  const CountingSet set_ = build_counting(kKeys);
};

TEST_F(Counting, IsPulledForAnUpdate) {
  push_counting(set_);
  EXPECT_EQ(current().counters_bytes, set_.counters.get().size());
  const Pulled pulled = pull_with_counters(*store_, "tags");
  EXPECT_TRUE(are_same(pulled.snapshot, set_.snapshot));
  ASSERT_TRUE(pulled.counters);
  EXPECT_TRUE(are_same(*pulled.counters, set_.counters));
}

TEST_F(Counting, IsNotFetchedByAPull) {
  push_counting(set_);
  std::vector<std::string> fetched;
  hooked_.before_get_many = [&](auto keys) { fetched.insert(fetched.end(), keys.begin(), keys.end()); };
  EXPECT_FALSE(keysieve::pull(hooked_, "tags").counters);
  EXPECT_EQ(fetched.size(), current().chunk_count);
  EXPECT_THAT(fetched, Not(Contains(chunk_of_counters(0))));
}

TEST_F(Counting, LetsKeysBeRemovedRepeatedly) {
  push_counting(set_);
  const UpdateResult first = update({"new1"}, {"key1", "key2", "surely nobody has this"});
  EXPECT_EQ(first.removed_keys, 2U);
  EXPECT_EQ(first.pushed.record.key_count, kKeys - 1);
  EXPECT_THAT(first.pushed.warnings, ElementsAre(HasSubstr("removed 2 of 3 keys; the rest")));
  EXPECT_FALSE(answers_maybe("key1"));
  EXPECT_FALSE(answers_maybe("key2"));
  EXPECT_TRUE(answers_maybe("new1"));
  const UpdateResult second = update({"key1"}, {"new1", "key3"});
  EXPECT_EQ(second.removed_keys, 2U);
  EXPECT_THAT(second.pushed.warnings, IsEmpty());
  EXPECT_FALSE(answers_maybe("new1"));
  EXPECT_TRUE(answers_maybe("key0"));
  EXPECT_TRUE(answers_maybe("key1"));
  expect_all_maybe_from(4);
}

// A second removal would lower counters that other keys share with it.
TEST_F(Counting, StaysWhenTheCurrentOrAKeptBuildIsPushedAgainWithoutCounters) {
  push_counting(set_);
  EXPECT_THAT(push(set_.snapshot).warnings, IsEmpty());
  EXPECT_EQ(current().generation, 1U);
  EXPECT_EQ(current().counters_bytes, set_.counters.get().size());
  push_counting(build_counting(kKeys));
  EXPECT_THAT(push(set_.snapshot).warnings, IsEmpty());
  EXPECT_EQ(current().generation, 3U);
  EXPECT_EQ(update({}, {"key1"}).removed_keys, 1U);
}

TEST_F(Counting, IsLostWhenABuildWithDamagedCountersIsPushedAgain) {
  push_counting(set_);
  remove_record(*store_, chunk_of_counters(1));
  EXPECT_THAT(push(set_.snapshot).warnings, ElementsAre(HasSubstr("no counters any more")));
  EXPECT_EQ(current().generation, 1U);
  EXPECT_TRUE(answers_maybe("key1"));
}

TEST_F(Counting, ComesBackWithARollback) {
  push_counting(set_);
  update({}, {"key1"});
  rollback(*store_, "tags", plan_rollback(*store_, "tags", {}));
  EXPECT_EQ(current().counters_bytes, set_.counters.get().size());
  EXPECT_TRUE(answers_maybe("key1"));
  EXPECT_EQ(update({}, {"key1", "key4"}).removed_keys, 2U);
}

TEST_F(Counting, DoesNotPreventARollbackWhenLostOrDamaged) {
  for (const bool is_lost : {true, false}) {
    push_counting(build_counting(kKeys));
    const std::string key = chunk_of_counters(1);
    update({}, {"key1"});
    if (is_lost) {
      remove_record(*store_, key);
    } else {
      damage(key);
    }
    const RollbackResult result = rollback(*store_, "tags", plan_rollback(*store_, "tags", {}));
    EXPECT_THAT(result.warnings, ElementsAre(AllOf(HasSubstr("without its counters"), HasSubstr("--counting"),
                                                   HasSubstr(key))));
    EXPECT_TRUE(answers_maybe("key1"));
    EXPECT_EQ(current().counters_bytes, 0U);
    EXPECT_EQ(failure_of([&] { update({}, {"key1"}); }), ErrorKind::Usage);
    EXPECT_EQ(update({"new1"}, {}).pushed.record.counters_bytes, 0U);
  }
}

TEST_F(Counting, IsReportedMissingWhenAGenerationHasNone) {
  push_counting(set_);
  const PushResult pushed = push(build_counting(kKeys).snapshot);
  EXPECT_THAT(pushed.warnings,
              ElementsAre(AllOf(HasSubstr("no counters any more"), HasSubstr("--counting"))));
  EXPECT_THAT(message_of<ErrorKind::Usage>([this] { update({}, {"key1"}); }),
              AllOf(HasSubstr("filter kind bloom"), HasSubstr("--counting")));
  EXPECT_EQ(current().generation, 2U);
  EXPECT_EQ(update({"new1"}, {}).pushed.record.counters_bytes, 0U);
}

TEST_F(Counting, LeavesNoChunksBehind) {
  for (int i = 0; i < 6; ++i) push_counting(build_counting(kKeys));
  std::size_t chunks = 0;
  for (const SnapshotRecord& kept : kept_generations(pointer())) chunks += chunks_of(kept).chunk_count;
  EXPECT_EQ(keys().size(), chunks + 1) << "and the pointer record";
}

TEST_F(Counting, IsRefusedByPushWhenItIsOfAnotherBuild) {
  const CountingSet other = build_counting(kKeys);
  EXPECT_EQ(failure_of([&] {
              keysieve::push(*store_, view_of(set_.snapshot), {}, {}, unix_now(), other.counters.get());
            }),
            ErrorKind::Data);
  EXPECT_THAT(keys(), IsEmpty());
}

TEST_F(Counting, MakesAnUpdateSayWhatIsMissingOrDamaged) {
  push_counting(set_);
  const std::string key = chunk_of_counters(1);
  damage(key);
  EXPECT_EQ(failure_of([&] { update({}, {"key1"}); }), ErrorKind::Data);
  remove_record(*store_, key);
  EXPECT_THAT(message_of<ErrorKind::Data>([this] { update({}, {"key1"}); }),
              AllOf(HasSubstr("is damaged, push again"), HasSubstr(key)));
  EXPECT_EQ(current().generation, 1U);
  EXPECT_TRUE(answers_maybe("key1")) << "readers need no counters";
  push_counting(set_);
  EXPECT_EQ(current().generation, 1U) << "the same build, repaired";
  EXPECT_EQ(update({}, {"key1"}).removed_keys, 1U);
}

}  // namespace
}  // namespace keysieve::test
