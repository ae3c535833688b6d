// What counts each key of a list once, though the list has it twice. Used by updates and live layers.
#pragma once

#include <algorithm>
#include <vector>

#include "core/hash/key_hash.hpp"

namespace keysieve {

inline void sort_and_dedupe(std::vector<KeyHash>& hashes) {
  std::sort(hashes.begin(), hashes.end(), in_shard_order);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
}

}  // namespace keysieve
