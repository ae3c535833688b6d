// Shards of one kind built from hashes, without a snapshot around them: what the suites of filters probe.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/filters/filter_kind.hpp"

namespace keysieve::test {

class BuiltShards {
 public:
  BuiltShards(const FilterKind& kind, const FilterParams& params, std::uint32_t shard_count,
              std::vector<KeyHash> hashes)
      : params_(params), entries_(shard_count), bytes_(std::size_t{shard_count} * params.shard_bytes) {
    std::sort(hashes.begin(), hashes.end(), in_shard_order);
    auto next = hashes.begin();
    for (std::uint32_t i = 0; i < shard_count; ++i) {
      const auto end = std::find_if(next, hashes.end(),
                                    [=](const KeyHash& hash) { return shard_of(hash, shard_count) != i; });
      kind.build(MutableBytes(bytes_).subspan(std::size_t{i} * params.shard_bytes, params.shard_bytes),
                 entries_[i], params, std::span(next, end));
      next = end;
    }
  }

  [[nodiscard]] ShardArray array() const noexcept {
    return {bytes_.data(), entries_.data(), static_cast<std::uint32_t>(entries_.size()), params_};
  }
  [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }

 private:
  FilterParams params_;
  std::vector<ShardEntry> entries_;
  std::vector<std::byte> bytes_;
};

// The hashes of the numbers from `first` on, as decimal strings.
inline std::vector<KeyHash> hashes_of_numbers(std::uint64_t first, std::uint64_t count) {
  std::vector<KeyHash> hashes;
  hashes.reserve(count);
  for (std::uint64_t i = first; i < first + count; ++i) hashes.push_back(hash_key(std::to_string(i), 42));
  return hashes;
}

}  // namespace keysieve::test
