#include "core/shm/new_layer.hpp"

#include "core/filters/sizing.hpp"
#include "core/filters/split_block_bloom.hpp"

namespace keysieve {

LayerGeometry layer_geometry_for(std::uint64_t keys, double fpr) {
  const FilterKind& kind = *find_filter_kind(SplitBlockBloom::kId);
  return {size_filter(kind, {.keys = keys, .target_fpr = fpr, .shard_bytes = kLayerShardBytes}).shard_count};
}

}  // namespace keysieve
