#include "core/builder/snapshot/counters.hpp"

#include <gmock/gmock.h>

#include "core/builder/snapshot/editor.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"
#include "tests/core/sample_snapshot.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::copy_of;
using test::decode;
using test::hash_of;
using test::kAsOf;
using test::kSeed;
using test::may_contain;
using test::numbered_keys;
using test::shards_of;
using ::testing::HasSubstr;

struct CountingSet {
  SnapshotBytes snapshot;
  SnapshotBytes counters;
};

BuildSettings counting_settings(std::uint8_t build_id) {
  return {.set_name = "tags",
          .kind = &filter_kind_named("bloom"),
          .growth = 2.0,
          .shard_bytes = 1024,
          .seed = kSeed,
          .as_of = kAsOf,
          .built_at = 1,
          .build_id = {build_id}};
}

CountingSet built(std::span<const std::string> keys, std::uint8_t build_id = 1) {
  SnapshotBuilder builder(counting_settings(build_id));
  for (const std::string& key : keys) builder.add(key);
  SnapshotBytes snapshot = builder.finish();
  SnapshotBytes counters = builder.counters(decode(snapshot));
  return {std::move(snapshot), std::move(counters)};
}

CountersHeader& header_of(SnapshotBytes& counters) {
  return *reinterpret_cast<CountersHeader*>(counters.get().data());
}

