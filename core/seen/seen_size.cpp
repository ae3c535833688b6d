#include "core/seen/seen_size.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "core/base/error.hpp"

namespace keysieve {
namespace {

constexpr unsigned kFewestKeyBits = 4;
constexpr double kFewestKeysPerWord = kWordBits / kMaxBitsPerSeenKey;
constexpr double kMostKeysPerWord = 32;

// Mean of (b / 128)^key_bits after 0, 1, 2, … keys were added to a word.
std::vector<double> rates_by_keys(std::uint64_t key_bits, std::size_t most_keys) {
  std::array<double, kWordBits + 1> chance{1};  // of each number of bits
  std::array<double, kWordBits + 1> rate_with{};
  for (unsigned b = 1; b <= kWordBits; ++b)
    rate_with[b] = std::pow(b / double{kWordBits}, static_cast<double>(key_bits));
  std::vector<double> rates;
  rates.reserve(most_keys + 1);
  for (std::size_t keys = 0; keys <= most_keys; ++keys) {
    rates.push_back(std::inner_product(chance.begin(), chance.end(), rate_with.begin(), 0.0));
    for (std::uint64_t position = 0; position < key_bits; ++position) {
      for (unsigned b = kWordBits; b >= 1; --b) {
        chance[b] = (chance[b] * b + chance[b - 1] * (kWordBits - b + 1)) / kWordBits;
      }
      chance[0] = 0;
    }
  }
  return rates;
}

// Beyond these many keys a word is too rare to count.
std::size_t most_keys_in_a_word(double keys_per_word) {
  return static_cast<std::size_t>(keys_per_word + 12 * std::sqrt(keys_per_word) + 12);
}

double mean_rate(const std::vector<double>& rates, double keys_per_word) {
  double chance = std::exp(-keys_per_word);
  double rate = 0;
  for (std::size_t keys = 0; keys < rates.size(); ++keys) {
    rate += chance * rates[keys];
    chance *= keys_per_word / static_cast<double>(keys + 1);
  }
  return rate;
}

// The most keys per word, on average, that keep the rate; 0 if there is no such number.
double most_keys_per_word(std::uint64_t key_bits, double rate) {
  const std::vector<double> rates = rates_by_keys(key_bits, most_keys_in_a_word(kMostKeysPerWord));
  double low = kFewestKeysPerWord;
  double high = kMostKeysPerWord;
  if (mean_rate(rates, low) > rate) return 0;
  while (high - low > 1e-9 * low) {
    const double middle = (low + high) / 2;
    (mean_rate(rates, middle) <= rate ? low : high) = middle;
  }
  return low;
}

}  // namespace

double seen_rate(std::uint64_t key_bits, double keys_per_word) {
  return mean_rate(rates_by_keys(key_bits, most_keys_in_a_word(keys_per_word)), keys_per_word);
}

SeenSize seen_size(std::uint64_t keys, double rate) {
  double best = 0;
  std::uint64_t best_bits = 0;
  for (std::uint64_t bits = kFewestKeyBits; bits <= kMaxKeyBits; ++bits) {
    const double keys_per_word = most_keys_per_word(bits, rate);
    if (keys_per_word > best) {
      best = keys_per_word;
      best_bits = bits;
    }
  }
  if (best == 0) {
    std::array<char, 120> text;
    std::snprintf(text.data(), text.size(),
                  "a false-positive rate of %.2g per window needs more than %.0f bits per key", rate,
                  kMaxBitsPerSeenKey);
    throw Error(ErrorKind::Usage, text.data());
  }
  const double words = std::ceil(static_cast<double>(keys) / best);
  if (words > static_cast<double>(kMaxSeenWords - kWordsPerSeenShard))
    throw Error(ErrorKind::Usage, std::to_string(keys) + " keys need a filter of more than 64 GiB");
  const std::uint64_t shards = std::max<std::uint64_t>(
      1, (static_cast<std::uint64_t>(words) + kWordsPerSeenShard - 1) / kWordsPerSeenShard);
  return {shards * kWordsPerSeenShard, best_bits};
}

SeenFill seen_fill(const SeenFilter& filter, std::uint64_t max_shards) {
  const std::uint64_t shards = filter.words().size() / kWordsPerSeenShard;
  const std::uint64_t looked_at = std::min(shards, max_shards);
  std::array<std::uint64_t, kWordBits + 1> words_with{};
  for (std::uint64_t i = 0; i < looked_at; ++i) {
    for (const Word& word :
         filter.words().subspan(i * shards / looked_at * kWordsPerSeenShard, kWordsPerSeenShard)) {
      const int set = std::popcount(word.low.load(std::memory_order_relaxed)) +
                      std::popcount(word.high.load(std::memory_order_relaxed));
      ++words_with[static_cast<std::size_t>(set)];
    }
  }
  const auto words = static_cast<double>(looked_at * kWordsPerSeenShard);
  SeenFill fill;
  double set_bits = 0;
  for (std::size_t b = 1; b <= kWordBits; ++b) {
    const double share = static_cast<double>(words_with[b]) / words;
    set_bits += share * static_cast<double>(b);
    fill.rate += share * std::pow(static_cast<double>(b) / kWordBits, filter.key_bits());
  }
  // A bit stays clear with probability exp(-keys per word × chance that a key sets it).
  const double chance_per_key = 1 - std::pow(1 - 1.0 / kWordBits, filter.key_bits());
  const double clear = std::max(1 - set_bits / kWordBits, 1 / (words * kWordBits));
  fill.keys = -std::log(clear) / chance_per_key * static_cast<double>(filter.words().size());
  return fill;
}

}  // namespace keysieve
