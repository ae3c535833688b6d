// The live layer of a publication: a split block Bloom filter of the keys that were added since its snapshot
// was built. It is filled in memory first (NewLayer); once it is published, one process sets bits
// (LayerWriter) while any number of readers probe (LiveLayer), with atomics on both sides. A set bit stays
// set. docs/concurrency.md explains why this is correct.
#pragma once

#include <atomic>
#include <span>
#include <vector>

#include "core/base/bytes.hpp"
#include "core/filters/blocks.hpp"

namespace keysieve {

inline constexpr std::uint32_t kLayerShardBytes = kDefaultShardBytes;

struct LayerGeometry {
  std::uint32_t shard_count = 0;  // 0: no layer

  [[nodiscard]] constexpr std::uint64_t bytes() const noexcept {
    return std::uint64_t{shard_count} * kLayerShardBytes;
  }
  friend bool operator==(const LayerGeometry&, const LayerGeometry&) = default;
};

// A lane in shared memory: readers load it relaxed, the writer sets bits of it relaxed.
using LayerLane = std::atomic<std::uint32_t>;
static_assert(sizeof(LayerLane) == SplitBlock::kLaneBytes && LayerLane::is_always_lock_free);

// Number of the first lane of the block that a key belongs to. The geometry must have a shard.
inline std::uint64_t first_lane_of(KeyHash hash, LayerGeometry geometry) noexcept {
  constexpr int kShardShift = std::countr_zero(kLayerShardBytes);
  const std::uint64_t shard_offset = shard_of(hash, geometry.shard_count) << kShardShift;
  return (shard_offset + SplitBlock::block_offset(64 - kShardShift, remix(hash))) / SplitBlock::kLaneBytes;
}

struct LayerFill {
  double fill_ratio = 0.0;  // mean share of bits set
  // From the bytes, per block: for a key that is neither in the snapshot nor added.
  double estimated_fpr = 0.0;
};

// Reads all shards, even while a writer is at work. All zero without a layer.
LayerFill layer_fill(const LayerLane* lanes, LayerGeometry geometry) noexcept;

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

  // Reads all of it, even while the writer is at work.
  [[nodiscard]] LayerFill fill() const noexcept { return layer_fill(lanes_, geometry_); }

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

// Sets the bits of a key; returns whether any of them was new. Bits are or-ed in, so that even a second
// writer, which there should not be, could not clear any.
inline bool set_layer_bits(LayerLane* lanes, LayerGeometry geometry, KeyHash hash) noexcept {
  LayerLane* block = lanes + first_lane_of(hash, geometry);
  const std::uint64_t mixed = remix(hash);
  bool any_new = false;
  for (std::uint32_t lane = 0; lane < SplitBlock::kLanes; ++lane) {
    const std::uint32_t bit = SplitBlock::lane_bit(mixed, lane);
    if ((block[lane].load(std::memory_order_relaxed) & bit) != 0) continue;
    block[lane].fetch_or(bit, std::memory_order_relaxed);
    any_new = true;
  }
  return any_new;
}

// The lowest FPR that a layer is sized for, whatever the target of the snapshot below it: its blocks would
// take 65 bits per key.
inline constexpr double kMinLayerFpr = 1e-6;

// The smallest layer, of at least one shard, whose own FPR with `keys` keys stays within `fpr`; that FPR
// comes on top of the snapshot's. Throws Usage for an FPR outside kMinLayerFpr to kMaxFpr.
LayerGeometry layer_geometry_for(std::uint64_t keys, double fpr);

// A live layer that is not published yet: sized for its keys and filled from the adds log in private memory,
// before the publication becomes current. Used by the loader; Publisher::publish writes it. One thread.
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
    const bool is_new = set_layer_bits(lanes_.data(), geometry_, hash);
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
