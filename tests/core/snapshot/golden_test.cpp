// The bytes of the snapshot format, in tests/golden: one file of few keys per kind, full shards of kinds that
// fill them in a special way, and a map. A file that no longer matches means that snapshots already in stores
// are read differently, which requires a new format number.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "core/builder/base/file_io.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/mapped_region.hpp"
#include "tests/core/sample_snapshot.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

constexpr HashSeed kGoldenSeed{0x0123456789abcdef, 0xfedcba9876543210};

struct GoldenFile {
  std::string name;
  const FilterKind* kind;
  int numbered_keys = 60;
  int known_absent = 0;
};

std::vector<GoldenFile> golden_files() {
  std::vector<GoldenFile> files;
  for (const FilterKind& kind : filter_kinds()) files.push_back({std::string(kind.name), &kind});
  const FilterKind& ribbon = filter_kind_named("ribbon");
  files.push_back({"ribbon_full", &ribbon, 2'350});  // uneven levels, a short column
  files.push_back(
      {"cuckoo_full", &filter_kind_named("cuckoo"), 4'000});  // narrower fingerprints in some shards
  for (const char* kind : {"split_block_bloom", "ribbon"}) {
    files.push_back({std::string(kind) + "_known_absent", &filter_kind_named(kind), 60, 3'000});
  }
  return files;
}

std::vector<std::string> golden_keys(const GoldenFile& file) {
  using namespace std::string_literals;
  std::vector<std::string> keys = test::numbered_keys("key", file.numbered_keys);
  keys.insert(keys.end(), {""s, "a\0b"s, "初音ミク"s, "\xff"s, std::string(300, 'x')});
  return keys;
}

BuildSettings golden_settings(const GoldenFile& file) {
  return {.set_name = "golden-set",
          .kind = file.kind,
          .target_fpr = 0.01,
          .shard_bytes = 1024,
          .seed = kGoldenSeed,
          .as_of = 1'400'000'000,
          .valid_for = 172'800,
          .adds_from = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
          .built_at = 1'400'000'060,
          .build_id = {0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad,
                       0xae, 0xaf},
          .key_profile = "UTF-8, NFC",
          .has_known_absent = file.known_absent != 0};
}

SnapshotBytes golden_snapshot(const GoldenFile& file, const BuildSettings& settings) {
  SnapshotBuilder builder(settings);
  for (const std::string& key : golden_keys(file)) builder.add(key);
  for (const std::string& key : test::numbered_keys("absent", file.known_absent)) {
    const std::string_view view = key;
    builder.add_known_absent(0, {&view, 1});
  }
  return builder.finish();
}

std::string golden_path(const std::string& name) {
  return KEYSIEVE_GOLDEN_DIRECTORY "/" + name + ".ks";
}

void expect_golden(Bytes built, const std::string& path) {
  if (std::getenv("KEYSIEVE_WRITE_GOLDEN") != nullptr)
    std::ofstream(path, std::ios::binary) << as_text(built);
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file.is_open()) << path << " is missing; KEYSIEVE_WRITE_GOLDEN=1 writes it";
  const std::string golden(std::istreambuf_iterator<char>(file), {});
  ASSERT_EQ(built.size(), golden.size());
  for (std::size_t at = 0; at < golden.size(); ++at) {
    ASSERT_EQ(as_text(built)[at], golden[at]) << path << " differs at offset " << at;
  }
}

class GoldenSnapshot : public ::testing::TestWithParam<GoldenFile> {
 protected:
  [[nodiscard]] static std::string path() { return golden_path(GetParam().name); }
  [[nodiscard]] static std::vector<std::string> keys() { return golden_keys(GetParam()); }
};

TEST_P(GoldenSnapshot, IsBuiltByteByByte) {
  expect_golden(golden_snapshot(GetParam(), golden_settings(GetParam())).get(), path());
}

TEST_P(GoldenSnapshot, IsReadWithAllItsFields) {
  const MappedRegion region = map_file(path());
  const SnapshotView view = SnapshotView::decode(bytes_of(region), path(), Check::Everything);
  EXPECT_EQ(&filter_kind_of(view.kind()), GetParam().kind);
  EXPECT_EQ(view.set_name(), "golden-set");
  EXPECT_EQ(view.key_profile(), "UTF-8, NFC");
  EXPECT_EQ(view.seed(), kGoldenSeed);
  EXPECT_EQ(view.header().key_count, keys().size());
  EXPECT_EQ(view.header().as_of, 1'400'000'000);
  EXPECT_EQ(view.header().built_at, 1'400'000'060);
  EXPECT_EQ(view.valid_until(), 1'400'172'800);
  EXPECT_EQ(to_hex(view.header().build_id), "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf");
  EXPECT_EQ(to_hex(view.header().adds_from), "0102030405060708090a0b0c0d0e0f10");
  for (const std::string& key : keys()) EXPECT_TRUE(test::may_contain(view, key)) << key;
  EXPECT_FALSE(test::may_contain(view, "absent"));
  EXPECT_EQ(view.header().known_absent, static_cast<std::uint64_t>(GetParam().known_absent));
  for (const std::string& key : test::numbered_keys("absent", GetParam().known_absent)) {
    EXPECT_FALSE(test::may_contain(view, key)) << key;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryFile, GoldenSnapshot, ::testing::ValuesIn(golden_files()),
                         [](const auto& instance) { return instance.param.name; });

// Values of 13 bits.
std::uint32_t golden_value(std::string_view key) {
  return static_cast<std::uint32_t>(test::hash_of(key).word >> 51);
}

TEST(GoldenMap, HasItsValues) {
  const GoldenFile file{"map", &filter_kind_named("ribbon"), 600, 900};
  MapValues values(1);
  const KeyHasher hasher(kGoldenSeed);
  for (const std::string& key : golden_keys(file)) values.add(0, hasher(key), golden_value(key));
  ASSERT_FALSE(values.finish());
  BuildSettings settings = golden_settings(file);
  settings.values = &values;
  expect_golden(golden_snapshot(file, settings).get(), golden_path(file.name));

  const MappedRegion region = map_file(golden_path(file.name));
  const SnapshotView view = SnapshotView::decode(bytes_of(region), file.name, Check::Everything);
  EXPECT_EQ(view.header().value_bits, 13);
  for (const std::string& key : golden_keys(file)) EXPECT_EQ(view.find(hasher(key)), golden_value(key));
  for (const std::string& key : test::numbered_keys("absent", file.known_absent)) {
    EXPECT_EQ(view.find(hasher(key)), kAbsent) << key;
  }
}

}  // namespace
}  // namespace keysieve
