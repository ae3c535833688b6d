#include "core/worker/seen/seen_size.hpp"

#include <algorithm>

namespace keysieve {

SeenFill seen_fill(const SeenFilter& filter, std::uint64_t max_shards) {
  const std::uint64_t shards = filter.words().size() / kWordsPerSeenShard;
  const std::uint64_t looked_at = std::min(shards, max_shards);
  std::uint64_t tags = 0;
  double rate = 0;
  for (std::uint64_t i = 0; i < looked_at; ++i) {
    const auto shard =
        filter.words().subspan(i * shards / looked_at * kWordsPerSeenShard, kWordsPerSeenShard);
    for (std::uint64_t first = 0; first < shard.size(); first += filter.block_words()) {
      double rate_of_this = 0;
      for (const Word& word : shard.subspan(first, filter.block_words())) {
        const WordValue value = word.load();
        tags += value.tags();
        rate_of_this += rate_of(value);
      }
      rate += std::min(rate_of_this, 1.0);
    }
  }
  const auto words = static_cast<double>(looked_at * kWordsPerSeenShard);
  return {.keys = static_cast<double>(tags) / words * static_cast<double>(filter.words().size()),
          .rate = rate / words * static_cast<double>(filter.block_words())};
}

}  // namespace keysieve
