// Brings what this host has received of an adds log into the live layers of a set: into a new one before it
// is published, into that of what is live, and from that into a larger one when it is too full.
#pragma once

#include <optional>

#include "core/shm/publisher.hpp"
#include "tools/loader/adds_reader.hpp"
#include "tools/loader/live_publication.hpp"

namespace keysieve {

class LayerFiller {
 public:
  // All must outlive it.
  LayerFiller(const SetConfig& config, const LoaderConfig& loader, AddsReader& adds, StateLog& log);

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
  StateLog& log_;
  PublicationId filled_{};
  FileIdentity filled_in_{};
  bool must_verify_ = false;
  bool is_full_ = false;
  Backoff backoff_;
  std::optional<Error> failure_;  // there while the backoff lasts
};

}  // namespace keysieve
