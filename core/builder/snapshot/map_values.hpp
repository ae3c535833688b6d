// The values of a map's keys while it is built, by the hash of each key, in memory: at most 32 bytes for each
// key given. SnapshotBuilder takes them shard by shard.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/worker/base/bytes.hpp"
#include "core/worker/hash/key_hash.hpp"
#include "core/worker/snapshot/layout.hpp"

namespace keysieve {

// Call add() (each thread with its own number), then one of the finish functions, once; then any thread may
// call the rest.
class MapValues {
 public:
  explicit MapValues(unsigned threads) : given_(threads) {}

  // `value`: of the key with that hash; or, before finish_members(), the sets that it is in, as bits. Throws
  // std::bad_alloc.
  void add(unsigned thread, KeyHash hash, std::uint64_t value) {
    given_[thread].entries.push_back({hash, value});
  }

  // A key that was given two values.
  struct Conflict {
    KeyHash hash;
    std::uint64_t first;
    std::uint64_t second;
  };
  // Returns the conflict of the least hash, if there is one; then the values must not be used.
  [[nodiscard]] std::optional<Conflict> finish_values();

  // Makes the value of each key the number of its combination of sets, and returns the combinations, in
  // ascending order.
  [[nodiscard]] std::vector<std::uint64_t> finish_members();

  // Bits that the largest value needs, at least 1.
  [[nodiscard]] std::uint8_t value_bits() const noexcept;

  // Those of the least hash in each of kValueSample stretches of hashes. Requires finish_values().
  void take_sample(SnapshotHeader& header) const;

  // The values of some keys; `hashes` in ascending order. Throws Usage if one was not added.
  void copy(std::span<const KeyHash> hashes, std::vector<std::uint32_t>& values) const;

 private:
  struct Entry {
    KeyHash hash;
    std::uint64_t value;
  };

  struct alignas(64) Part {  // so that no two threads write to one cache line
    std::vector<Entry> entries;
  };

  void sort();

  std::vector<Part> given_;     // by thread
  std::vector<Entry> entries_;  // in order of their hashes
};

// The table of members of a map that says which sets a key is in.
struct MapMembers {
  std::vector<std::string> names;           // in ascending order
  std::vector<std::uint64_t> combinations;  // as finish_members() returns them

  [[nodiscard]] std::uint64_t table_bytes() const noexcept;
  // Writes that many bytes.
  void write_table(MutableBytes table) const noexcept;
};

// What makes a set a map; empty for a set that is none.
struct MapContents {
  const MapValues* values = nullptr;
  const MapMembers* members = nullptr;
  [[nodiscard]] std::uint64_t member_bytes() const noexcept {
    return members == nullptr ? 0 : members->table_bytes();
  }
};

}  // namespace keysieve
