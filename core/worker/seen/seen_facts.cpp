#include "core/worker/seen/seen_facts.hpp"

#include <algorithm>

namespace keysieve {
namespace {

// At most so many shards of 4 KiB are read, of all filters together and of one filter. 256 give the number of
// its keys to about 0.3 %.
constexpr std::uint64_t kMostShards = 1024;
constexpr std::uint64_t kMostShardsOfAFilter = 256;

}  // namespace

SeenFacts seen_facts(const SeenReader& reader) {
  const std::vector<SeenEntry>& entries = reader.entries();
  const std::uint64_t shards =
      std::clamp<std::uint64_t>(kMostShards / entries.size(), 1, kMostShardsOfAFilter);
  const SeenWindow newest = entries.back().plan.window;
  SeenFacts facts;
  facts.filters = entries.size();
  facts.oldest_begins = entries.front().plan.window.begins;
  facts.newest_begins = newest.begins;
  facts.newest_ends = newest.ends;
  double share_in_none = 1;  // of absent keys
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const SeenPlan& plan = entries[i].plan;
    const SeenFill fill = seen_fill(reader.filters()[i], shards);
    facts.windows += plan.growth == 0 ? 1U : 0U;
    if (plan.window.ends == newest.ends) {
      facts.keys += fill.keys;
      facts.capacity += plan.capacity;
    }
    facts.bytes += plan.segment_bytes();
    facts.target_fpr += plan.rate;
    share_in_none *= 1 - fill.rate;
  }
  facts.estimated_fpr = 1 - share_in_none;
  return facts;
}

}  // namespace keysieve
