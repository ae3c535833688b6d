// The writing side of the live layer of one publication: sets bits while readers probe. Used by the loader
// alone, which opens it by Publisher::open_layer() under the set's lock. It may be killed at any moment;
// whoever opens the layer next adds all keys once more, since nothing says how far the one before had got.
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
  // seed(). Whether any bit was new; only such keys are counted.
  bool add(KeyHash hash) noexcept;

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
