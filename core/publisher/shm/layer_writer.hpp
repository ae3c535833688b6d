// The writing side of the live layer of one publication: sets bits while readers probe. Only the loader uses
// it; it opens the layer by Publisher::open_layer() under the set's lock. The loader may be killed at any
// moment. The next writer adds all keys again, because the file does not say how far the last one got.
#pragma once

#include "core/publisher/shm/new_layer.hpp"
#include "core/worker/shm/live_file.hpp"

namespace keysieve {

// One thread. Allocates nothing after opening. Storing cannot run out of memory, because publishing has
// written every page of the file.
class LayerWriter {
 public:
  // Takes the live page of a publication that has a layer.
  explicit LayerWriter(MappedPage<LivePage> live) noexcept
      : live_(std::move(live)), layer_(layer_of(live_)) {}

  // From now on every lookup of the key answers maybe, in every process. The hash must have been made with
  // seed(). Returns whether any bit was new; only such keys are counted.
  //
  // An earlier writer may have been killed after it set the bits and before it counted the key. Readers do
  // not look at the bits while the count is 0, so the first key counts whether its bits are new or not.
  bool add(KeyHash hash) noexcept {
    const bool is_new = set_layer_bits(lanes_of(live_), geometry(), hash) != 0;
    const std::uint64_t keys = live_keys();
    if (is_new || keys == 0) count(keys + 1);
    return is_new;
  }

  // For a key that was added before: sets the bits that have been lost since, without counting the key again.
  // Returns how many; a count that was lost, which hides all keys, is one more.
  std::uint64_t mend(KeyHash hash) noexcept {
    const std::uint64_t lost = set_layer_bits(lanes_of(live_), geometry(), hash);
    if (live_keys() != 0) return lost;
    count(1);
    return lost + 1;
  }

  // Puts back a count that has changed by itself. Release: pairs with the acquire in LiveLayer::keys.
  void count(std::uint64_t keys) noexcept { live_.page().live_keys.store(keys, std::memory_order_release); }

  // Waits until the bits are on the disk, if the directory is on one. If that fails, a power cut may lose
  // some of them.
  void sync() noexcept { live_.flush(); }

  // The seed for hashing its keys.
  [[nodiscard]] const HashSeed& seed() const noexcept { return live_.page().seed; }
  [[nodiscard]] LayerGeometry geometry() const noexcept { return layer_.geometry(); }
  [[nodiscard]] LiveLayer layer() const noexcept { return layer_; }
  [[nodiscard]] std::uint64_t publication() const noexcept { return live_.page().publication; }
  [[nodiscard]] std::uint64_t live_keys() const noexcept {
    return live_.page().live_keys.load(std::memory_order_relaxed);
  }
  // Reads all of the layer.
  [[nodiscard]] LayerFill fill() const noexcept { return layer_fill(layer_); }

 private:
  MappedPage<LivePage> live_;
  LiveLayer layer_;
};

}  // namespace keysieve
