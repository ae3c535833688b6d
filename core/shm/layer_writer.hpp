// The writing side of the live layer of one publication: sets bits while readers probe. Used by the loader
// alone, which opens it by Publisher::open_layer() under the set's lock. It may be killed at any moment;
// the next writer adds all keys again, since nothing says how far the one before had got.
#pragma once

#include "core/shm/live_file.hpp"

namespace keysieve {

// One thread. Allocates nothing after opening. No store can fail for want of memory, since publishing has
// written every page of the file.
class LayerWriter {
 public:
  // Takes a live file that was opened writable, of a publication that has a layer.
  explicit LayerWriter(LiveFile file) noexcept : file_(std::move(file)) {}

  // From now on every lookup of the key answers maybe, in every process. The hash must have been made with
  // seed(). Returns whether any bit was new; only such keys are counted.
  //
  // A writer before this one may have been killed after it set the bits and before it counted the key. Nobody
  // looks at the bits while nothing is counted, so the first key counts whether its bits are new or not.
  bool add(KeyHash hash) noexcept {
    const bool is_new = set_layer_bits(file_.writable_lanes(), file_.geometry(), hash);
    const std::uint64_t keys = live_keys();
    // Release: pairs with the acquire in LiveLayer::keys.
    if (is_new || keys == 0) file_.writable_page().live_keys.store(keys + 1, std::memory_order_release);
    return is_new;
  }

  // Waits until the bits lie on the disk, where the directory is on one.
  void sync() noexcept { file_.sync(); }

  // By which its keys are hashed.
  [[nodiscard]] std::uint64_t seed() const noexcept { return file_.page().seed; }
  [[nodiscard]] LayerGeometry geometry() const noexcept { return file_.geometry(); }
  [[nodiscard]] std::uint64_t live_keys() const noexcept {
    return file_.page().live_keys.load(std::memory_order_relaxed);
  }
  // Reads all of the layer.
  [[nodiscard]] LayerFill fill() const noexcept { return file_.layer().fill(); }

 private:
  LiveFile file_;
};

}  // namespace keysieve
