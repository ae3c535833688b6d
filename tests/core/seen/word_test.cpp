#include "core/worker/seen/word.hpp"

#include <gmock/gmock.h>

#include <array>
#include <random>
#include <vector>

#include "core/publisher/seen/seen_tags.hpp"

namespace keysieve {
namespace {

using ::testing::ElementsAre;

// Words that hold 0, 1, … 31 of these tags.
std::vector<WordValue> words_of(const std::vector<std::uint64_t>& tags) {
  std::vector<WordValue> words{{}};
  for (const std::uint64_t tag : tags) words.push_back(words.back().with(tag));
  return words;
}

std::vector<std::uint64_t> random_tags(std::uint64_t seed, std::size_t count = kMostTags) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> tags(count);
  for (std::uint64_t& tag : tags) tag = low_bits(random(), kMostTagBits);
  return tags;
}

WordValue content_of(const Word& word) {
  return {word.low, word.high};
}

TEST(WordValue, HoldsTheLowestBitsOfEachTagInTheOrderInWhichTheyCame) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const std::vector<std::uint64_t> tags = random_tags(seed);
    const std::vector<WordValue> words = words_of(tags);
    for (unsigned count = 0; count <= kMostTags; ++count) {
      ASSERT_EQ(words[count].tags(), count);
      for (unsigned i = 0; i < count; ++i) {
        ASSERT_EQ(words[count].tag(i), low_bits(tags[i], tag_bits(count))) << i << " of " << count;
        ASSERT_TRUE(words[count].has(tags[i])) << i << " of " << count;
      }
    }
  }
}

TEST(WordValue, GivesEachTagAsManyBitsAsThereAre) {
  std::vector<unsigned> bits;
  for (const unsigned tags : {0U, 1U, 3U, 4U, 5U, 6U, 8U, 12U, 20U, 31U}) bits.push_back(tag_bits(tags));
  EXPECT_THAT(bits, ElementsAre(60, 60, 41, 30, 24, 20, 15, 10, 6, 3));
  for (unsigned tags = 1; tags <= kMostTags; ++tags) EXPECT_LE(tags * tag_bits(tags), kWordBits - 5);
}

TEST(WordValue, HasATagOnlyIfOneIsLikeItInAllBitsThatAreLeft) {
  std::mt19937_64 random(1);
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<WordValue> words = words_of(random_tags(seed));
    for (unsigned count = 0; count <= kMostTags; ++count) {
      for (int i = 0; i < 40; ++i) {
        std::uint64_t asked = random();
        // One that differs in a bit of the word's tags, or in one that it has given up.
        if (count != 0 && i < 20)
          asked = words[count].tag(static_cast<unsigned>(random() % count)) ^ std::uint64_t{1}
                                                                                  << random() % kMostTagBits;
        bool is_like_one = false;
        for (unsigned tag = 0; tag < count; ++tag)
          is_like_one |= words[count].tag(tag) == low_bits(asked, tag_bits(count));
        ASSERT_EQ(words[count].has(asked), is_like_one) << count << " tags";
      }
    }
  }
}

TEST(WordValue, TellsZeroFromTheBitsBehindItsTags) {
  EXPECT_FALSE(WordValue().has(0));
  const WordValue one = WordValue().with(5);
  EXPECT_FALSE(one.has(0));
  EXPECT_TRUE(one.with(0).has(0));
  EXPECT_TRUE(WordValue().with(0).has(0));
}

// Golden: the segments of a host outlive an update of the loader and the extension.
TEST(WordValue, NeverChanges) {
  const std::vector<WordValue> words =
      words_of({0x123456789a, 0xbcdef01234, 0x56789abcde, 0xf012345678, 0x1122334455});
  EXPECT_EQ(words[1], (WordValue{0x000000123456789a, 0x0800000000000000}));
  EXPECT_EQ(words[3], (WordValue{0xe02468123456789a, 0x1959e26af37979bd}));
  EXPECT_EQ(words[5], (WordValue{0xbcdef0123456789a, 0x283344553456789a}));
  EXPECT_EQ(tag_of({0x0123456789abcdef}), 0xc9f7140509d2614U);
}

TEST(WordValue, HasEachTagIfItIsTheOneThatHasEveryTag) {
  std::mt19937_64 random(3);
  EXPECT_EQ(kEveryTag.tags(), kMostTags);
  for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(kEveryTag.has(random()));
}

