// Puts the added keys that this host has received into the live layers of a set: into a new layer before it
// is published, into the live one, and into a larger one when that is too full. Notices when bytes of a layer
// have changed by themselves.
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
  LayerFiller(const SetConfig& config, const LoaderConfig& loader, AddsReader& adds);

  // A layer over that snapshot, with all keys received after its `adds_from` and room for as many again;
  // `least` shards or more.
  [[nodiscard]] NewLayer layer_over(const SnapshotHeader& snapshot, LayerGeometry least = {}) const;

  // Adds what has arrived since the last call to the layer of the previous publication, then to that of the
  // live one, and returns the latter; nothing when it has no layer. Throws as a Publisher does.
  std::optional<LayerWriter> add_news(Publisher& publisher, const LivePublication& live);
  // Compares the layers that readers may ask, the previous and the live one, with what this process has put
  // there, and restores what they have lost. Says what was wrong; empty when all was right, or when the
  // next add_news() adds everything anyway.
  std::string restore(Publisher& publisher);
  // The publication whose layer holds all that was received, as of the last add_news().
  [[nodiscard]] const PublicationId& filled() const noexcept { return filled_; }

  // Does the same. If the live layer's estimated FPR is then above the limit, publishes the same snapshot
  // with a layer of twice the size; with a first layer when it has none and something was received. Throws
  // as a Publisher does when that fails, and throws the same error again until the retry is due.
  void fill(Publisher& publisher, const LivePublication& live, SteadyTime now);

 private:
  std::string restore_previous(Publisher& publisher);
  void add_to_previous(Publisher& publisher, const LogPosition& after);
  // Adds what was received since `after`, and takes or keeps up the copy.
  void add(LayerWriter& layer, std::optional<NewLayer>& copy, const LogPosition& after) const;
  void publish_larger(Publisher& publisher, const LivePublication& live, LayerGeometry geometry,
                      std::uint64_t live_keys);

  const SetConfig& config_;
  std::string directory_;
  AddsReader& adds_;
  PublicationId filled_{};
  FileIdentity filled_in_{};
  // What this process has put into the layers of `filled_` and of the publication before it, and the number
  // of that. Bytes in shared memory may change by themselves, and neither has a checksum.
  std::optional<NewLayer> copy_;
  std::optional<NewLayer> previous_copy_;
  std::uint64_t previous_ = 0;
  bool is_full_ = false;
  Backoff backoff_;
  std::optional<Error> failure_;  // there while the backoff lasts
};

// How much the live layer of a set may add to the false-positive rate of its snapshot. Above that the
// loader publishes the snapshot again with a larger layer.

// A layer of less than this share costs little memory to have: 10.5 bits per key.
inline constexpr double kLargestLayerFpr = 0.01;
inline constexpr double kLayerShareOfTarget = 0.25;

// What `max_fpr` leaves, so that both together stay within it, but at least the lowest FPR that a layer can
// be sized for, even over a snapshot of a lower target; without a limit, a quarter of the snapshot's target.
inline double layer_fpr_limit(std::optional<double> max_fpr, double target_fpr, double estimated_fpr) {
  const double share = max_fpr ? *max_fpr - estimated_fpr : target_fpr * kLayerShareOfTarget;
  return std::clamp(share, kMinLayerFpr, kLargestLayerFpr);
}

}  // namespace keysieve
