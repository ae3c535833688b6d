// The values of a map's keys while it is built, by the hash of each key, in memory: at most 32 bytes for each
// key given. SnapshotBuilder takes them shard by shard.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/worker/hash/key_hash.hpp"
#include "core/worker/snapshot/layout.hpp"

namespace keysieve {

// Call add() (each thread with its own number), then finish(), once; then any thread may call the rest.
class MapValues {
 public:
  explicit MapValues(unsigned threads) : given_(threads) {}

  // `value` belongs to the key with that hash. Throws std::bad_alloc.
  void add(unsigned thread, KeyHash hash, std::uint32_t value) {
    given_[thread].entries.push_back({hash, value});
  }

  // A key that was given two values.
  struct Conflict {
    KeyHash hash;
    std::uint32_t first;
    std::uint32_t second;
  };
  // Returns the conflict of the least hash, if there is one; then the values must not be used.
  [[nodiscard]] std::optional<Conflict> finish();

  // Bits that the largest value needs, at least 1.
  [[nodiscard]] std::uint8_t value_bits() const noexcept;

  // Those of the least hash in each of kValueSample stretches of hashes.
  void take_sample(SnapshotHeader& header) const;

  // The values of some keys; `hashes` in ascending order. Throws Usage if one was not added.
  void copy(std::span<const KeyHash> hashes, std::vector<std::uint32_t>& values) const;

 private:
  struct Entry {
    KeyHash hash;
    std::uint32_t value;
  };

  struct alignas(64) Part {  // so that no two threads write to one cache line
    std::vector<Entry> entries;
  };

  std::vector<Part> given_;     // by thread
  std::vector<Entry> entries_;  // in order of their hashes
};

}  // namespace keysieve
