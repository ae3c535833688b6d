#include <gmock/gmock.h>

#include "core/builder/filters/filter_kind.hpp"
#include "core/worker/base/error.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;

// Snapshots store ids: they never change and are never reused.
TEST(Registry, FindsEachKindByItsId) {
  EXPECT_EQ(find_filter_kind(std::uint8_t{1})->name, "bloom");
  EXPECT_EQ(find_filter_kind(std::uint8_t{2})->name, "partitioned_bloom");
  EXPECT_EQ(find_filter_kind(std::uint8_t{3})->name, "blocked_bloom");
  EXPECT_EQ(find_filter_kind(std::uint8_t{4})->name, "split_block_bloom");
  EXPECT_EQ(find_filter_kind(std::uint8_t{5})->name, "cuckoo");
  EXPECT_EQ(find_filter_kind(std::uint8_t{6})->name, "xor");
  EXPECT_EQ(find_filter_kind(std::uint8_t{7})->name, "binary_fuse");
  EXPECT_EQ(find_filter_kind(std::uint8_t{8})->name, "ribbon");
  EXPECT_EQ(find_filter_kind(std::uint8_t{9}), nullptr);
}

TEST(Registry, FindsEachKindByItsName) {
  for (const FilterKind& kind : filter_kinds()) {
    EXPECT_EQ(find_filter_kind(kind.name), &kind);
    EXPECT_EQ(find_filter_kind(kind.id), &kind);
    EXPECT_EQ(&filter_kind_named(kind.name), &kind);
  }
}

TEST(Registry, DescribesEachKindCompletely) {
  for (const FilterKind& kind : filter_kinds()) {
    EXPECT_FALSE(kind.summary.empty()) << kind.name;
    const auto counts = kind.hash_counts();
    ASSERT_FALSE(counts.empty()) << kind.name;
    EXPECT_TRUE(std::is_sorted(counts.begin(), counts.end())) << kind.name;
    for (const std::uint8_t count : counts) EXPECT_TRUE(kind.takes_hash_count(count)) << kind.name;
    for (const std::uint8_t count : {std::uint8_t{0}, std::uint8_t{255}})
      EXPECT_FALSE(kind.takes_hash_count(count)) << kind.name;
    for (const std::uint8_t k : kind.hash_counts()) {
      EXPECT_GE(kind.cache_lines({.hash_count = k}, 3'000), 1U) << kind.name;
    }
  }
}

TEST(Registry, FindsNothingForUnknownIdsAndNames) {
  EXPECT_EQ(find_filter_kind(std::uint8_t{0}), nullptr);
  EXPECT_EQ(find_filter_kind(std::uint8_t{255}), nullptr);
  EXPECT_EQ(find_filter_kind(""), nullptr);
  EXPECT_EQ(find_filter_kind("Bloom"), nullptr);
}

TEST(Registry, ListsTheKnownNamesForAnUnknownOne) {
  EXPECT_THAT(test::message_of<ErrorKind::Usage>([] { filter_kind_named("blom"); }),
              AllOf(HasSubstr("\"blom\""), HasSubstr("bloom"), HasSubstr("blocked_bloom"),
                    HasSubstr("split_block_bloom")));
}

TEST(Registry, ListsTheWantedKinds) {
  EXPECT_EQ(kind_names([](const FilterKind& kind) { return kind.id == 1; }), "bloom");
  EXPECT_THAT(
      kind_names([](const FilterKind& kind) { return kind.cache_lines({.hash_count = 8}, 3'000) == 1; }),
      HasSubstr("blocked_bloom, split_block_bloom"));
  EXPECT_EQ(kind_names([](const FilterKind&) { return false; }), "none");
}

TEST(ShardBytes, ArePowersOfTwoFrom1To8KiB) {
  for (const std::uint64_t bytes : {1024U, 2048U, 4096U, 8192U}) EXPECT_TRUE(is_shard_bytes(bytes)) << bytes;
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{512}, std::uint64_t{3000},
                                    std::uint64_t{16384}, (std::uint64_t{1} << 32) + 4096}) {
    EXPECT_FALSE(is_shard_bytes(bytes)) << bytes;
  }
}

}  // namespace
}  // namespace keysieve
