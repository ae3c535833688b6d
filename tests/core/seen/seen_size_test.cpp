#include "core/seen/seen_size.hpp"

#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;

double keys_per_word(double keys, std::uint64_t words) {
  return keys / static_cast<double>(words);
}

// With the number of bits per key that is best for so many keys.
double lowest_rate(double keys_in_a_word) {
  double lowest = 1;
  for (unsigned bits = 1; bits <= kMaxKeyBits; ++bits) {
    lowest = std::min(lowest, seen_rate(bits, keys_in_a_word));
  }
  return lowest;
}

// Keys per word of 128 bits that make so many bits per key.
double keys_for_bits(double bits_per_key) {
  return kWordBits / bits_per_key;
}

std::vector<Word> words_with(unsigned key_bits, std::uint64_t words, std::uint64_t keys) {
  std::vector<Word> memory(words);
  const SeenFilter filter(memory, key_bits);
  std::mt19937_64 random(keys);
  for (std::uint64_t i = 0; i < keys; ++i) static_cast<void>(filter.add_if_new({random()}));
  return memory;
}

// A word with b bits contains an absent key with chance (b / 128)^key_bits. Their mean over 16,384 words is
// known to its standard deviation, as the words tell it; accepted within 4 of them.
TEST(SeenRate, AgreesWithASimulation) {
  constexpr std::uint64_t kWords = 16'384;
  for (const unsigned key_bits : {1U, 4U, 9U, 10U, 13U, 18U}) {
    for (const double load : {4.0, 6.0, 10.0}) {
      const auto memory =
          words_with(key_bits, kWords, static_cast<std::uint64_t>(load * static_cast<double>(kWords)));
      double sum = 0;
      double squares = 0;
      for (const Word& word : memory) {
        const double rate =
            std::pow((std::popcount(word.low.load()) + std::popcount(word.high.load())) / 128.0, key_bits);
        sum += rate;
        squares += rate * rate;
      }
      const double mean = sum / kWords;
      const double sigma = std::sqrt((squares / kWords - mean * mean) / kWords);
      EXPECT_NEAR(mean, seen_rate(key_bits, load), 4 * sigma)
          << key_bits << " bits, " << load << " keys per word";
      EXPECT_LT(sigma, 0.1 * mean) << "such a simulation shows nothing";
    }
  }
}

TEST(SeenRate, IsThatOfTheTable) {
  EXPECT_NEAR(lowest_rate(keys_for_bits(32)), 8.5e-5, 0.05e-5);
  EXPECT_NEAR(lowest_rate(keys_for_bits(50)), 9.1e-6, 0.05e-6);
  EXPECT_NEAR(seen_rate(1, 1e-6), 1e-6 / 128, 1e-14) << "one key in a million words, with a bit each";
}

TEST(SeenRate, GrowsWithTheKeysUpToOne) {
  for (const unsigned key_bits : {1U, 4U, 10U, 18U}) {
    double before = 0;
    for (double load = 0.01; load < 300; load *= 1.1) {
      const double rate = seen_rate(key_bits, load);
      EXPECT_GT(rate, before) << key_bits << " bits, " << load << " keys per word";
      EXPECT_LE(rate, 1.0 + 1e-9);
      before = rate;
    }
    EXPECT_GT(before, 0.85);
  }
}

// Fewer bits say too little of a key, more fill the words.
TEST(SeenRate, HasOneBestNumberOfBits) {
  for (const double load : {0.5, 1.0, 2.5, 4.0, 8.0}) {
    unsigned falls = 0;
    unsigned rises = 0;
    for (unsigned bits = 2; bits <= kMaxKeyBits; ++bits) {
      const bool is_lower = seen_rate(bits, load) < seen_rate(bits - 1, load);
      EXPECT_FALSE(is_lower && rises > 0) << load << " keys per word, " << bits << " bits";
      ++(is_lower ? falls : rises);
    }
    EXPECT_GT(falls, 3U);
  }
}

TEST(SeenSize, KeepsTheRateWithTheFewestShards) {
  for (const double rate : {1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8}) {
    for (const std::uint64_t keys : {1'000U, 12'345U, 1'000'000U, 50'000'000U}) {
      const SeenSize size = seen_size(keys, rate);
      const auto count = static_cast<double>(keys);
      EXPECT_EQ(size.words % kWordsPerSeenShard, 0U);
      EXPECT_LE(seen_rate(size.key_bits, keys_per_word(count, size.words)), rate) << keys;
      if (size.words == kWordsPerSeenShard) continue;
      EXPECT_GT(lowest_rate(keys_per_word(count, size.words - kWordsPerSeenShard)), rate)
          << keys << " keys at " << rate << " would do with a shard less than " << size.words << " words";
    }
  }
}

