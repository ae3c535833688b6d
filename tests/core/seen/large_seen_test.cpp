// Eight processes that make 10 million adds each, half of them of keys that were added before, through 1,000
// windows and with kill -9; and the rates of a window for 10 million keys. Prints figures. It takes a minute
// or more, so ctest leaves it out; `tools/test large` runs it.
#include <cmath>
#include <iostream>

#include "core/publisher/seen/seen_sizing.hpp"
#include "tests/core/seen/many_adds.hpp"
#include "tests/core/seen/measured_rates.hpp"

namespace keysieve {
namespace {

class LargeSeen : public test::SeenSets {
 protected:
  void add_many(std::chrono::microseconds kill_every) const {
    const test::ManyAdds load{.adds_per_worker = 10'000'000,
                              .windows = 1'000,
                              .live_windows = 16,
                              .rate = 1e-6,
                              .kill_every = kill_every};
    SeenWriter writer = this->writer();
    writer.create(kSeed, OnUnavailable::Throw);
    test::ManyAddsRun run(load, directory_.path(), kSet);
    const test::ManyAddsResult result = run.run(writer);
    const auto adds = static_cast<double>(load.workers * load.adds_per_worker);
    std::cout << "many adds: " << adds / 1e6 << " million adds of " << load.workers << " processes in "
              << result.seconds << " s (" << adds / result.seconds / 1e6 << " million a second), "
              << result.windows << " windows of which " << load.live_windows << " are live, " << result.kills
              << " kills\n  " << result.keys << " keys: " << result.was_twice << " were new twice, "
              << result.never_new() << " never ("
              << static_cast<double>(result.never_new()) / static_cast<double>(result.keys) << ", at most "
              << run.rate() << " by plan), " << result.late << " adds came too late to count, "
              << result.unavailable << " found the set unavailable\n  the fullest window: " << result.fullest
              << " of its capacity; rate by the tags of the windows: "
              << load.live_windows * result.rate_of_tags << std::endl;
    EXPECT_EQ(result.was_twice, 0U);
    EXPECT_EQ(result.unavailable, 0U);
    EXPECT_EQ(result.windows, load.windows);
    // Not the rate by plan: on a busy machine a window gets more keys than it has room for before the next
    // one is there.
    const double seen_falsely = load.live_windows * result.rate_of_tags * static_cast<double>(result.keys);
    EXPECT_LE(static_cast<double>(result.never_new()), 1.05 * seen_falsely + 4 * std::sqrt(seen_falsely) +
                                                           static_cast<double>(result.kills + result.late));
  }
};

TEST_F(LargeSeen, IsNewOnce) {
  add_many(std::chrono::microseconds(0));
}

TEST_F(LargeSeen, IsNewAtMostOnceWithKills) {
  add_many(std::chrono::milliseconds(50));
}

TEST_F(LargeSeen, KeepsItsRate) {
  constexpr std::uint64_t kCapacity = 10'000'000;
  for (const double rate : {1e-3, 1e-4, 1e-5}) {
    SeenWriter writer = this->writer();
    writer.create(kSeed, OnUnavailable::Throw);
    SeenReader reader = this->reader();
    const auto absent = static_cast<std::uint64_t>(std::max(2e7, 500 / rate));
    for (const test::MeasuredRate& at : test::measure_rates(writer, reader, kCapacity, rate, absent)) {
      std::cout << "rate " << rate << ", " << at.fill * 100 << " % of " << kCapacity << " keys in "
                << at.filters << " filters: measured " << at.measured << ", theory " << at.theory
                << ", by the tags " << at.tags << " (measured / theory " << at.measured / at.theory
                << ", its deviation " << at.sigma / at.theory << "), keys by the tags " << at.keys
                << std::endl;
      EXPECT_LE(at.measured, 1.05 * at.theory + 4 * at.sigma);
      EXPECT_LE(at.theory, rate);
    }
    writer.create(kSeed, OnUnavailable::Throw);  // frees the memory
  }
}

// One filter with all its keys. A rate of 1e-9 is too rare to measure, so only the tags tell it.
TEST(LargeSeenFilter, KeepsItsRate) {
  constexpr std::uint64_t kKeys = 1'000'000;
  for (const double rate : {1e-9, 1e-6, 1e-4}) {
    const std::uint64_t absent_keys = rate < 1e-6 ? 1'000'000 : 500'000'000;
    const SeenSize size = seen_size(kKeys, rate);
    std::vector<Word> words(size.words);
    const SeenFilter filter(words, size.block_words);
    for (std::uint64_t key = 0; key < kKeys; ++key)
      static_cast<void>(filter.add_if_new(test::numbered_hash(key)));
    std::uint64_t seen = 0;
    for (std::uint64_t key = kKeys; key < kKeys + absent_keys; ++key)
      seen += filter.may_contain(test::numbered_hash(key)) ? 1U : 0U;
    const double measured = static_cast<double>(seen) / static_cast<double>(absent_keys);
    const double by_tags = seen_fill(filter, size.words / kWordsPerSeenShard).rate;
    std::cout << "rate " << rate << ": " << kWordBits * static_cast<double>(size.words) / kKeys
              << " bits per key in blocks of " << size.block_words << " words, measured " << measured << " ("
              << seen << " of " << absent_keys << "), by the tags " << by_tags << std::endl;
    EXPECT_LE(by_tags, 1.05 * rate);
    EXPECT_LE(measured, 1.05 * rate + 4 * std::sqrt(rate / static_cast<double>(absent_keys)));
  }
}

}  // namespace
}  // namespace keysieve
