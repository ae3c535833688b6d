// Shards of one kind built from hashes, without a snapshot around them; the filter suites probe them.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/builder/filters/sizing.hpp"

namespace keysieve::test {

class BuiltShards {
 public:
  BuiltShards(const FilterKind& kind, const FilterParams& params, std::uint32_t shard_count,
              std::vector<KeyHash> hashes)
      : kind_(&kind),
        params_(params),
        entries_(shard_count),
        bytes_(std::size_t{shard_count} * params.shard_bytes) {
    std::sort(hashes.begin(), hashes.end());
    auto next = hashes.begin();
    for (std::uint32_t i = 0; i < shard_count; ++i) {
      const auto end = std::find_if(next, hashes.end(),
                                    [=](const KeyHash& hash) { return shard_of(hash, shard_count) != i; });
      kind.build(MutableBytes(bytes_).subspan(std::size_t{i} * params.shard_bytes, params.shard_bytes),
                 entries_[i], params, std::span(next, end));
      next = end;
    }
  }

  BuiltShards(const FilterKind& kind, const Geometry& geometry, std::vector<KeyHash> hashes)
      : BuiltShards(kind, geometry.params, geometry.shard_count, std::move(hashes)) {}

  [[nodiscard]] ShardArray array() const noexcept {
    return {bytes_.data(), entries_.data(), static_cast<std::uint32_t>(entries_.size()), params_};
  }
  [[nodiscard]] Bytes bytes() const noexcept { return bytes_; }

  [[nodiscard]] Lookup lookup(InstructionSet instructions = best_instruction_set()) const noexcept {
    return kind_->lookup(params_, instructions);
  }
  [[nodiscard]] bool may_contain(KeyHash hash) const noexcept { return lookup().may_contain(array(), hash); }

  // Mean over the shards.
  [[nodiscard]] double estimated_fpr() const {
    double sum = 0.0;
    for (std::uint32_t i = 0; i < entries_.size(); ++i) sum += estimated_fpr(i);
    return sum / static_cast<double>(entries_.size());
  }
  // Standard error of that mean, for the same number of shards of other keys.
  [[nodiscard]] double fpr_error() const {
    const double mean = estimated_fpr();
    double squares = 0.0;
    for (std::uint32_t i = 0; i < entries_.size(); ++i) squares += std::pow(estimated_fpr(i) - mean, 2.0);
    return std::sqrt(squares) / static_cast<double>(entries_.size());
  }

 private:
  [[nodiscard]] double estimated_fpr(std::uint32_t shard) const {
    return kind_->estimated_fpr(array().shard_bytes(shard), entries_[shard], params_);
  }

  const FilterKind* kind_;
  FilterParams params_;
  std::vector<ShardEntry> entries_;
  std::vector<std::byte> bytes_;
};

// The hashes of the numbers from `first` on, as decimal strings.
inline std::vector<KeyHash> hashes_of_numbers(std::uint64_t first, std::uint64_t count) {
  std::vector<KeyHash> hashes;
  hashes.reserve(count);
  static const KeyHasher hasher({42});
  for (std::uint64_t i = first; i < first + count; ++i) hashes.push_back(hasher(std::to_string(i)));
  return hashes;
}

// Keys that a set is built from, and keys that it never holds.
inline std::vector<KeyHash> built_in(std::uint64_t count) {
  return hashes_of_numbers(0, count);
}
inline std::vector<KeyHash> never_added(std::uint64_t count) {
  return hashes_of_numbers(10'000'000, count);
}

}  // namespace keysieve::test
