// The bytes of the snapshot format, one file per kind in tests/golden. A file that no longer matches means
// that snapshots already in stores are read differently: that takes a new format number. For a new kind, the
// variable KEYSIEVE_WRITE_GOLDEN=1 has its file written.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "core/base/file_descriptor.hpp"
#include "tests/core/kind_ids.hpp"
#include "tests/core/sample_snapshot.hpp"

namespace keysieve {
namespace {

std::vector<std::string> golden_keys() {
  using namespace std::string_literals;
  std::vector<std::string> keys = test::numbered_keys("key", 60);
  keys.insert(keys.end(), {""s, "a\0b"s, "初音ミク"s, "\xff"s, std::string(300, 'x')});
  return keys;
}

SnapshotBytes golden_snapshot(const FilterKind& kind) {
  return test::build_snapshot({.set_name = "golden-set",
                               .kind = &kind,
                               .target_fpr = 0.01,
                               .shard_bytes = 1024,
                               .seed = 0x0123456789abcdef,
                               .as_of = 1'400'000'000,
                               .valid_for = 172'800,
                               .adds_from = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
                               .built_at = 1'400'000'060,
                               .build_id = {0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa,
                                            0xab, 0xac, 0xad, 0xae, 0xaf},
                               .key_profile = "UTF-8, NFC"},
                              golden_keys());
}

std::string golden_path(const FilterKind& kind) {
  return std::string(KEYSIEVE_GOLDEN_DIRECTORY "/").append(kind.name).append(".ks");
}

class GoldenSnapshot : public ::testing::TestWithParam<std::uint8_t> {
 protected:
  [[nodiscard]] static const FilterKind& kind() { return *find_filter_kind(GetParam()); }
};

TEST_P(GoldenSnapshot, IsBuiltByteByByte) {
  const SnapshotBytes built = golden_snapshot(kind());
  if (std::getenv("KEYSIEVE_WRITE_GOLDEN") != nullptr) {
    std::ofstream(golden_path(kind()), std::ios::binary) << as_text(built.get());
  }
  std::ifstream file(golden_path(kind()), std::ios::binary);
  ASSERT_TRUE(file.is_open()) << golden_path(kind());
  const std::string golden(std::istreambuf_iterator<char>(file), {});
  ASSERT_EQ(built.get().size(), golden.size());
  for (std::size_t at = 0; at < golden.size(); ++at) {
    ASSERT_EQ(as_text(built.get())[at], golden[at]) << golden_path(kind()) << " differs at offset " << at;
  }
}

TEST_P(GoldenSnapshot, IsReadWithAllItsFields) {
  const MappedRegion region = map_file(golden_path(kind()));
  const SnapshotView view = SnapshotView::decode(bytes_of(region), golden_path(kind()), Check::Everything);
  EXPECT_EQ(&view.kind(), &kind());
  EXPECT_EQ(view.set_name(), "golden-set");
  EXPECT_EQ(view.key_profile(), "UTF-8, NFC");
  EXPECT_EQ(view.seed(), 0x0123456789abcdefU);
  EXPECT_EQ(view.header().key_count, 65U);
  EXPECT_EQ(view.header().shard_count, 1U);
  EXPECT_EQ(view.header().as_of, 1'400'000'000);
  EXPECT_EQ(view.header().built_at, 1'400'000'060);
  EXPECT_EQ(view.valid_until(), 1'400'172'800);
  EXPECT_EQ(to_hex(view.header().build_id), "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf");
  EXPECT_EQ(to_hex(view.header().adds_from), "0102030405060708090a0b0c0d0e0f10");
  for (const std::string& key : golden_keys()) EXPECT_TRUE(test::may_contain(view, key)) << key;
  EXPECT_FALSE(test::may_contain(view, "absent"));
}

INSTANTIATE_TEST_SUITE_P(EveryKind, GoldenSnapshot, ::testing::ValuesIn(test::all_kind_ids()),
                         [](const auto& instance) {
                           return std::string(find_filter_kind(instance.param)->name);
                         });

}  // namespace
}  // namespace keysieve
