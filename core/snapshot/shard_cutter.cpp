#include "core/snapshot/shard_cutter.hpp"

#include <algorithm>

namespace keysieve {

void ShardCutter::feed(std::span<const KeyHash> hashes) {
  while (!hashes.empty()) {
    const auto end = std::partition_point(hashes.begin(), hashes.end(), [this](const KeyHash& hash) {
      return shard_of(hash, shard_count_) <= next_;
    });
    const auto keys = hashes.first(static_cast<std::size_t>(end - hashes.begin()));
    hashes = hashes.subspan(keys.size());
    if (open_.empty() && !hashes.empty()) {
      pass_on(keys);
    } else {
      open_.insert(open_.end(), keys.begin(), keys.end());
      if (!hashes.empty()) pass_on(open_);
    }
  }
}

void ShardCutter::finish() {
  while (next_ < end_) pass_on(open_);
}

void ShardCutter::pass_on(std::span<const KeyHash> keys) {
  on_shard_(next_++, keys);
  open_.clear();
}

}  // namespace keysieve
