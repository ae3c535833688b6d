#include "core/publisher/shm/new_layer.hpp"

#include <array>

#include "core/builder/filters/sizing.hpp"
#include "core/builder/filters/split_block_bloom.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kLanesPerShard = kLayerShardBytes / SplitBlockBloomBuilder::kLaneBytes;
static_assert(kMinLayerFpr == kMinFprOfEveryKind);

using ShardCopy = std::array<std::uint32_t, kLanesPerShard>;

ShardCopy copy_of(const LayerLane* shard) noexcept {
  ShardCopy copy;
  for (std::size_t lane = 0; lane < kLanesPerShard; ++lane) {
    copy[lane] = shard[lane].load(std::memory_order_relaxed);
  }
  return copy;
}

}  // namespace

LayerFill layer_fill(const LayerLane* lanes, LayerGeometry geometry) noexcept {
  LayerFill sum;
  if (geometry.shard_count == 0) return sum;
  for (std::uint32_t shard = 0; shard < geometry.shard_count; ++shard) {
    const ShardCopy copy = copy_of(lanes + shard * kLanesPerShard);
    const Bytes bytes = std::as_bytes(std::span(copy));
    sum.fill_ratio += fill_ratio(bytes);
    sum.estimated_fpr += BitBuilder<SplitBlockBloomBuilder>::estimated_fpr(
        bytes, {}, {.shard_bytes = kLayerShardBytes, .hash_count = SplitBlock::kLanes});
  }
  return {sum.fill_ratio / geometry.shard_count, sum.estimated_fpr / geometry.shard_count};
}

LayerGeometry layer_geometry_for(std::uint64_t keys, double fpr) {
  const FilterKind& kind = *find_filter_kind(SplitBlockBloomBuilder::kId);
  return {size_filter(kind, {.keys = keys, .target_fpr = fpr, .shard_bytes = kLayerShardBytes}).shard_count};
}

}  // namespace keysieve