TEST(SeenSize, GrowsWithKeysAndWithALowerRate) {
  std::uint64_t before = 0;
  for (std::uint64_t keys = 1; keys < 1'000'000'000; keys = keys * 3 / 2 + 1) {
    const std::uint64_t words = seen_size(keys, 1e-5).words;
    EXPECT_GE(words, before) << keys;
    before = words;
  }
  before = 0;
  for (double rate = 0.1; rate > 1e-8; rate *= 0.7) {
    const std::uint64_t words = seen_size(1'000'000, rate).words;
    EXPECT_GE(words, before) << rate;
    before = words;
  }
}

TEST(SeenSize, TakesTheBitsPerKeyThatAreDocumented) {
  const auto bits_per_key = [](double rate) {
    return static_cast<double>(seen_size(10'000'000, rate).words * kWordBits) / 10'000'000;
  };
  EXPECT_NEAR(bits_per_key(8.5e-5), 32, 0.2);
  EXPECT_NEAR(bits_per_key(9.1e-6), 50, 0.2);
  EXPECT_NEAR(bits_per_key(1e-8), 196, 0.5);
}

TEST(SeenSize, HasAtLeastAShard) {
  for (const std::uint64_t keys : {0U, 1U, 100U}) EXPECT_EQ(seen_size(keys, 1e-4).words, kWordsPerSeenShard);
}

TEST(SeenSize, RefusesARateThatWordsAreNoGoodFor) {
  for (const double rate : {1e-9, 1e-12, 0.0, -1.0}) {
    EXPECT_THAT([&] { seen_size(1'000, rate); },
                test::fails(ErrorKind::Usage, HasSubstr("needs more than 256 bits per key")))
        << rate;
  }
  EXPECT_THAT([] { seen_size(1'000, 1.5e-9); },
              test::fails(ErrorKind::Usage, HasSubstr("rate of 1.5e-09 per window")));
}

TEST(SeenSize, RefusesMoreKeysThanAFilterMayHold) {
  EXPECT_NO_THROW(seen_size(10'000'000'000, 1e-5));
  for (const std::uint64_t keys : {std::uint64_t{100'000'000'000}, ~std::uint64_t{0}}) {
    EXPECT_THAT([&] { seen_size(keys, 1e-5); },
                test::fails(ErrorKind::Usage, HasSubstr(std::to_string(keys) + " keys")));
  }
}

TEST(SeenFill, IsZeroOfAnEmptyFilterAndOneOfAFullOne) {
  std::vector<Word> memory(4 * kWordsPerSeenShard);
  const SeenFilter filter(memory, 10);
  EXPECT_EQ(seen_fill(filter).keys, 0);
  EXPECT_EQ(seen_fill(filter).rate, 0);
  for (Word& word : memory) word.low = word.high = ~std::uint64_t{0};
  EXPECT_DOUBLE_EQ(seen_fill(filter).rate, 1);
  EXPECT_GT(seen_fill(filter).keys, 10'000) << "more than anyone would add";
  EXPECT_TRUE(std::isfinite(seen_fill(filter).keys));
}

// The bits are those of all keys, so what the estimate is wrong by is chance: 0.3 % with 256 shards; accepted
// within 1 %, which is 3 standard deviations and the case's own.
TEST(SeenFill, EstimatesTheKeysFromSomeShards) {
  const SeenSize size = seen_size(1'000'000, 1e-5);
  std::vector<Word> memory(size.words);
  const SeenFilter filter(memory, size.key_bits);
  std::mt19937_64 random(1);
  for (const double keys : {250'000.0, 500'000.0, 1'000'000.0, 1'500'000.0}) {
    static double added = 0;
    for (; added < keys; ++added) static_cast<void>(filter.add_if_new({random()}));
    for (const std::uint64_t shards : {std::uint64_t{256}, ~std::uint64_t{0}}) {
      const SeenFill fill = seen_fill(filter, shards);
      EXPECT_NEAR(fill.keys, keys, 0.01 * keys) << shards << " shards";
      const double slack =
          shards == 256 ? 0.2 : 0.05;  // the rate is that of the fullest words, which are few
      EXPECT_NEAR(fill.rate, seen_rate(size.key_bits, keys_per_word(keys, size.words)), slack * fill.rate);
    }
  }
}

}  // namespace
}  // namespace keysieve
