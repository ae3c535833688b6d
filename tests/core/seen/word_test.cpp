#include "core/seen/word.hpp"

#include <gmock/gmock.h>

#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "core/seen/seen_filter.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/shared_page.hpp"

namespace keysieve {
namespace {

using test::start_process;
using test::wait_for;

// Keys of a word have the first bits of their hashes in common.
std::vector<KeyHash> hashes_of_a_word(std::size_t count, std::uint64_t words = 1'000'000) {
  std::vector<KeyHash> hashes;
  std::mt19937_64 random(1);
  const std::uint64_t first = ~std::uint64_t{0} / words * 77;
  std::uniform_int_distribution<std::uint64_t> of_word(first, first + ~std::uint64_t{0} / words);
  for (std::size_t i = 0; i < count; ++i) hashes.push_back({of_word(random)});
  return hashes;
}

int bits_of(const WordMask& mask) {
  return std::popcount(mask.low) + std::popcount(mask.high);
}

WordMask union_of(const WordMask& a, const WordMask& b) {
  return {a.low | b.low, a.high | b.high};
}

WordMask content_of(const Word& word) {
  return {word.low, word.high};
}

bool is_set(const WordMask& mask, unsigned bit) {
  return ((bit < 64 ? mask.low : mask.high) >> (bit % 64) & 1) != 0;
}

TEST(Word, SetsTheBitsOfAMaskAndReturnsThoseThatWereSet) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 1'000; ++i) {
    const WordMask before{random() & random(), random() & random()};
    const WordMask mask{random() & random() & random(), random() & random() & random()};
    std::array<Word, 3> words{Word{1, 2}, Word{before.low, before.high}, Word{3, 4}};
    EXPECT_EQ(words[1].fetch_or(mask), before);
    EXPECT_EQ(content_of(words[1]), union_of(before, mask));
    EXPECT_EQ(content_of(words[0]), (WordMask{1, 2}));
    EXPECT_EQ(content_of(words[2]), (WordMask{3, 4}));
  }
}

TEST(Word, SetsEachSingleBit) {
  for (unsigned bit = 0; bit < kWordBits; ++bit) {
    const std::uint64_t one = std::uint64_t{1} << bit % 64;
    const WordMask mask = bit < 64 ? WordMask{one, 0} : WordMask{0, one};
    Word word{};
    EXPECT_FALSE(word.contains(mask));
    EXPECT_EQ(word.fetch_or(mask), WordMask{});
    EXPECT_TRUE(word.contains(mask));
    EXPECT_EQ(content_of(word), mask);
    EXPECT_EQ(word.fetch_or(mask), mask);
    Word all_others{~mask.low, ~mask.high};
    EXPECT_FALSE(all_others.contains(mask));
    EXPECT_EQ(all_others.fetch_or(mask), (WordMask{~mask.low, ~mask.high}));
    EXPECT_EQ(content_of(all_others), (WordMask{~std::uint64_t{0}, ~std::uint64_t{0}}));
  }
}

