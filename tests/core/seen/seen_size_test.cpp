#include "core/worker/seen/seen_size.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <random>
#include <vector>

#include "core/publisher/seen/seen_sizing.hpp"
#include "core/worker/seen/local_filter.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;

double keys_per_word(double keys, std::uint64_t words) {
  return keys / static_cast<double>(words);
}

constexpr std::array<std::uint64_t, 3> kBlockSizes{4, 8, 16};

TEST(SeenRate, IsThatOfOneTagIfThereIsHardlyAny) {
  EXPECT_NEAR(seen_rate(4, 1e-6), 4e-6 / std::pow(2.0, 60), 1e-28);
  EXPECT_NEAR(rate_of(WordValue().with(1)), std::pow(2.0, -60), 1e-24);
  EXPECT_EQ(rate_of({}), 0);
}

TEST(SeenRate, GrowsWithTheKeysUpToOne) {
  for (const std::uint64_t block_words : kBlockSizes) {
    double before = 0;
    for (double load = 0.01; load < 60; load *= 1.1) {
      const double rate = seen_rate(block_words, load);
      EXPECT_GT(rate, before * (1 - 1e-9)) << block_words << " words, " << load << " keys per word";
      EXPECT_LE(rate, 1.0 + 1e-9);
      before = rate;
    }
    EXPECT_GT(before, 0.999);
  }
}

TEST(SeenSize, KeepsTheRateWithTheFewestShards) {
  for (const double rate : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9}) {
    for (const std::uint64_t keys : {1'000U, 12'345U, 1'000'000U, 50'000'000U}) {
      const SeenSize size = seen_size(keys, rate);
      const auto count = static_cast<double>(keys);
      EXPECT_TRUE(size.is_possible());
      EXPECT_LE(seen_rate(size.block_words, keys_per_word(count, size.words)), rate) << keys;
      if (size.words == kWordsPerSeenShard) continue;
      EXPECT_GT(seen_rate(size.block_words, keys_per_word(count, size.words - kWordsPerSeenShard)), rate)
          << keys << " keys at " << rate << " would do with a shard less than " << size.words << " words";
    }
  }
}

TEST(SeenSize, TakesTheBitsPerKeyThatAreDocumented) {
  const auto bits_per_key = [](double rate) {
    return static_cast<double>(seen_size(10'000'000, rate).words * kWordBits) / 10'000'000;
  };
  EXPECT_NEAR(bits_per_key(1e-3), 18.6, 0.1);
  EXPECT_NEAR(bits_per_key(1e-4), 23.9, 0.1);
  EXPECT_NEAR(bits_per_key(1e-5), 30.1, 0.1);
  EXPECT_NEAR(bits_per_key(1e-6), 34.1, 0.1);
  EXPECT_NEAR(bits_per_key(1e-7), 40.9, 0.1);
  EXPECT_NEAR(bits_per_key(1e-9), 52.4, 0.1);
  EXPECT_NEAR(bits_per_key(1e-12), 77.3, 0.1) << "which no block of one line can keep";
  EXPECT_NEAR(bits_per_key(1e-14), 104.9, 0.1);
}

TEST(SeenSize, SaysWhetherItIsPossible) {
  for (const SeenSize size : {SeenSize{0, 4}, SeenSize{1, 4}, SeenSize{255, 4}, SeenSize{256, 0},
                              SeenSize{256, 1}, SeenSize{256, 2}, SeenSize{256, 6}, SeenSize{256, 32},
                              SeenSize{kMaxSeenWords + 256, 4}, SeenSize{~std::uint64_t{255}, 4}})
    EXPECT_FALSE(size.is_possible()) << size.words << " in " << size.block_words;
  for (const SeenSize size : {SeenSize{256, 4}, SeenSize{512, 8}, SeenSize{kMaxSeenWords, 16}})
    EXPECT_TRUE(size.is_possible()) << size.words << " in " << size.block_words;
}

TEST(SeenSize, HasAtLeastAShard) {
  for (const std::uint64_t keys : {0U, 1U, 100U}) EXPECT_EQ(seen_size(keys, 1e-4).words, kWordsPerSeenShard);
}

TEST(SeenSize, RefusesARateThatTagsAreNoGoodFor) {
  for (const double rate : {1e-16, 1e-20, 0.0, -1.0}) {
    EXPECT_THAT(test::message_of<ErrorKind::Usage>([&] { seen_size(1'000, rate); }),
                HasSubstr("needs more than 128 bits per key"))
        << rate;
  }
  EXPECT_THAT(test::message_of<ErrorKind::Usage>([] { seen_size(1'000, 1.5e-16); }),
              HasSubstr("rate of 1.5e-16 per window"));
}

TEST(SeenSize, RefusesMoreKeysThanAFilterMayHold) {
  EXPECT_NO_THROW(seen_size(10'000'000'000, 1e-5));
  for (const std::uint64_t keys : {std::uint64_t{100'000'000'000}, ~std::uint64_t{0}}) {
    EXPECT_THAT(test::message_of<ErrorKind::Usage>([&] { seen_size(keys, 1e-5); }),
                HasSubstr(std::to_string(keys) + " keys"));
  }
}

TEST(SeenFill, IsZeroOfAnEmptyFilterAndOneOfAFullOne) {
  for (const std::uint64_t block_words : kBlockSizes) {
    std::vector<Word> memory(4 * kWordsPerSeenShard);
    const SeenFilter filter(memory, block_words);
    EXPECT_EQ(seen_fill(filter).keys, 0);
    EXPECT_EQ(seen_fill(filter).rate, 0);
    for (Word& word : memory) word.low = word.high = ~std::uint64_t{0};
    EXPECT_DOUBLE_EQ(seen_fill(filter).rate, 1);
    EXPECT_EQ(seen_fill(filter).keys, 31 * 1'024);
  }
}

TEST(LocalFilter, HasTheWordsThatItsRateNeedsAndHardlyMore) {
  EXPECT_LE(seen_rate(kLeastBlockWords, LocalFilter::kKeysPerWord), LocalFilter::kRate);
  EXPECT_GT(seen_rate(kLeastBlockWords, 1.01 * LocalFilter::kKeysPerWord), LocalFilter::kRate);
  for (const std::uint64_t keys : {std::uint64_t{1}, std::uint64_t{100'000}, LocalFilter::kMaxKeys}) {
    const std::uint64_t words = LocalFilter::words_for(keys);
    EXPECT_EQ(words % kWordsPerLine, 0U);
    EXPECT_LE(keys_per_word(static_cast<double>(keys), words), LocalFilter::kKeysPerWord);
    EXPECT_GE(static_cast<double>(keys) / LocalFilter::kKeysPerWord + 2.0 * kWordsPerLine, words);
  }
}

TEST(LocalFilter, HasTheWordsOfASeenSet) {
  std::vector<Word> shared(LocalFilter::words_for(2'000));
  std::vector<Word> alone(shared.size());
  const SeenFilter filter(shared, kLeastBlockWords);
  LocalFilter local(alone);
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const KeyHash hash{random()};
    EXPECT_EQ(local.may_contain(hash), filter.may_contain(hash));
    EXPECT_EQ(local.add_if_new(hash), filter.add_if_new(hash));
  }
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(alone[i].load(), shared[i].load());
}

}  // namespace
}  // namespace keysieve
