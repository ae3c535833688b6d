// Puts the added keys that this host has received into the live layer of a set. A new layer gets them before
// it is published. When the live one is too full, a larger one replaces it. Mends a layer whose bytes have
// changed by themselves.
#pragma once

#include <algorithm>
#include <optional>

#include "core/publisher/shm/new_layer.hpp"
#include "core/publisher/shm/publisher.hpp"
#include "tools/loader/adds/adds_reader.hpp"
#include "tools/status/live_publication.hpp"

namespace keysieve {

class LayerFiller {
 public:
  // All must outlive it.
  LayerFiller(SetWork& set, KeptAdds& adds) : set_(set), adds_(adds) {}

  // A layer over that snapshot, with all keys received after its `adds_from` and room for as many again;
  // `least` shards or more.
  [[nodiscard]] NewLayer layer_over(const SnapshotHeader& snapshot, LayerGeometry least = {}) const;

  // Adds what has arrived since the last call to the live layer. `verifies`: adds everything again, and
  // reports what had been lost. If the layer's estimated FPR is above the limit, publishes the same snapshot
  // with a layer of twice the size; with a first layer when it has none and something was received. Throws as
  // a Publisher does when that fails, and throws the same error again until retries are due.
  void fill(Publisher& publisher, const LivePublication& live, bool verifies);
  // Only adds what has arrived; false if fill() must find it a larger layer.
  bool add(const Publisher& publisher, const LivePublication& live) {
    return add_news(publisher, live, /*verifies=*/false) && !is_full_;
  }

 private:
  // Returns the live layer; nothing when there is none.
  std::optional<LayerWriter> add_news(const Publisher& publisher, const LivePublication& live, bool verifies);
  void mend(LayerWriter& layer, const LivePublication& live, bool is_miscounted);
  void publish_larger(Publisher& publisher, const LivePublication& live, LayerGeometry geometry,
                      std::uint64_t live_keys);

  SetWork& set_;
  KeptAdds& adds_;
  PublicationId filled_{};  // its layer holds all that was received, as of the last add_news()
  FileIdentity filled_in_{};
  std::uint64_t counted_ = 0;  // its keys
  bool is_full_ = false;
  std::optional<Error> failure_;  // to enlarge it
};

// A layer of less than this share costs little memory to have: 10.5 bits per key.
inline constexpr double kLargestLayerFpr = 0.01;
inline constexpr double kLayerShareOfTarget = 0.25;

// How much a live layer may add to the FPR of its snapshot: the share of `max_fpr` that this leaves, or
// without a limit, a quarter of its target. At least the lowest FPR that a layer can be sized for, even over
// a snapshot of a lower target.
inline double layer_fpr_limit(std::optional<double> max_fpr, double target_fpr, double estimated_fpr) {
  const double share = max_fpr ? *max_fpr - estimated_fpr : target_fpr * kLayerShareOfTarget;
  return std::clamp(share, kMinLayerFpr, kLargestLayerFpr);
}

}  // namespace keysieve