// What is wrong with them; "" if nothing is.
std::string refusal_of(const SnapshotBytes& counters, const SnapshotBytes& snapshot) {
  try {
    check_counters(counters.get(), decode(snapshot), "the-source");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Counters, FitTheSnapshotTheyWereCountedFor) {
  const CountingSet set = built(numbered_keys("key", 5'000));
  EXPECT_EQ(set.counters.get().size(), 64 + 4 * shards_of(set.snapshot).size());
  EXPECT_EQ(refusal_of(set.counters, set.snapshot), "");
}

TEST(Counters, DoNotChangeTheSnapshot) {
  const auto keys = numbered_keys("key", 5'000);
  const CountingSet set = built(keys);
  const SnapshotBytes plain = test::build_snapshot(counting_settings(1), keys);
  EXPECT_TRUE(as_text(plain.get()) == as_text(set.snapshot.get()));
}

TEST(Counters, AreRefusedForAnotherBuildOrKind) {
  const auto keys = numbered_keys("key", 500);
  const CountingSet set = built(keys);
  EXPECT_THAT(refusal_of(set.counters, built(keys, 2).snapshot),
              HasSubstr("the-source: holds the counters of another build: 01000000"));
  const SnapshotBytes other = test::build_snapshot({.set_name = "tags"}, keys);
  EXPECT_THAT(refusal_of(set.counters, other), HasSubstr("split_block_bloom has no counters"));
}

TEST(Counters, AreRefusedWhenAnyByteIsWrong) {
  const CountingSet set = built(numbered_keys("key", 300));
  for (std::size_t at = 0; at < set.counters.get().size(); at += at < 64 ? 1 : 37) {
    SnapshotBytes damaged = copy_of(set.counters.get());
    damaged.get()[at] ^= std::byte{0x10};
    EXPECT_THAT(refusal_of(damaged, set.snapshot), HasSubstr("the-source: ")) << at;
  }
}

TEST(Counters, AreRefusedWhenAReservedByteIsNotZero) {
  const CountingSet set = built(numbered_keys("key", 300));
  for (const std::size_t at : {10U, 15U, 48U, 55U}) {
    SnapshotBytes wrong = copy_of(set.counters.get());
    wrong.get()[at] = std::byte{1};
    header_of(wrong).header_checksum = checksum(std::as_const(wrong).get().first(56));
    EXPECT_THAT(refusal_of(wrong, set.snapshot), HasSubstr("must be zero")) << at;
  }
}

TEST(Counters, AreRefusedWhenTheySayAnotherSize) {
  const CountingSet set = built(numbered_keys("key", 300));
  SnapshotBytes wrong = copy_of(set.counters.get());
  header_of(wrong).bytes += 4;
  header_of(wrong).header_checksum = checksum(std::as_const(wrong).get().first(56));
  EXPECT_THAT(refusal_of(wrong, set.snapshot), HasSubstr("bytes, not"));
}

TEST(Counters, AreRefusedWhenCutShort) {
  const CountingSet set = built(numbered_keys("key", 300));
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{4000}, set.counters.get().size() - 1}) {
    EXPECT_THAT(refusal_of(copy_of(set.counters.get().first(size)), set.snapshot), HasSubstr("the-source: "))
        << size;
  }
}

TEST(Counters, AreRefusedInALaterFormat) {
  const CountingSet set = built(numbered_keys("key", 300));
  SnapshotBytes newer = copy_of(set.counters.get());
  header_of(newer).format = kCountersFormat + 1;
  EXPECT_EQ(test::failure_of(
                [&] { check_counters(std::as_const(newer).get(), decode(set.snapshot), "the-source"); }),
            ErrorKind::Incompatible);
}

// Right checksums do not help: a set bit whose counter is 0 would never be cleared; in the opposite case a
// key's bit could be.
TEST(Counters, AreRefusedWhenTheyDoNotFitTheBits) {
  const CountingSet set = built(numbered_keys("key", 300));
  SnapshotBytes wrong = copy_of(set.counters.get());
  const auto first = std::find_if(wrong.get().begin() + 64, wrong.get().end(),
                                  [](std::byte byte) { return byte != std::byte{0}; });
  *first = std::byte{0};
  seal_counters(wrong.get(), decode(set.snapshot).header().build_id);
  EXPECT_THAT(refusal_of(wrong, set.snapshot), HasSubstr("do not fit the bits"));
}

TEST(CountingEditor, RemovesAndAddsAndKeepsCounting) {
  const auto kept = numbered_keys("kept", 3'000);
  const auto gone = numbered_keys("gone", 2'000);
  auto all = kept;
  all.insert(all.end(), gone.begin(), gone.end());
  CountingSet set = built(all);
  const SnapshotBytes base = copy_of(set.snapshot.get());

  SnapshotEditor editor(decode(set.snapshot), std::move(set.counters));
  for (const std::string& key : gone) EXPECT_TRUE(editor.remove(hash_of(key))) << key;
  EXPECT_EQ(editor.removed_keys(), 2'000U);
  SnapshotBytes once = editor.finish(kAsOf);
  std::optional<SnapshotBytes> counters = editor.take_counters();
  ASSERT_TRUE(counters);
  EXPECT_EQ(refusal_of(*counters, once), "");
  EXPECT_EQ(decode(once).header().key_count, 3'000U);
  for (const std::string& key : kept) ASSERT_TRUE(may_contain(decode(once), key)) << key;
  EXPECT_LT(decode(once).header().estimated_fpr, decode(base).header().estimated_fpr);

  SnapshotEditor again(decode(once), std::move(counters));
  for (const std::string& key : gone) again.add(hash_of(key));
  EXPECT_EQ(again.new_keys(), 2'000U);
  const SnapshotBytes twice = again.finish(kAsOf);
  EXPECT_TRUE(as_text(shards_of(twice)) == as_text(shards_of(base)));
  EXPECT_EQ(refusal_of(*again.take_counters(), twice), "");
}

TEST(CountingEditor, ChangesNothingForAnAbsentKey) {
  CountingSet set = built(numbered_keys("key", 1'000));
  SnapshotEditor editor(decode(set.snapshot), std::move(set.counters));
  for (const std::string& key : numbered_keys("other", 1'000)) {
    if (may_contain(decode(set.snapshot), key)) continue;
    EXPECT_FALSE(editor.remove(hash_of(key))) << key;
  }
  EXPECT_TRUE(as_text(shards_of(editor.finish(kAsOf))) == as_text(shards_of(set.snapshot)));
}

TEST(CountingEditor, KeepsTheKeyCountWhenNoCounterIsLowered) {
  CountingSet set = built(numbered_keys("key", 100));
  SnapshotEditor editor(decode(set.snapshot), std::move(set.counters));
  for (int i = 0; i < 20; ++i) editor.add(hash_of("often"));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(editor.remove(hash_of("often")));
  EXPECT_EQ(editor.removed_keys(), 0U);
  const SnapshotBytes edited = editor.finish(kAsOf);
  EXPECT_EQ(decode(edited).header().key_count, 120U);
  EXPECT_TRUE(may_contain(decode(edited), "often"));
}

TEST(CountingEditor, CannotRemoveWithoutCounters) {
  const CountingSet set = built(numbered_keys("key", 100));
  SnapshotEditor editor(decode(set.snapshot));
  EXPECT_THAT(
      test::message_of<ErrorKind::Usage>([&] { editor.remove(hash_of("key1")); }),
      AllOf(HasSubstr("filter kind bloom"), HasSubstr("cuckoo"), HasSubstr("build --counting: bloom")));
  EXPECT_FALSE(editor.take_counters());
}

TEST(CountingEditor, RefusesCountersOfAnotherBuild) {
  const auto keys = numbered_keys("key", 100);
  const CountingSet set = built(keys);
  EXPECT_EQ(test::failure_of([&] { SnapshotEditor(decode(set.snapshot), built(keys, 2).counters); }),
            ErrorKind::Data);
}

TEST(CountingEditor, SaysWhichKindsSupportCounting) {
  EXPECT_NO_THROW(check_can_count(filter_kind_named("bloom"), "tags"));
  EXPECT_THAT(
      test::message_of<ErrorKind::Usage>([] { check_can_count(filter_kind_named("ribbon"), "tags"); }),
      AllOf(HasSubstr("set \"tags\": filter kind ribbon has no --counting"), HasSubstr("bloom")));
}

}  // namespace
}  // namespace keysieve
