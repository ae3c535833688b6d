// A set of a wanted size for lookup benchmarks: every shard is built by its kind from as many keys as it is
// sized for. Keys are numbers whose hash comes from a mixer, so that hundreds of millions can be made
// quickly.
#pragma once

#include <string_view>
#include <vector>

#include "core/builder/filters/sizing.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/snapshot/snapshot.hpp"

namespace keysieve {

// What one shard of a sample set has, as sized for very many keys.
struct SampleShard {
  const FilterKind* kind;
  FilterParams params;
  std::uint32_t keys;

  explicit SampleShard(const FilterKind& of, double target_fpr = 0.01);
};

class SampleSet {
 public:
  // `built_shards`: how many are built; the others are copies of them, and have no members.
  SampleSet(const SampleShard& shard, std::uint64_t bytes, std::uint32_t built_shards);

  [[nodiscard]] ShardArray array() const noexcept;
  [[nodiscard]] double bits_per_key() const noexcept;
  // Keys of the set, drawn at random.
  [[nodiscard]] std::vector<KeyHash> members(std::uint64_t count) const;

 private:
  void build(std::uint32_t first, std::uint32_t end);

  SampleShard shard_;
  std::uint32_t shard_count_;
  std::uint32_t built_shards_;
  SnapshotBytes shards_;
  std::vector<ShardEntry> entries_;
};

// Texts of kTextBytes bytes each that belong to no set, one after the other, and their hashes.
struct AbsentKeys {
  static constexpr std::size_t kTextBytes = 20;
  static constexpr HashSeed kSeed{20141119};

  explicit AbsentKeys(std::uint64_t count);

  [[nodiscard]] std::string_view text(std::size_t index) const noexcept {
    return {texts.data() + index * kTextBytes, kTextBytes};
  }
  [[nodiscard]] KeyHash hash(std::size_t index) const noexcept { return hasher(text(index)); }

  KeyHasher hasher{kSeed};
  std::vector<char> texts;
  std::vector<KeyHash> hashes;
};

}  // namespace keysieve
