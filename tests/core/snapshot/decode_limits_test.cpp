// Each limit of what a snapshot may say: the last value inside is accepted, the first one outside refused,
// although all checksums are right.
#include <gmock/gmock.h>

#include <cmath>

#include "core/worker/base/error.hpp"
#include "tests/core/sample_snapshot.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve::test {
namespace {

using ::testing::HasSubstr;

SnapshotHeader& header_of(SnapshotBytes& snapshot) {
  return *reinterpret_cast<SnapshotHeader*>(snapshot.get().data());
}

// Makes the checksums of header and tables right. The geometry must be that of the file.
void sign_again(SnapshotBytes& snapshot) {
  SnapshotHeader& header = header_of(snapshot);
  header.tables_checksum = tables_checksum(snapshot.get(), snapshot_layout(header));
  header.header_checksum = header_checksum(header);
}

template <typename Change>
SnapshotBytes changed(const SnapshotBytes& snapshot, Change change) {
  SnapshotBytes copy = copy_of(snapshot.get());
  change(header_of(copy));
  sign_again(copy);
  return copy;
}

template <typename Change>
void expect_refused(const SnapshotBytes& snapshot, Change change, const std::string& reason) {
  const SnapshotBytes bytes = changed(snapshot, change);
  EXPECT_THAT(message_of<ErrorKind::Data>([&] { decode(bytes); }), HasSubstr(reason));
}

SnapshotBytes ordinary_set() {
  return build_snapshot({.set_name = "tags", .shard_bytes = 1024}, numbered_keys("key", 50));
}

TEST(DecodeLimits, AcceptTheEndsOfEachRange) {
  using H = SnapshotHeader;
  void (*const changes[])(H&) = {
      [](H& h) { h.target_fpr = kMinFpr; },
      [](H& h) { h.target_fpr = kMaxFpr; },
      [](H& h) { h.estimated_fpr = 0.0; },
      [](H& h) { h.estimated_fpr = 1.0; },
      [](H& h) { h.as_of = 0; },
      [](H& h) { h.as_of = kFarthestMoment; },
      [](H& h) { h.built_at = 0; },
      [](H& h) { h.built_at = kFarthestMoment; },
      [](H& h) { h.valid_for = 0; },
      [](H& h) { h.valid_for = kFarthestMoment; },
  };
  for (const auto change : changes) {
    const SnapshotBytes bytes = changed(ordinary_set(), change);
    EXPECT_NO_THROW(decode(bytes)) << "number " << (&change - changes);
  }
}

TEST(DecodeLimits, RefuseTheFirstValueBeyondEachRange) {
  using H = SnapshotHeader;
  const SnapshotBytes set = ordinary_set();
  expect_refused(
      set, [](H& h) { h.estimated_fpr = std::nextafter(1.0, 2.0); }, "estimated FPR");
  expect_refused(
      set, [](H& h) { h.as_of = kFarthestMoment + 1; }, "as_of");
  expect_refused(
      set, [](H& h) { h.built_at = kFarthestMoment + 1; }, "built_at");
  expect_refused(
      set, [](H& h) { h.valid_for = kFarthestMoment + 1; }, "valid_for");
}

TEST(DecodeLimits, SecondLevelsMayFillUpAShardOf8KiB) {
  SnapshotBytes set = ordinary_set();
  header_of(set).retrieval_bytes = kMaxShardBytes - 1024;
  header_of(set).header_checksum = header_checksum(header_of(set));
  EXPECT_THAT(message_of<ErrorKind::Data>([&] { decode(set); }), HasSubstr("tables are not where"));
}

TEST(DecodeLimits, ASampleOfKnownAbsentKeysEndsWithItsTable) {
  SnapshotBuilder builder({.set_name = "tags", .has_known_absent = true});
  for (const std::string_view key : {"a", "b"}) builder.add(key);
  for (const std::string& key : numbered_keys("absent", 1'000)) {
    const std::string_view view = key;
    builder.add_known_absent(0, {&view, 1});
  }
  const SnapshotBytes bytes = builder.finish();
  const SnapshotBytes full = changed(bytes, [](auto& h) { h.sample_count = kKnownAbsentSample; });
  EXPECT_EQ(decode(full).known_absent_sample().size(), kKnownAbsentSample);
  expect_refused(
      bytes, [](auto& h) { h.sample_count = kKnownAbsentSample + 1; }, "in its sample");
}

SnapshotBytes map_of_one_key() {
  MapValues values(1);
  BuildSettings settings{.set_name = "tiers", .kind = find_filter_kind("ribbon"), .seed = kSeed};
  settings.values = &values;
  SnapshotBuilder builder(settings);
  builder.add("key");
  values.add(0, hash_of("key"), 1);
  EXPECT_FALSE(values.finish());
  return builder.finish();
}

TEST(DecodeLimits, ASampleOfValuesEndsWithItsTable) {
  const SnapshotBytes map = map_of_one_key();
  const SnapshotBytes full = changed(map, [](auto& h) { h.sampled_count = kValueSample; });
  EXPECT_EQ(value_sample_of(decode(full).header()).size(), kValueSample);
  expect_refused(
      map, [](auto& h) { h.sampled_count = kValueSample + 1; }, "sample of more values");
}

}  // namespace
}  // namespace keysieve::test
