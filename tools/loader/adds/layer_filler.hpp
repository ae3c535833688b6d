// Brings what this host has received of an adds log into the live layers of a set: into a new one before it
// is published, into that of what is live, and from that into a larger one when it is too full.
#pragma once

#include <algorithm>
#include <optional>

#include "core/filters/sizing.hpp"
#include "core/shm/publisher.hpp"
#include "tools/loader/adds/adds_reader.hpp"
#include "tools/loader/report/live_publication.hpp"

namespace keysieve {

class LayerFiller {
 public:
  // All must outlive it.
  LayerFiller(const SetConfig& config, const LoaderConfig& loader, AddsReader& adds, SetLog& log);

  // A layer over that snapshot: all that was received behind its `adds_from`, and room for as much again. Of
  // `least` shards, or more.
  [[nodiscard]] NewLayer layer_over(const SnapshotHeader& snapshot, LayerGeometry least = {}) const;

  // Adds what has come since the last call to the layer of the publication before what is live, and then to
  // that of what is live, which it returns; nothing where that has none. Throws as a Publisher does.
  std::optional<LayerWriter> add_news(Publisher& publisher, const LivePublication& live);
  // The next add_news() adds all that was received once more: bytes may have changed.
  void verify_soon() noexcept { must_verify_ = true; }
  // The publication whose layer holds all that was received, as of the last add_news().
  [[nodiscard]] const PublicationId& filled() const noexcept { return filled_; }

  // The same; when the live layer's estimated FPR is above the limit then, publishes the same snapshot with
  // one of twice the size; with a first one where it has none and something was received. Throws as a
  // Publisher does when that is not possible, and the same again until it is tried again after a while.
  void fill(Publisher& publisher, const LivePublication& live, SteadyTime now);

 private:
  std::size_t add(LayerWriter& layer, const LogPosition& after) const;
  void publish_larger(Publisher& publisher, const LivePublication& live, LayerGeometry geometry,
                      std::uint64_t live_keys);

  const SetConfig& config_;
  std::string directory_;
  AddsReader& adds_;
  SetLog& log_;
  PublicationId filled_{};
  FileIdentity filled_in_{};
  bool must_verify_ = false;
  bool is_full_ = false;
  Backoff backoff_;
  std::optional<Error> failure_;  // there while the backoff lasts
};

// How much false-positive rate the live layer of a set may add to that of its snapshot. Beyond it the loader
// publishes the snapshot again with a larger layer.

// A layer of less than this share costs little memory to have: 10.5 bits per key.
inline constexpr double kLargestLayerFpr = 0.01;
inline constexpr double kLayerShareOfTarget = 0.25;

// What `max_fpr` leaves, so that both together stay within it, down to the least FPR that a layer can be
// sized for; without a limit a quarter of the snapshot's target.
inline double layer_fpr_limit(std::optional<double> max_fpr, double target_fpr, double estimated_fpr) {
  const double share = max_fpr ? *max_fpr - estimated_fpr : target_fpr * kLayerShareOfTarget;
  return std::clamp(share, kMinFpr, kLargestLayerFpr);
}

}  // namespace keysieve
