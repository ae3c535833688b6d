// Measured against theoretical rate and estimated number of keys, with two million absent keys.
//
// Bounds. Q absent keys measure a rate p with the binomial's standard deviation sigma = sqrt(p (1 - p) / Q).
//   measured <= 1.05 * theoretical + 4 sigma
//   measured <= 1.05 * theoretical               where sigma is below 1.5 % of p: at the capacity and beyond
//   |estimated - number| <= 1 % of the number
#include <cmath>
#include <vector>

#include "core/publisher/seen/seen_sizing.hpp"
#include "tests/core/seen/seen_sets.hpp"

namespace keysieve {
namespace {

constexpr std::uint64_t kCapacity = 1'000'000;
constexpr std::uint64_t kAbsentKeys = 2'000'000;
constexpr std::array kFills{0.5, 1.0, 1.5};  // shares of the capacity

class SeenStatistics : public test::SeenSets, public ::testing::WithParamInterface<double> {
 protected:
  static std::uint64_t keys_at(double fill) {
    return static_cast<std::uint64_t>(fill * static_cast<double>(kCapacity));
  }
  static double rate_for(const SeenFilter& filter, double keys) {
    return seen_rate(filter.block_words(), keys / static_cast<double>(filter.words().size()));
  }
  // `was_seen` says that of absent keys.
  template <typename WasSeen>
  static void expect_as_in_theory(double theory, double least, double fill, WasSeen was_seen) {
    std::uint64_t seen = 0;
    for (std::uint64_t i = 0; i < kAbsentKeys; ++i)
      seen += was_seen(test::numbered_hash((std::uint64_t{1} << 60) + i)) ? 1U : 0U;
    const auto asked = static_cast<double>(kAbsentKeys);
    const double measured = static_cast<double>(seen) / asked;
    const double sigma = std::sqrt(theory * (1 - theory) / asked);
    EXPECT_LE(measured, 1.05 * theory + (sigma < 0.015 * theory ? 0 : 4 * sigma));
    EXPECT_GE(measured, least * theory - 4 * sigma);
    RecordProperty("measured_to_theoretical_at_" + std::to_string(static_cast<int>(fill * 100)),
                   std::to_string(measured / theory));
  }
};

TEST_P(SeenStatistics, AgreeWithTheory) {
  const double rate = GetParam();
  SeenWriter writer = this->writer();
  writer.create(kSeed, OnUnavailable::Throw);
  writer.append({.window = {.begins = 1, .ends = 2, .kept_for = 1},
                 .growth = 0,
                 .capacity = kCapacity,
                 .rate = rate / 2,
                 .size = seen_size(kCapacity, rate / 2)},
                0);
  SeenReader reader = this->reader();
  std::uint64_t added = 0;
  for (const double fill : kFills) {
    SCOPED_TRACE("at " + std::to_string(fill * 100) + " % of the capacity");
    if (fill > 1) writer.append(grown(writer.filters().back().plan), 0);
    for (; added < keys_at(fill); ++added)
      static_cast<void>(test::is_new(reader, test::numbered_hash(added)));
    double absent_from_all = 1;
    double surely_absent = 1;
    double estimated = 0;
    std::uint64_t left = added;
    for (const OpenFilter& one : writer.filters()) {
      const std::uint64_t keys_of_filter = std::min(kCapacity, left);
      left -= keys_of_filter;
      absent_from_all *= 1 - rate_for(one.filter, static_cast<double>(keys_of_filter));
      const SeenFill fill_now = seen_fill(one.filter);
      surely_absent *= 1 - fill_now.rate;
      estimated += fill_now.keys;
    }
    const double theory = 1 - absent_from_all;
    expect_as_in_theory(theory, 0.95, fill, [&](KeyHash hash) { return test::was_seen(reader, hash); });
    EXPECT_LE(theory, rate);
    EXPECT_NEAR(estimated, static_cast<double>(added), 0.01 * static_cast<double>(added));
    // From 256 shards. At half of the capacity it is that of blocks of which there are a few.
    EXPECT_NEAR(1 - surely_absent, theory, (fill < 1 ? 0.5 : 0.2) * theory);
  }
}

// A filter that gets no second one: what it has beyond its capacity makes it wrong more often, as theory
// says. Theory takes no two tags of a block for equal: it is on the safe side, for 1e-2 by 16 % at last.
TEST_P(SeenStatistics, AgreeWithTheoryBeyondTheCapacityOfAFilter) {
  const SeenSize size = seen_size(kCapacity, GetParam());
  std::vector<Word> words(size.words);
  const SeenFilter filter(words, size.block_words);
  std::uint64_t asked = 0;
  double added = 0;
  for (const double fill : kFills) {
    SCOPED_TRACE("at " + std::to_string(fill * 100) + " % of the capacity");
    for (; asked < keys_at(fill); ++asked) added += filter.add_if_new(test::numbered_hash(asked)) ? 1 : 0;
    const double theory = rate_for(filter, added);
    expect_as_in_theory(theory, 0.8, fill, [&](KeyHash hash) { return filter.may_contain(hash); });
    if (fill <= 1) {
      EXPECT_LE(theory, 1.0001 * GetParam());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rates, SeenStatistics, ::testing::Values(1e-2, 1e-3, 1e-4, 1e-5));

}  // namespace
}  // namespace keysieve