TEST(Word, ContainsAMaskWhenAllItsBitsAreSet) {
  std::mt19937_64 random(3);
  int contained = 0;
  for (int i = 0; i < 20'000; ++i) {
    const WordMask bits{random() | random() | random(), random() | random() | random()};
    const WordMask mask = word_mask({random()}, 1 + static_cast<unsigned>(i) % kMaxKeyBits);
    const bool is_contained = union_of(bits, mask) == bits;
    EXPECT_EQ((Word{bits.low, bits.high}.contains(mask)), is_contained);
    contained += is_contained ? 1 : 0;
  }
  EXPECT_GT(contained, 1'000);
  EXPECT_LT(contained, 19'000);
}

TEST(WordMask, HasAtMostAsManyBitsAsAsked) {
  for (unsigned bits = 1; bits <= kMaxKeyBits; ++bits) {
    int most = 0;
    for (const KeyHash hash : hashes_of_a_word(1'000)) {
      const WordMask mask = word_mask(hash, bits);
      EXPECT_GE(bits_of(mask), 1);
      most = std::max(most, bits_of(mask));
      EXPECT_EQ(mask, word_mask(hash, bits));
      EXPECT_EQ(union_of(mask, word_mask(hash, bits - 1)), mask) << "one more position, the others the same";
    }
    EXPECT_EQ(most, static_cast<int>(bits));
  }
}

// Golden: the segments of a host outlive an update of the loader and the extension, and a store holds words
// that others go on with.
TEST(WordMask, NeverChanges) {
  EXPECT_EQ(word_mask({0x0123456789abcdef}, 9), (WordMask{0x0000010000100030, 0x0010000010009000}));
  EXPECT_EQ(word_mask({0x0123456789abcdef}, 18), (WordMask{0x02200100101004b0, 0x0090400010009000}));
  EXPECT_EQ(word_mask({1}, 18), (WordMask{0x0800900984000080, 0x04210004000c01a0}));
}

// A position is where a mask has one more bit than with one position less. Chi-square over 128 bits, for each
// of the positions: mean 127, standard deviation sqrt(2 * 127), accepted within 4 of them (each key is in it
// only if the position is not one of the others, which is as likely for all bits).
TEST(WordMask, SpreadsEachPositionEvenly) {
  const std::vector<KeyHash> hashes = hashes_of_a_word(100'000);
  for (unsigned bits = 1; bits <= kMaxKeyBits; ++bits) {
    std::array<double, kWordBits> counts{};
    double all = 0;
    for (const KeyHash hash : hashes) {
      const WordMask fewer = word_mask(hash, bits - 1);
      const WordMask mask = word_mask(hash, bits);
      for (unsigned bit = 0; bit < kWordBits; ++bit) {
        if (is_set(mask, bit) && !is_set(fewer, bit)) {
          ++counts[bit];
          ++all;
        }
      }
    }
    double chi_square = 0;
    for (const double count : counts) {
      chi_square += (count - all / kWordBits) * (count - all / kWordBits) / (all / kWordBits);
    }
    EXPECT_NEAR(chi_square, kWordBits - 1, 4 * std::sqrt(2.0 * (kWordBits - 1))) << "position " << bits;
  }
}

// Two independent positions coincide with chance 1 / 128: 18 leave 128 * (1 - (127/128)^18) = 16.86 bits on
// average. 100,000 masks give the mean to 0.003 (its standard deviation); accepted within 4 of them.
TEST(WordMask, HasIndependentPositions) {
  const std::vector<KeyHash> hashes = hashes_of_a_word(100'000);
  for (unsigned bits = 1; bits <= kMaxKeyBits; ++bits) {
    double sum = 0;
    double squares = 0;
    for (const KeyHash hash : hashes) {
      const int count = bits_of(word_mask(hash, bits));
      sum += count;
      squares += count * count;
    }
    const auto masks = static_cast<double>(hashes.size());
    const double mean = sum / masks;
    const double sigma = std::sqrt(std::max(squares / masks - mean * mean, 0.0) / masks);
    EXPECT_NEAR(mean, kWordBits * (1 - std::pow(127.0 / 128, bits)), 4 * sigma + 1e-9) << bits;
  }
}

// What all processes set, and what each found missing.
struct SharedWords {
  std::array<Word, 4> words{};
  std::atomic<std::uint64_t> bits_found_missing{0};
  std::atomic<int> started{0};
};

constexpr int kWorkers = 4;

// Sets every bit of the words, in random order and a few at a time. Counts those that it was the first to
// set.
void set_bits(SharedWords& shared, std::uint64_t seed) {
  ++shared.started;
  while (shared.started < kWorkers) std::this_thread::yield();
  std::mt19937_64 random(seed);
  std::vector<unsigned> bits(shared.words.size() * kWordBits);
  std::iota(bits.begin(), bits.end(), 0U);
  std::shuffle(bits.begin(), bits.end(), random);
  std::uint64_t missing = 0;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    Word& word = shared.words[bits[i] / kWordBits];
    WordMask mask{};
    for (const unsigned bit : {bits[i] % kWordBits, static_cast<unsigned>(random() % kWordBits)}) {
      (bit < 64 ? mask.low : mask.high) |= std::uint64_t{1} << bit % 64;
    }
    const WordMask before = word.fetch_or(mask);
    missing += static_cast<std::uint64_t>(bits_of({mask.low & ~before.low, mask.high & ~before.high}));
    EXPECT_TRUE(word.contains(mask));
    if (random() % 16 == 0) std::this_thread::yield();
  }
  shared.bits_found_missing += missing;
}

TEST(WordBesideThreads, LosesNoBitAndGivesEachToOneThread) {
  for (std::uint64_t round = 0; round < 100; ++round) {
    SharedWords shared;
    std::vector<std::thread> threads;
    for (std::uint64_t i = 0; i < kWorkers; ++i) {
      threads.emplace_back([&shared, round, i] { set_bits(shared, round * kWorkers + i); });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(shared.bits_found_missing, shared.words.size() * kWordBits);
  }
}

TEST(WordBesideProcesses, LosesNoBitAndGivesEachToOneProcess) {
  for (std::uint64_t round = 0; round < 10; ++round) {
    const test::SharedPage<SharedWords> shared;
    std::vector<pid_t> processes;
    for (std::uint64_t i = 0; i < kWorkers; ++i) {
      processes.push_back(start_process([&] {
        set_bits(*shared.operator->(), 1'000'000 + round * kWorkers + i);
        return 0;
      }));
    }
    for (const pid_t process : processes) EXPECT_EQ(wait_for(process), 0);
    ASSERT_EQ(shared->bits_found_missing, shared->words.size() * kWordBits);
  }
}

// Each key has bits of its own in the word, one of each half: a carrier of both that is not one operation
// would let two win, or none.
TEST(WordBesideThreads, LetsOneThreadWinEachKey) {
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Word> memory(8);
    const SeenFilter filter(memory, 18);
    std::atomic<int> started{0};
    std::array<std::atomic<int>, 32> wins{};
    std::vector<std::thread> threads;
    for (int i = 0; i < kWorkers; ++i) {
      threads.emplace_back([&] {
        ++started;
        while (started < kWorkers) std::this_thread::yield();
        for (std::uint64_t key = 0; key < wins.size(); ++key) {
          if (filter.add_if_new({(key << 59) + static_cast<std::uint64_t>(round)})) ++wins[key];
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (std::uint64_t key = 0; key < wins.size(); ++key) ASSERT_LE(wins[key], 1) << key;
  }
}

TEST(SeenFilter, SaysThatAKeyIsNewOnce) {
  std::vector<Word> memory(kWordsPerSeenShard);
  for (unsigned bits = 1; bits <= kMaxKeyBits; ++bits) {
    for (Word& word : memory) word.low = word.high = 0;
    const SeenFilter filter(memory, bits);
    EXPECT_EQ(filter.key_bits(), bits);
    EXPECT_EQ(filter.bytes().size(), kPageBytes);
    for (std::uint64_t key = 0; key < 10; ++key) {
      const KeyHash hash{key << 60};
      EXPECT_FALSE(filter.may_contain(hash));
      EXPECT_TRUE(filter.add_if_new(hash));
      EXPECT_TRUE(filter.may_contain(hash));
      EXPECT_FALSE(filter.add_if_new(hash));
    }
  }
}

TEST(SeenFilter, UsesTheFirstAndTheLastWord) {
  std::vector<Word> memory(kWordsPerSeenShard);
  const SeenFilter filter(memory, 4);
  EXPECT_TRUE(filter.add_if_new({0}));
  EXPECT_TRUE(filter.add_if_new({~std::uint64_t{0}}));
  EXPECT_GT(bits_of(content_of(memory.front())), 0);
  EXPECT_GT(bits_of(content_of(memory.back())), 0);
  int used = 0;
  for (const Word& word : memory) used += bits_of(content_of(word)) > 0 ? 1 : 0;
  EXPECT_EQ(used, 2);
}

// What a loader restores, or has received of another host.
TEST(SeenFilter, TakesTheBitsOfAnotherOne) {
  std::vector<Word> here(kWordsPerSeenShard);
  std::vector<Word> there(kWordsPerSeenShard);
  const SeenFilter filter(here, 8);
  const SeenFilter other(there, 8);
  EXPECT_TRUE(filter.add_if_new({1}));
  EXPECT_TRUE(other.add_if_new({std::uint64_t{1} << 63}));
  add_bits(filter.words(), other.bytes());
  EXPECT_TRUE(filter.may_contain({1}));
  EXPECT_TRUE(filter.may_contain({std::uint64_t{1} << 63}));
  EXPECT_FALSE(other.may_contain({1}));
}

}  // namespace
}  // namespace keysieve
