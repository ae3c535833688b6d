// The live layer of a publication: a split block Bloom filter of the keys that were added since its snapshot
// was built. The loader fills it in memory first (NewLayer); once it is published, one process sets bits
// (LayerWriter) while any number of readers probe (LiveLayer), with atomics on both sides. A set bit stays
// set. docs/concurrency.md explains why this is correct.
#pragma once

#include <atomic>
#include <span>

#include "core/worker/base/bytes.hpp"
#include "core/worker/filters/blocks.hpp"

namespace keysieve {

inline constexpr std::uint32_t kLayerShardBytes = kDefaultShardBytes;

struct LayerGeometry {
  std::uint32_t shard_count = 0;  // 0: no layer

  [[nodiscard]] constexpr std::uint64_t bytes() const noexcept {
    return std::uint64_t{shard_count} * kLayerShardBytes;
  }
  friend bool operator==(const LayerGeometry&, const LayerGeometry&) = default;
};

// A lane in shared memory. All accesses are relaxed: the count of keys orders them.
using LayerLane = std::atomic<std::uint32_t>;
static_assert(sizeof(LayerLane) == SplitBlock::kLaneBytes && LayerLane::is_always_lock_free);

// Number of the first lane of the block that a key belongs to. The geometry must have a shard.
inline std::uint64_t first_lane_of(KeyHash hash, LayerGeometry geometry) noexcept {
  constexpr int kShardShift = std::countr_zero(kLayerShardBytes);
  const std::uint64_t shard_offset = shard_of(hash, geometry.shard_count) << kShardShift;
  return (shard_offset + SplitBlock::block_offset(64 - kShardShift, remix(hash))) / SplitBlock::kLaneBytes;
}

// The reading side. Does not own what it points to; cheap to copy. Lookups are noexcept and may run in any
// number of threads and processes while the writer works.
class LiveLayer {
 public:
  // Without a layer. Every key is absent, after one load.
  LiveLayer() = default;
  // `keys` counts the added keys; it is stored (release) after their bits.
  LiveLayer(const LayerLane* lanes, LayerGeometry geometry, const std::atomic<std::uint64_t>* keys) noexcept
      : lanes_(lanes), keys_(keys), geometry_(geometry) {}

  [[nodiscard]] LayerGeometry geometry() const noexcept { return geometry_; }
  [[nodiscard]] const LayerLane* lanes() const noexcept { return lanes_; }
  // Number of keys that were added and were new to the layer. The bits of that many keys are visible:
  // acquire, with the release in LayerWriter::add.
  [[nodiscard]] std::uint64_t keys() const noexcept { return keys_->load(std::memory_order_acquire); }

  // Costs one load if nothing was added, else one more cache line. False: the key is not among the first
  // keys() added keys.
  [[nodiscard]] bool may_contain(KeyHash hash) const noexcept { return keys() != 0 && has_bits(hash); }

  // Probes those whose result is still false. One load for all of them if nothing was added.
  void may_contain_many(std::span<const KeyHash> hashes, bool* results) const noexcept {
    if (keys() == 0) return;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      if (!results[i]) results[i] = has_bits(hashes[i]);
    }
  }

 private:
  static constexpr std::atomic<std::uint64_t> kNoKeys{0};

  [[nodiscard]] bool has_bits(KeyHash hash) const noexcept {
    const LayerLane* block = lanes_ + first_lane_of(hash, geometry_);
    return SplitBlock::has_all_bits(
        remix(hash), [block](std::uint32_t lane) { return block[lane].load(std::memory_order_relaxed); });
  }

  const LayerLane* lanes_ = nullptr;
  const std::atomic<std::uint64_t>* keys_ = &kNoKeys;
  LayerGeometry geometry_;
};

}  // namespace keysieve
