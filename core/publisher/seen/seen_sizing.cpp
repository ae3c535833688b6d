#include "core/publisher/seen/seen_sizing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>

#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

constexpr double kFewestKeysPerWord = kWordBits / kMaxBitsPerSeenKey;
constexpr double kMostKeysPerWord = kMostTags;
constexpr double kMostBlockKeys = 700;  // more than any block holds, and exp(-mean) is no denormal number yet
constexpr double kLeastSaving = 0.08;   // of the memory, by blocks of twice the size

double rate_of_tags(std::uint64_t tags) {
  if (tags > kMostTags) return 1;  // such a key counts as seen
  return rate_of({0, tags << (64 - kTagCountBits)});
}

// The rate of a block in which so many keys lie.
double rate_of_block(std::uint64_t block_words, std::uint64_t keys) {
  const std::uint64_t fewest = keys / block_words;
  const std::uint64_t fuller = keys % block_words;
  const double rate = static_cast<double>(block_words - fuller) * rate_of_tags(fewest) +
                      static_cast<double>(fuller) * rate_of_tags(fewest + 1);
  return std::min(rate, 1.0);
}

// The most keys per word, on average, that keep the rate; 0 if there is no such number.
double most_keys_per_word(std::uint64_t block_words, double rate) {
  double low = kFewestKeysPerWord;
  double high = kMostKeysPerWord;
  if (seen_rate(block_words, low) > rate) return 0;
  while (high - low > 1e-9 * low) {
    const double middle = (low + high) / 2;
    (seen_rate(block_words, middle) <= rate ? low : high) = middle;
  }
  return low;
}

[[noreturn]] void refuse(double rate) {
  std::array<char, 120> text;
  std::snprintf(text.data(), text.size(),
                "a false-positive rate of %.2g per window needs more than %.0f bits per key", rate,
                kMaxBitsPerSeenKey);
  throw Error(ErrorKind::Usage, text.data());
}

}  // namespace

double seen_rate(std::uint64_t block_words, double keys_per_word) {
  const double mean = keys_per_word * static_cast<double>(block_words);
  if (mean > kMostBlockKeys) return 1;
  // Beyond these many keys a block is too rare to count.
  const auto most = static_cast<std::uint64_t>(mean + 12 * std::sqrt(mean) + 12);
  double chance = std::exp(-mean);
  double rate = 0;
  for (std::uint64_t keys = 0; keys <= most; ++keys) {
    rate += chance * rate_of_block(block_words, keys);
    chance *= mean / static_cast<double>(keys + 1);
  }
  return rate;
}

SeenSize seen_size(std::uint64_t keys, double rate) {
  double best = 0;
  std::uint64_t best_block = 0;
  for (std::uint64_t block = kLeastBlockWords; block <= kMostBlockWords; block *= 2) {
    const double keys_per_word = most_keys_per_word(block, rate);
    if (best != 0 && keys_per_word * (1 - kLeastSaving) <= best) break;
    best = keys_per_word;
    best_block = block;
  }
  if (best == 0) refuse(rate);
  const double words = std::ceil(static_cast<double>(keys) / best);
  if (words > static_cast<double>(kMaxSeenWords - kWordsPerSeenShard))
    throw Error(ErrorKind::Usage, std::to_string(keys) + " keys need a filter of more than 64 GiB");
  const std::uint64_t shards = std::max<std::uint64_t>(
      1, (static_cast<std::uint64_t>(words) + kWordsPerSeenShard - 1) / kWordsPerSeenShard);
  return {shards * kWordsPerSeenShard, best_block};
}

}  // namespace keysieve
