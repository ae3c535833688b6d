#include "core/builder/snapshot/builder.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <random>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/error.hpp"
#include "tests/core/kind_ids.hpp"
#include "tests/core/sample_snapshot.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::build_snapshot;
using test::decode;
using test::may_contain;
using test::numbered_keys;
using ::testing::Each;

TEST(SnapshotBuilder, SizesForTheGivenKeys) {
  const BuildSettings settings{.set_name = "tags", .target_fpr = 0.001, .growth = 1.5};
  const SnapshotBytes snapshot = build_snapshot(settings, numbered_keys("key", 20'000));
  const Geometry expected = size_filter(*settings.kind, {.keys = 20'000, .target_fpr = 0.001, .growth = 1.5});
  const Geometry built = geometry_of(decode(snapshot));
  EXPECT_EQ(decode(snapshot).header().target_fpr, 0.001);
  EXPECT_EQ(built.kind, settings.kind);
  EXPECT_EQ(built.shard_count, expected.shard_count);
  EXPECT_EQ(built.params.shard_bytes, expected.params.shard_bytes);
  EXPECT_EQ(built.params.hash_count, expected.params.hash_count);
}

TEST(SnapshotBuilder, EstimatesTheFprFromTheBytes) {
  const SnapshotBytes snapshot = build_snapshot({.set_name = "tags"}, numbered_keys("key", 50'000));
  const SnapshotView view = decode(snapshot);
  EXPECT_NEAR(view.header().estimated_fpr, theoretical_fpr(geometry_of(view), 50'000), 0.0005);
  EXPECT_GT(view.fill_ratio(), 0.3);
  EXPECT_LT(view.fill_ratio(), 0.6);
  EXPECT_NEAR(view.bits_per_key(), 8.0 * static_cast<double>(snapshot.get().size()) / 50'000, 1e-9);
}

TEST(SnapshotBuilder, HasAFillRatioWhereItIsMeaningful) {
  for (const FilterKind& kind : filter_kinds()) {
    SnapshotBuilder builder({.set_name = "tags", .kind = &kind});
    for (const std::string& key : numbered_keys("key", 20'000)) builder.add(key);
    const SnapshotBytes snapshot = builder.finish();
    const std::optional<double> fill_ratio = decode(snapshot).fill_ratio();
    EXPECT_EQ(builder.fill_ratio(), fill_ratio) << kind.name << ", of what it has written";
    EXPECT_EQ(fill_ratio.has_value(), kind.fill_ratio != nullptr) << kind.name;
    if (!fill_ratio || test::is_bit_kind(kind)) continue;
    EXPECT_NEAR(*fill_ratio, 0.9, 0.06) << kind.name << ": slots";
  }
}

// Before any kind sees them: their hashes are sorted.
TEST(SnapshotBuilder, BuildsTheSameBytesFromAnyOrderAndCountsDuplicatesOnce) {
  const BuildSettings settings{.set_name = "tags", .built_at = 1, .build_id = {1}};
  auto keys = numbered_keys("key", 3'000);
  const SnapshotBytes once = build_snapshot(settings, keys);

  keys.insert(keys.end(), keys.begin(), keys.begin() + 500);
  std::shuffle(keys.begin(), keys.end(), std::minstd_rand(1));
  SnapshotBuilder builder(settings);
  for (const std::string& key : keys) builder.add(key);
  for (int i = 0; i < 70'000; ++i) builder.add("key1");  // more than a shard could hold
  EXPECT_EQ(builder.keys_given(), 73'500U);
  const SnapshotBytes often = builder.finish();
  EXPECT_EQ(decode(often).header().key_count, 3'000U);
  EXPECT_TRUE(as_text(often.get()) == as_text(once.get()));
}

TEST(SnapshotBuilder, BuildsTheSameBytesWithAnyNumberOfThreadsAndMemoryLimit) {
  const auto keys = numbered_keys("key", 200'000);
  const auto absent = numbered_keys("absent", 400'000);
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  const std::vector<std::string_view> absent_views(absent.begin(), absent.end());
  const std::span<const std::string_view> all(views);
  for (const auto& [kind, shard_bytes, has_known_absent] :
       {std::tuple{"split_block_bloom", 1024U, false}, {"ribbon", 8192U, false}, {"ribbon", 1024U, true}}) {
    const BuildSettings settings{.set_name = "tags",
                                 .kind = find_filter_kind(kind),
                                 .target_fpr = 0.05,
                                 .shard_bytes = shard_bytes,
                                 .built_at = 1,
                                 .build_id = {1},
                                 .has_known_absent = has_known_absent};
    std::optional<SnapshotBytes> expected;
    for (const auto& [threads, is_limited] : {std::pair{1U, false}, {3U, false}, {2U, true}, {64U, true}}) {
      BuildResources resources{.threads = threads};
      const std::uint64_t mebibytes = has_known_absent ? 16 : 12;
      if (is_limited) resources.memory_bytes = resident_bytes() + (mebibytes << 20);
      SnapshotBuilder builder(settings, resources);
      builder.add(0, all.first(50'000));
      builder.add(builder.threads() - 1, all.subspan(50'000));
      if (has_known_absent) builder.add_known_absent(0, absent_views);
      const SnapshotBytes built = builder.finish();
      if (!expected) expected = test::copy_of(built.get());
      EXPECT_TRUE(as_text(built.get()) == as_text(expected->get()))
          << kind << " in " << threads << " threads";
    }
  }
}

TEST(SnapshotBuilder, HandsOverEachByteOnceAndTheHeaderLast) {
  SnapshotBuilder builder({.set_name = "tags", .shard_bytes = 1024}, {.threads = 2});
  for (const std::string& key : numbered_keys("key", 100'000)) builder.add(key);
  std::vector<int> times(builder.size());
  std::uint64_t last_offset = 1;
  std::mutex mutex;
  builder.write([&](std::uint64_t offset, Bytes bytes) {
    const std::lock_guard lock(mutex);
    last_offset = offset;
    for (std::size_t i = 0; i < bytes.size(); ++i) ++times.at(offset + i);
  });
  EXPECT_EQ(last_offset, 0U);
  EXPECT_THAT(times, Each(1));
}

TEST(SnapshotBuilder, PassesOnExceptionsOfItsReceiver) {
  for (const unsigned threads : {1U, 4U}) {
    SnapshotBuilder builder({.set_name = "tags"}, {.threads = threads});
    for (const std::string& key : numbered_keys("key", 100'000)) builder.add(key);
    builder.size();
    EXPECT_EQ(test::failure_of([&] {
                builder.write([](std::uint64_t /*offset*/, Bytes /*bytes*/) {
                  throw Error(ErrorKind::Data, "enough");
                });
              }),
              ErrorKind::Data);
  }
}

TEST(SnapshotBuilder, GivesEachBuildItsOwnIdAndTime) {
  const auto keys = numbered_keys("key", 10);
  const SnapshotBytes first = build_snapshot({.set_name = "tags"}, keys);
  const SnapshotBytes second = build_snapshot({.set_name = "tags"}, keys);
  EXPECT_NE(decode(first).header().build_id, decode(second).header().build_id);
  EXPECT_NEAR(static_cast<double>(decode(first).header().built_at), static_cast<double>(unix_now()), 60.0);
}

TEST(SnapshotBuilder, BuildsASetWithoutKeysThatAnswersAbsent) {
  for (const FilterKind& kind : filter_kinds()) {
    const SnapshotBytes snapshot = build_snapshot({.set_name = "bans", .kind = &kind}, {});
    const SnapshotView view = decode(snapshot);
    EXPECT_EQ(view.header().key_count, 0U) << kind.name;
    EXPECT_EQ(view.header().shard_count, 1U) << kind.name;
    EXPECT_EQ(view.header().estimated_fpr, 0.0) << kind.name;
    for (const std::string& key : numbered_keys("key", 10'000)) {
      ASSERT_FALSE(may_contain(view, key)) << kind.name << ": " << key;
    }
  }
}

Geometry built_geometry(const BuildSettings& settings, const std::vector<std::string>& keys) {
  return geometry_of(decode(build_snapshot(settings, keys)));
}

TEST(SnapshotBuilder, KeepsTheGeometryOfLike) {
  BuildSettings settings{.set_name = "tags", .growth = 2.0, .shard_bytes = 1024};
  settings.like = built_geometry(settings, numbered_keys("old", 10'000));
  settings.growth = 1.0;
  for (const int keys : {3'000, 19'000}) {
    EXPECT_EQ(built_geometry(settings, numbered_keys("new", keys)).shard_count, settings.like->shard_count)
        << keys;
  }
}

TEST(SnapshotBuilder, SizesAgainWhenTheKeysHaveOutgrownTheGeometry) {
  BuildSettings settings{.set_name = "tags", .shard_bytes = 1024};
  settings.like = built_geometry(settings, numbered_keys("old", 10'000));
  const Geometry geometry = built_geometry(settings, numbered_keys("new", 20'000));
  EXPECT_GT(geometry.shard_count, settings.like->shard_count);
  EXPECT_LE(theoretical_fpr(geometry, 20'000), 0.01);
}

TEST(SnapshotBuilder, SizesAgainForAnotherKindOrShardSize) {
  const auto keys = numbered_keys("key", 5'000);
  BuildSettings settings{.set_name = "tags", .growth = 8.0, .shard_bytes = 1024};
  const Geometry before = built_geometry(settings, keys);
  settings.growth = 1.0;
  settings.like = before;
  settings.kind = find_filter_kind("bloom");
  EXPECT_LT(built_geometry(settings, keys).shard_count, before.shard_count / 4);
  settings.kind = before.kind;
  settings.shard_bytes = 2048;
  EXPECT_EQ(built_geometry(settings, keys).params.shard_bytes, 2048U);
}

TEST(SnapshotBuilder, RefusesAnOverfullShard) {
  BuildSettings settings{
      .set_name = "tags", .kind = find_filter_kind("bloom"), .target_fpr = 0.5, .shard_bytes = 8192};
  settings.like = Geometry{settings.kind, {.shard_bytes = 8192, .hash_count = 1}, 2};
  const KeyHasher hasher(settings.seed);
  SnapshotBuilder builder(settings);
  for (std::uint64_t i = 0; builder.keys_given() <= kMaxKeysPerShard; ++i) {
    const std::string key = std::to_string(i);
    if (shard_of(hasher(key), 2) == 1) builder.add(key);
  }
  EXPECT_EQ(test::failure_of([&] { builder.finish(); }), ErrorKind::Data);
}

TEST(SnapshotBuilder, AcceptsASetNameAndAKeyProfileOf64Bytes) {
  const std::string name(kMaxSetNameBytes, 'n');
  const std::string profile(kKeyProfileBytes, 'p');
  const SnapshotBytes snapshot =
      build_snapshot({.set_name = name, .key_profile = profile}, numbered_keys("key", 1));
  EXPECT_EQ(decode(snapshot).set_name(), name);
  EXPECT_EQ(decode(snapshot).key_profile(), profile);
}

void expect_refused(const BuildSettings& settings) {
  EXPECT_EQ(test::failure_of([&] { SnapshotBuilder{settings}; }), ErrorKind::Usage);
}

TEST(SnapshotBuilder, RefusesSettingsOutOfRange) {
  for (const std::string name : {"", ".", "..", "-x", "A"}) expect_refused({.set_name = name});
  expect_refused({.set_name = "tags", .target_fpr = 0.0});
  expect_refused({.set_name = "tags", .target_fpr = std::nan("")});
  expect_refused({.set_name = "tags", .growth = 0.5});
  expect_refused({.set_name = "tags", .shard_bytes = 3000});
  expect_refused({.set_name = "tags", .valid_for = -1});
  constexpr UnixSeconds kTooFar = std::numeric_limits<UnixSeconds>::max();  // for readers too
  expect_refused({.set_name = "tags", .as_of = kTooFar});
  expect_refused({.set_name = "tags", .as_of = -kTooFar});
  expect_refused({.set_name = "tags", .valid_for = kTooFar});
  for (const std::uint16_t format : {std::uint16_t{0}, std::uint16_t{9}})
    expect_refused({.set_name = "tags", .format = format});
  expect_refused({.set_name = "tags", .key_profile = std::string(65, 'p')});
  expect_refused({.set_name = "tags", .key_profile = std::string("a\0b", 3)});
}

}  // namespace
}  // namespace keysieve
