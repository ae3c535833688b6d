// One filter of a seen set: words in memory that all workers of a host write to. Shards of 256 words are the
// unit in which it is saved; the key's hash chooses shard and word in one step, as everywhere.
#pragma once

#include <span>

#include "core/seen/word.hpp"

namespace keysieve {

inline constexpr std::uint64_t kWordsPerSeenShard = kPageBytes / sizeof(Word);

// 64 GiB.
inline constexpr std::uint64_t kMaxSeenWords = std::uint64_t{1} << 32;

class SeenFilter {
 public:
  SeenFilter() = default;
  // `key_bits`: how many bits a key sets, from 1 to kMaxKeyBits.
  SeenFilter(std::span<Word> words, std::uint64_t key_bits) noexcept
      : words_(words), key_bits_(static_cast<unsigned>(key_bits)) {}

  [[nodiscard]] unsigned key_bits() const noexcept { return key_bits_; }
  [[nodiscard]] std::span<Word> words() const noexcept { return words_; }
  [[nodiscard]] MutableBytes bytes() const noexcept { return std::as_writable_bytes(words_); }

  void prefetch(KeyHash hash) const noexcept { __builtin_prefetch(&word_of(hash), 1); }

  // False: certainly not added.
  [[nodiscard]] bool may_contain(KeyHash hash) const noexcept {
    return may_contain(hash, word_mask(hash, key_bits_));
  }
  // With the mask for key_bits().
  [[nodiscard]] bool may_contain(KeyHash hash, const WordMask& mask) const noexcept {
    return word_of(hash).contains(mask);
  }

  // Adds the key. True for one caller at most: the one that set the first of its bits that was missing.
  [[nodiscard]] bool add_if_new(KeyHash hash) const noexcept {
    return add_if_new(hash, word_mask(hash, key_bits_));
  }
  [[nodiscard]] bool add_if_new(KeyHash hash, const WordMask& mask) const noexcept {
    const WordMask before = word_of(hash).fetch_or(mask);
    return (mask.low & ~before.low) != 0 || (mask.high & ~before.high) != 0;
  }

 private:
  [[nodiscard]] Word& word_of(KeyHash hash) const noexcept { return words_[shard_of(hash, words_.size())]; }

  std::span<Word> words_;
  unsigned key_bits_ = 1;
};

// ORs `bytes` into the words; workers may add keys meanwhile. Requires bytes.size() == words.size_bytes().
inline void add_bits(std::span<Word> words, Bytes bytes) noexcept {
  const std::byte* at = bytes.data();
  for (Word& word : words) {
    const auto mask = load<WordMask>(at);
    if (!word.contains(mask)) word.fetch_or(mask);
    at += sizeof mask;
  }
}

}  // namespace keysieve
