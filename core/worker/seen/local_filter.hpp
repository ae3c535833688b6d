// A filter for one thread alone, in its private memory: which keys were there before? Its blocks are cache
// lines of the words of a seen set.
#pragma once

#include "core/worker/seen/seen_filter.hpp"

namespace keysieve {

class LocalFilter {
 public:
  static constexpr std::uint64_t kMaxKeys = 10'000'000;
  // The share of new keys that count as seen, as long as it holds no more keys than planned; by
  // seen_rate().
  static constexpr double kRate = 1e-4;
  static constexpr double kKeysPerWord = 5.35;

  static constexpr std::uint64_t words_for(std::uint64_t keys) noexcept {
    const auto words = static_cast<std::uint64_t>(static_cast<double>(keys) / kKeysPerWord) + 1;
    return (words + kWordsPerLine - 1) / kWordsPerLine * kWordsPerLine;
  }

  LocalFilter() = default;
  // `words`: words_for() of them, all zero, aligned to a cache line. The caller keeps them until the end.
  explicit LocalFilter(std::span<Word> words) noexcept : filter_(words, kLeastBlockWords) {}

  // False: certainly not added.
  [[nodiscard]] bool may_contain(KeyHash hash) const noexcept {
    return filter_.may_contain(hash) || is_full_;
  }

  // True: certainly not added before.
  bool add_if_new(KeyHash hash) noexcept {
    if (filter_.add_alone(hash)) [[likely]]
      return !is_full_;
    // Either the key looks seen, or its block has no room for one more tag.
    if (!filter_.may_contain(hash)) is_full_ = true;
    return false;
  }

 private:
  SeenFilter filter_;
  bool is_full_ = false;
};

}  // namespace keysieve
