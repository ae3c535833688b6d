// Batches of keys, which a worker adds to a seen set in one call.
#include <array>

#include "core/publisher/seen/new_segment.hpp"
#include "tests/core/seen/seen_sets.hpp"

namespace keysieve {
namespace {

using test::append;
using test::is_new;
using test::numbered_hash;
using ::testing::ElementsAre;

class SeenBatch : public test::SeenSets {
 protected:
  static std::vector<KeyHash> hashes(std::uint64_t first, std::uint64_t count) {
    std::vector<KeyHash> all;
    for (std::uint64_t i = 0; i < count; ++i) all.push_back(numbered_hash(first + i));
    return all;
  }
};

TEST_F(SeenBatch, AnswersAsForEachKey) {
  const SeenWriter writer = started_writer();
  SeenReader reader = this->reader();
  EXPECT_TRUE(is_new(reader, numbered_hash(2)));
  const std::vector<KeyHash> keys{numbered_hash(1), numbered_hash(2), numbered_hash(1), numbered_hash(3),
                                  numbered_hash(3)};
  std::array<bool, 5> are_new{};
  EXPECT_TRUE(reader.follow());
  EXPECT_EQ(reader.add_many_if_new(keys, are_new.data()), keys.size());
  EXPECT_THAT(are_new, ElementsAre(true, false, false, true, false));
  EXPECT_EQ(reader.add_many_if_new(keys, are_new.data()), keys.size());
  EXPECT_THAT(are_new, ElementsAre(false, false, false, false, false));
  EXPECT_EQ(reader.add_many_if_new({}, nullptr), 0U);
}

TEST_F(SeenBatch, OfAnySizeIsAnsweredWithAnyNumberOfFilters) {
  SeenWriter writer = new_writer();
  SeenPlan large = plan();
  large.size.words *= 64;
  SeenReader reader = this->reader();
  std::uint64_t first = 0;
  for (const std::size_t filters : {1U, 2U, 255U, 257U, 512U}) {
    while (writer.filters().size() < filters)
      append(writer, {writer.filters().size() + 1 == filters ? large : plan()});
    for (const std::uint64_t keys : {1U, 255U, 256U, 257U, 600U}) {
      const std::vector<KeyHash> batch = hashes(first, keys);
      const auto are_new = std::make_unique<bool[]>(keys);
      ASSERT_TRUE(reader.follow());
      EXPECT_EQ(reader.add_many_if_new(batch, are_new.get()), keys);
      EXPECT_EQ(std::count(&are_new[0], &are_new[0] + keys, true), static_cast<std::ptrdiff_t>(keys));
      first += keys;
    }
  }
}

TEST_F(SeenBatch, FollowsAFilterThatIsAppendedMeanwhile) {
  SeenWriter writer = started_writer();
  SeenReader reader = this->reader();
  EXPECT_TRUE(reader.follow());
  append(writer, {plan()});
  std::array<bool, 20> are_new{};
  EXPECT_EQ(reader.add_many_if_new(hashes(0, 20), are_new.data()), 20U);
  EXPECT_EQ(std::count(are_new.begin(), are_new.end(), true), 20);
  SeenReader later = this->reader();
  EXPECT_TRUE(later.follow());
  EXPECT_EQ(later.add_many_if_new(hashes(0, 20), are_new.data()), 20U);
  EXPECT_EQ(std::count(are_new.begin(), are_new.end(), true), 0);
}

TEST_F(SeenBatch, EndsWhereTheSetBecomesUnavailable) {
  SeenWriter writer = started_writer();
  SeenReader reader = this->reader();
  for (std::uint64_t key = 0; key < 5; ++key) EXPECT_TRUE(is_new(reader, numbered_hash(key)));
  append(writer, {plan()});
  remove_segment(writer.filters()[1].segment.key());
  std::array<bool, 10> are_new{};
  EXPECT_EQ(reader.add_many_if_new(hashes(0, 10), are_new.data()), 5U)
      << "those that were seen; the next one needs the newer filter";
  EXPECT_THAT(are_new, ::testing::Each(false));
  EXPECT_FALSE(reader.is_ready());
}

}  // namespace
}  // namespace keysieve