TEST(Word, ChangesOnlyIfItHoldsWhatIsExpected) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 1'000; ++i) {
    const WordValue before{random(), random()};
    const WordValue after{random(), random()};
    std::array<Word, 3> words{Word{1, 2}, Word{before.low, before.high}, Word{3, 4}};
    const std::uint64_t bit = std::uint64_t{1} << i % 64;
    EXPECT_FALSE(words[1].compare_and_set({before.low ^ bit, before.high}, after));
    EXPECT_FALSE(words[1].compare_and_set({before.low, before.high ^ bit}, after));
    EXPECT_EQ(words[1].load(), before);
    EXPECT_TRUE(words[1].compare_and_set(before, after));
    EXPECT_EQ(words[1].load(), after);
    EXPECT_EQ(content_of(words[0]), (WordValue{1, 2}));
    EXPECT_EQ(content_of(words[2]), (WordValue{3, 4}));
  }
}

constexpr std::array<std::uint64_t, 3> kBlocksToTry{4, 8, 16};

TEST(SeenFilter, SaysThatAKeyIsNewOnce) {
  for (const std::uint64_t block_words : kBlocksToTry) {
    std::vector<Word> memory(kWordsPerSeenShard);
    const SeenFilter filter(memory, block_words);
    EXPECT_EQ(filter.blocks(), kWordsPerSeenShard / block_words);
    for (std::uint64_t key = 0; key < 500; ++key) {
      const KeyHash hash{remix({key})};
      EXPECT_FALSE(filter.may_contain(hash));
      EXPECT_TRUE(filter.add_if_new(hash));
      EXPECT_TRUE(filter.may_contain(hash));
      EXPECT_FALSE(filter.add_if_new(hash));
    }
  }
}

TEST(SeenFilter, UsesTheFirstAndTheLastWord) {
  for (const std::uint64_t block_words : kBlocksToTry) {
    std::vector<Word> memory(kWordsPerSeenShard);
    const SeenFilter filter(memory, block_words);
    EXPECT_TRUE(filter.add_if_new({0}));
    for (std::uint64_t i = 0; i < block_words; ++i) EXPECT_TRUE(filter.add_if_new({~i}));
    unsigned tags = 0;
    for (const Word& word : memory) tags += word.load().tags();
    EXPECT_EQ(tags, 1 + block_words);
    EXPECT_EQ(memory.front().load().tags(), 1U);
    for (std::uint64_t i = 0; i < block_words; ++i)
      EXPECT_EQ(memory[memory.size() - 1 - i].load().tags(), 1U) << "each into the emptiest";
  }
}

TEST(SeenFilter, CallsEachKeySeenWhoseBlockIsFull) {
  for (const std::uint64_t block_words : kBlocksToTry) {
    std::vector<Word> memory(2 * block_words);
    const SeenFilter filter(memory, block_words);
    const WordValue full = words_of(std::vector<std::uint64_t>(kMostTags, 5)).back();
    for (Word& word : filter.block(0)) EXPECT_TRUE(word.compare_and_set({}, full));
    std::mt19937_64 random(1);
    int contained = 0;
    for (int i = 0; i < 1'000; ++i) {
      const KeyHash hash{random() >> 1};
      EXPECT_FALSE(filter.add_if_new(hash));
      contained += filter.may_contain(hash) ? 1 : 0;
    }
    EXPECT_LT(contained, 200) << "an eighth has these three bits";
    for (const Word& word : filter.block(0)) EXPECT_EQ(word.load(), full);
    EXPECT_TRUE(filter.add_if_new({~std::uint64_t{0}})) << "the other block has room";
  }
}

class SeenTags : public ::testing::Test {
 protected:
  struct Memory {
    std::vector<Word> words = std::vector<Word>(kWordsPerSeenShard);
    std::vector<std::uint8_t> sent = std::vector<std::uint8_t>(kWordsPerSeenShard);
    SeenFilter filter{words, kLeastBlockWords};

    void fill(std::uint64_t first, std::uint64_t keys) const {
      for (std::uint64_t i = first; i < first + keys; ++i) static_cast<void>(filter.add_if_new({remix({i})}));
    }
    double add(const SeenTag& tag) { return add_tags(filter, sent, std::span(&tag, 1)); }
    [[nodiscard]] bool has_all(std::uint64_t first, std::uint64_t keys) const {
      for (std::uint64_t i = first; i < first + keys; ++i) {
        if (!filter.may_contain({remix({i})})) return false;
      }
      return true;
    }
  };
};

// What heal() does: an add of a worker must find all keys, and no more of others than before.
TEST_F(SeenTags, MakeACopyThatContainsTheSame) {
  for (const std::uint64_t keys : {100U, 500U, 1'000U, 1'500U, 3'000U, 7'936U}) {
    const Memory from;
    Memory to;
    from.fill(0, keys);
    copy_tags(from.filter, to.filter, to.sent);
    EXPECT_TRUE(to.has_all(0, keys));
    const SeenFill made = seen_fill(to.filter);
    EXPECT_LE(made.rate, 1.000001 * seen_fill(from.filter).rate) << keys;
    EXPECT_LE(made.keys, seen_fill(from.filter).keys) << keys;
    copy_tags(from.filter, to.filter, to.sent);
    EXPECT_EQ(seen_fill(to.filter).keys, made.keys) << "a second time it has all";
  }
}

