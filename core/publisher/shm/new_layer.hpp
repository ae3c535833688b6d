// The loader's half of the live layer: its size, its bits and how full it is.
#pragma once

#include <vector>

#include "core/worker/shm/live_layer.hpp"

namespace keysieve {

// Bits are or-ed in, so that even a second writer, which there should not be, could not clear any.
inline void set_lane_bits(LayerLane& lane, std::uint32_t bits) noexcept {
  lane.fetch_or(bits, std::memory_order_relaxed);
}

// Sets the bits of a key; returns how many of them were new.
inline unsigned set_layer_bits(LayerLane* lanes, LayerGeometry geometry, KeyHash hash) noexcept {
  LayerLane* block = lanes + first_lane_of(hash, geometry);
  const std::uint64_t mixed = remix(hash);
  unsigned fresh = 0;
  for (std::uint32_t lane = 0; lane < SplitBlock::kLanes; ++lane) {
    const std::uint32_t bit = SplitBlock::lane_bit(mixed, lane);
    if ((block[lane].load(std::memory_order_relaxed) & bit) != 0) continue;
    set_lane_bits(block[lane], bit);
    ++fresh;
  }
  return fresh;
}

struct LayerFill {
  double fill_ratio = 0.0;  // mean share of bits set
  // From the bytes, per block: for a key that is neither in the snapshot nor added.
  double estimated_fpr = 0.0;
};

// Reads all shards, even while a writer is at work. All zero without a layer.
LayerFill layer_fill(const LayerLane* lanes, LayerGeometry geometry) noexcept;
inline LayerFill layer_fill(const LiveLayer& layer) noexcept {
  return layer_fill(layer.lanes(), layer.geometry());
}

// The lowest FPR that a layer is sized for, whatever the target of the snapshot below it: its blocks would
// take 65 bits per key.
inline constexpr double kMinLayerFpr = 1e-6;

// The smallest layer, of at least one shard, whose own FPR with `keys` keys stays within `fpr`; that FPR
// comes on top of the snapshot's. Throws Usage for an FPR outside kMinLayerFpr to kMaxFpr.
LayerGeometry layer_geometry_for(std::uint64_t keys, double fpr);

// A live layer in private memory, for the loader: one that is not published yet, sized for its keys and
// filled from the adds log, which Publisher::publish writes. One thread.
class NewLayer {
 public:
  // No layer.
  NewLayer() = default;
  // Empty, but with room for keys.
  explicit NewLayer(LayerGeometry geometry)
      : geometry_(geometry), lanes_(geometry.bytes() / sizeof(LayerLane)) {}

  // The hash must have been made with the snapshot's seed, and there must be room (at least one shard).
  // Returns whether any bit was new; only such keys are counted.
  bool add(KeyHash hash) noexcept {
    const bool is_new = set_layer_bits(lanes_.data(), geometry_, hash) != 0;
    if (is_new) ++keys_;
    return is_new;
  }

  [[nodiscard]] LayerGeometry geometry() const noexcept { return geometry_; }
  [[nodiscard]] std::uint64_t live_keys() const noexcept { return keys_; }
  [[nodiscard]] LayerFill fill() const { return layer_fill(lanes_.data(), geometry_); }
  [[nodiscard]] Bytes bytes() const noexcept { return std::as_bytes(std::span(lanes_)); }

 private:
  LayerGeometry geometry_;
  std::uint64_t keys_ = 0;
  std::vector<LayerLane> lanes_;
};

}  // namespace keysieve
