// A live layer that is not published yet: sized for its keys and filled from the adds log in memory of its
// own, before the publication becomes current. Used by the loader; Publisher::publish writes it.
#pragma once

#include <vector>

#include "core/base/bytes.hpp"
#include "core/shm/live_layer.hpp"

namespace keysieve {

// The smallest layer, of at least one shard, that keeps its own FPR at `keys` keys within `fpr`, which is
// added to the base's. Throws Usage for an FPR outside kMinFpr to kMaxFpr.
LayerGeometry layer_geometry_for(std::uint64_t keys, double fpr);

// One thread.
class NewLayer {
 public:
  // No layer.
  NewLayer() = default;
  // Empty, but with room.
  explicit NewLayer(LayerGeometry geometry)
      : geometry_(geometry), lanes_(geometry.bytes() / sizeof(LayerLane)) {}

  // The hash must have been made with the snapshot's seed, and there must be room (at least one shard).
  // Whether any bit was new; only such keys are counted.
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
