#include "tools/loader/http/shard_distribution.hpp"

#include <algorithm>
#include <cmath>

namespace keysieve {
namespace {

// Few shards in many bins would look like a comb.
std::size_t bin_count(std::uint64_t shards) {
  const auto count = static_cast<std::size_t>(std::ceil(2 * std::sqrt(static_cast<double>(shards))));
  return std::clamp(count, ShardDistribution::kFewestBins, ShardDistribution::kMostBins);
}

std::size_t bin_of(double value, const ShardDistribution& distribution) {
  const std::size_t count = distribution.bins.size();
  const double width = (distribution.highest - distribution.lowest) / static_cast<double>(count);
  if (width <= 0) return count / 2;
  return std::min(static_cast<std::size_t>((value - distribution.lowest) / width), count - 1);
}

}  // namespace

ShardDistribution shard_distribution(const SnapshotView& snapshot) {
  using Measure = ShardDistribution::Measure;
  const ShardArray& shards = snapshot.shards();
  ShardDistribution distribution;
  distribution.measure = snapshot.kind().fill_ratio == nullptr ? Measure::KeysPerShard : Measure::FillRatio;
  distribution.shard_count = shards.shard_count;
  if (shards.shard_count == 0) return distribution;
  distribution.bins.resize(bin_count(shards.shard_count));
  std::vector<float> values(shards.shard_count);
  double sum = 0;
  for (std::uint32_t i = 0; i < shards.shard_count; ++i) {
    const double value = snapshot.fill_ratio(i).value_or(shards.entries[i].key_count);
    values[i] = static_cast<float>(value);
    sum += value;
  }
  const auto [lowest, highest] = std::minmax_element(values.begin(), values.end());
  distribution.lowest = *lowest;
  distribution.highest = *highest;
  distribution.mean = sum / static_cast<double>(shards.shard_count);
  for (const float value : values) ++distribution.bins[bin_of(value, distribution)];
  return distribution;
}

std::shared_ptr<const ShardDistribution> KnownDistribution::of(const Attachment& attachment) {
  if (!distribution_ || id_ != attachment.id()) {
    distribution_ = std::make_shared<const ShardDistribution>(shard_distribution(attachment.snapshot()));
    id_ = attachment.id();
  }
  return distribution_;
}

}  // namespace keysieve
