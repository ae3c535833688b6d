// One filter of a seen set: words in memory that all workers of a host write to. The key's hash chooses a
// block of words, one to four cache lines, and the key's tag is in any of them. A new tag goes into the word
// of the block that has the fewest. Shards of 256 words are the unit in which fills are sampled.
//
// One call at most finds a key new. Words only ever get more tags, so which word of a block has the fewest
// (of several the first) only ever moves on. Example: calls A and B add the same key.
// - A puts its tag into word 2.
// - If B reads word 2 after that, it finds the tag.
// - If B has read it before and chooses word 2 as well, its compare-and-set fails, and it looks again.
// - If B has read it before and chooses word 1, B has read that when it had fewer tags than A found there.
//   So word 1 has changed since, and B's compare-and-set fails too, unless B put its tag there before A read
//   it. But then A would have found it.
#pragma once

#include <span>

#include "core/worker/seen/word.hpp"

namespace keysieve {

inline constexpr std::uint64_t kWordsPerSeenShard = kPageBytes / sizeof(Word);
inline constexpr std::uint64_t kWordsPerLine = kCacheLineBytes / sizeof(Word);

// 64 GiB.
inline constexpr std::uint64_t kMaxSeenWords = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kLeastBlockWords = kWordsPerLine;
inline constexpr std::uint64_t kMostBlockWords = 4 * kWordsPerLine;

inline std::uint64_t tag_of(KeyHash hash) noexcept {
  return low_bits(remix(hash), kMostTagBits);
}

class SeenFilter {
 public:
  SeenFilter() = default;
  // `block_words`: kLeastBlockWords, kMostBlockWords, or the power of two between; divides words.size().
  SeenFilter(std::span<Word> words, std::uint64_t block_words) noexcept
      : words_(words), block_words_(block_words), blocks_(words.size() / block_words) {}

  [[nodiscard]] std::uint64_t block_words() const noexcept { return block_words_; }
  [[nodiscard]] std::uint64_t blocks() const noexcept { return blocks_; }
  [[nodiscard]] std::span<Word> words() const noexcept { return words_; }
  [[nodiscard]] std::span<Word> block(std::uint64_t number) const noexcept {
    return words_.subspan(number * block_words_, block_words_);
  }

  // Inlined, since gcc removes calls of a function that does nothing but prefetch.
  [[gnu::always_inline]] void prefetch(KeyHash hash) const noexcept {
    const std::span<Word> words = block_of(hash);
    for (std::uint64_t i = 0; i < block_words_; i += kWordsPerLine) __builtin_prefetch(&words[i], 1);
  }

  // False: certainly not added. One cache line in the best case, all of the block's in the worst.
  [[nodiscard]] bool may_contain(KeyHash hash) const noexcept {
    const std::uint64_t tag = tag_of(hash);
    for (const Word& word : block_of(hash)) {
      if (word.load().has(tag)) return true;
    }
    return false;
  }

  // Adds the key. True for one caller at most. False too if its block cannot take one more tag, or if a
  // hostile worker changes it all the time.
  [[nodiscard]] bool add_if_new(KeyHash hash) const noexcept {
    return add_by(hash, [](Word& word, const WordValue& before, const WordValue& after) noexcept {
      return word.compare_and_set(before, after);
    });
  }
  // Adds to words that no other thread sees, without an atomic operation.
  [[nodiscard]] bool add_alone(KeyHash hash) const noexcept {
    return add_by(hash, [](Word& word, const WordValue& /*before*/, const WordValue& after) noexcept {
      word.store_alone(after);
      return true;
    });
  }

 private:
  template <typename Put>
  [[gnu::always_inline]] bool add_by(KeyHash hash, Put put) const noexcept {
    const std::span<Word> words = block_of(hash);
    const std::uint64_t tag = tag_of(hash);
    // Each failure means that one of the words has a tag more, as long as workers are honest.
    for (std::uint64_t failures = 0; failures <= block_words_ * kMostTags; ++failures) {
      Word* emptiest = nullptr;
      WordValue before;
      for (Word& word : words) {
        const WordValue value = word.load();
        if (value.has(tag)) return false;
        if (emptiest != nullptr && value.tags() >= before.tags()) continue;
        emptiest = &word;
        before = value;
      }
      if (before.tags() == kMostTags) return false;
      if (put(*emptiest, before, before.with(tag))) [[likely]]
        return true;
    }
    return false;
  }

  [[nodiscard]] std::span<Word> block_of(KeyHash hash) const noexcept {
    return block(shard_of(hash, blocks()));
  }

  std::span<Word> words_;
  std::uint64_t block_words_ = kLeastBlockWords;
  std::uint64_t blocks_ = 0;  // kept, since a division takes longer than a lookup
};

}  // namespace keysieve
