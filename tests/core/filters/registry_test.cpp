#include <gmock/gmock.h>

#include "core/builder/filters/filter_kind.hpp"
#include "core/worker/base/error.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;

TEST(Registry, DescribesEachKindCompletely) {
  for (const FilterKind& kind : filter_kinds()) {
    EXPECT_FALSE(kind.summary.empty()) << kind.name;
    EXPECT_EQ(kind.build_map != nullptr, kind.can_have_values()) << kind.name;
    const auto counts = kind.hash_counts;
    ASSERT_FALSE(counts.empty()) << kind.name;
    EXPECT_TRUE(std::is_sorted(counts.begin(), counts.end())) << kind.name;
    for (const std::uint8_t count : counts) EXPECT_TRUE(kind.takes_hash_count(count)) << kind.name;
    for (const std::uint8_t count : {std::uint8_t{0}, std::uint8_t{255}})
      EXPECT_FALSE(kind.takes_hash_count(count)) << kind.name;
    for (const std::uint8_t k : kind.hash_counts) {
      EXPECT_GE(kind.cache_lines({.hash_count = k}, 3'000), 1U) << kind.name;
    }
  }
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

}  // namespace
}  // namespace keysieve