// What the store has need not be sent again, and that changes no tag's length.
TEST_F(SeenTags, AreKnownToTheStoreInACopyAsBefore) {
  Memory from;
  from.fill(0, 700);
  for (std::size_t i = 0; i < from.words.size(); ++i)
    from.sent[i] = static_cast<std::uint8_t>(from.words[i].load().tags());
  from.fill(700, 700);
  Memory to;
  copy_tags(from.filter, to.filter, to.sent, from.sent);
  EXPECT_EQ(to.sent, from.sent);
  for (std::size_t i = 0; i < from.words.size(); ++i) EXPECT_EQ(to.words[i].load(), from.words[i].load());
  Memory begun;
  begun.fill(5'000, 20);  // by workers, while the copy is made
  copy_tags(from.filter, begun.filter, begun.sent, from.sent);
  EXPECT_TRUE(begun.has_all(0, 1'400) && begun.has_all(5'000, 20));
  EXPECT_LT(seen_fill(begun.filter).keys, 1'550);
}

// What the loader does with those of another host: as if both had added to one.
TEST_F(SeenTags, MakeAUnionThatContainsLittleMore) {
  const Memory from;
  Memory to;
  const Memory both;
  from.fill(0, 500);
  to.fill(10'000, 500);
  both.fill(0, 500);
  both.fill(10'000, 500);
  copy_tags(from.filter, to.filter, to.sent);
  EXPECT_TRUE(to.has_all(0, 500));
  EXPECT_TRUE(to.has_all(10'000, 500));
  EXPECT_NEAR(seen_fill(to.filter).keys, 1'000, 50);
  EXPECT_LT(seen_fill(to.filter).rate, 4 * seen_fill(both.filter).rate);
}

TEST_F(SeenTags, OfWhichFewBitsAreKnownMakeTheOthersAsShort) {
  for (unsigned bits = tag_bits(kMostTags); bits <= kMostTagBits; ++bits) {
    Memory memory;
    const KeyHash key{remix({bits})};
    const std::uint64_t block = shard_of(key, memory.filter.blocks());
    EXPECT_TRUE(memory.filter.add_if_new({key.word ^ 1}));
    const SeenTag tag{block, low_bits(tag_of(key), bits), bits};
    EXPECT_GT(memory.add(tag), 0);
    EXPECT_TRUE(memory.filter.may_contain(key)) << bits;
    EXPECT_TRUE(memory.filter.may_contain({key.word ^ 1}));
    EXPECT_EQ(memory.add(tag), 0) << "it is there";
  }
}

TEST_F(SeenTags, AreVisitedFromAGivenOneOn) {
  const Memory memory;
  memory.fill(0, 1'000);
  for (const unsigned first : {0U, 2U, 3U, 40U}) {
    const WordValue value = memory.words[9].load();
    std::vector<SeenTag> visited;
    for_each_tag(memory.filter, 9, value, first, [&](const SeenTag& tag) { visited.push_back(tag); });
    ASSERT_EQ(visited.size(), first > value.tags() ? 0 : value.tags() - first);
    for (unsigned i = 0; i < visited.size(); ++i)
      EXPECT_EQ(visited[i], (SeenTag{2, value.tag(first + i), tag_bits(value.tags())}));
  }
}

// A tag that the store has is sent again only if one before it must be sent.
TEST_F(SeenTags, AreKnownToTheStoreIfAllBeforeThemAre) {
  Memory memory;
  EXPECT_GT(memory.add({0, 7}), 0);
  EXPECT_EQ(memory.sent[0], 1);
  EXPECT_TRUE(memory.filter.add_if_new({0}));  // into the second word
  for (std::uint64_t tag = 1; tag <= 4; ++tag) EXPECT_GT(memory.add({0, tag << 8}), 0);
  EXPECT_EQ(memory.words[1].load().tags(), 2U);
  EXPECT_EQ(memory.sent[1], 0);
  EXPECT_EQ(memory.sent[0], 2);
  EXPECT_EQ(memory.sent[2], 1);
}

TEST_F(SeenTags, FindNoRoomInAFullBlock) {
  Memory memory;
  const WordValue full = words_of(std::vector<std::uint64_t>(kMostTags, 5)).back();
  for (Word& word : memory.filter.block(7)) EXPECT_TRUE(word.compare_and_set({}, full));
  for (const unsigned bits : {3U, 10U, 40U}) EXPECT_EQ(memory.add({7, 1, bits}), 0);
  EXPECT_GT(memory.add({8, 1, 3}), 0);
  EXPECT_EQ(memory.filter.block(8)[0].load().tags(), kMostTags);
}

}  // namespace
}  // namespace keysieve
