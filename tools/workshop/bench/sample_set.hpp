// A set of a wanted size for lookup benchmarks: every shard is built by its kind from as many keys as it is
// sized for. Keys are numbers whose hash comes from a mixer, so that hundreds of millions can be made
// quickly.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string_view>
#include <thread>
#include <vector>

#include "core/builder/filters/sizing.hpp"
#include "core/builder/partition/shard_order.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/hash/key_hash.hpp"
#include "core/worker/snapshot/snapshot.hpp"

namespace keysieve {

// What one shard of a sample set has, as sized for very many keys.
struct SampleShard {
  static constexpr std::uint64_t kSizedKeys = 100'000'000;

  explicit SampleShard(const FilterKind& of, double target_fpr = 0.01) : kind(&of) {
    const Geometry geometry = size_filter(of, {.keys = kSizedKeys, .target_fpr = target_fpr});
    params = geometry.params;
    keys = static_cast<std::uint32_t>(kSizedKeys / geometry.shard_count);
  }

  const FilterKind* kind;
  FilterParams params;
  std::uint32_t keys;
};

class SampleSet {
 public:
  // `built_shards`: how many are built; the others are copies of them, and have no members.
  SampleSet(const SampleShard& shard, std::uint64_t bytes, std::uint32_t built_shards = UINT32_MAX)
      : shard_(shard),
        shard_count_(static_cast<std::uint32_t>(bytes / shard.params.stride())),
        built_shards_(std::min(built_shards, shard_count_)),
        shards_(bytes),
        entries_(shard_count_) {
    {
      const std::uint32_t half = built_shards_ / 2;
      const std::jthread other([this, half] { build(0, half); });
      build(half, built_shards_);
    }
    const std::uint32_t stride = shard.params.stride();
    for (std::uint32_t index = built_shards_; index < shard_count_; ++index) {
      const std::uint32_t model = index % built_shards_;
      entries_[index] = entries_[model];
      std::memcpy(shards_.get().data() + std::uint64_t{index} * stride, array().shard(model), stride);
    }
  }

  [[nodiscard]] ShardArray array() const noexcept {
    return {shards_.get().data(), entries_.data(), shard_count_, shard_.params};
  }
  [[nodiscard]] double bits_per_key() const noexcept {
    return 8.0 * static_cast<double>(shard_.params.stride() + sizeof(ShardEntry)) / shard_.keys;
  }
  // Keys of the set, drawn at random.
  [[nodiscard]] std::vector<KeyHash> members(std::uint64_t count) const {
    std::mt19937_64 random(count);
    std::vector<KeyHash> members(count);
    for (KeyHash& member : members) {
      const auto shard = static_cast<std::uint32_t>(random() % built_shards_);
      const auto key = static_cast<std::uint32_t>(random() % shard_.keys);
      member = sample_key(range_of_shards(shard, shard + 1, shard_count_), key);
    }
    return members;
  }

 private:
  static KeyHash sample_key(const HashRange& shard, std::uint32_t key) {
    const std::uint64_t random = fold((shard.first.word ^ key) ^ kA, 0x8EBC6AF09C88C6E3);  // also from wyhash
    return {shard.first.word + random % (shard.last.word - shard.first.word)};
  }

  void build(std::uint32_t first, std::uint32_t end) {
    const FilterParams& params = shard_.params;
    for (std::uint32_t index = first; index < end; ++index) {
      const HashRange range = range_of_shards(index, index + 1, shard_count_);
      std::vector<KeyHash> keys(shard_.keys);
      for (std::uint32_t i = 0; i < shard_.keys; ++i) keys[i] = sample_key(range, i);
      const MutableBytes bytes =
          shards_.get().subspan(std::uint64_t{index} * params.stride(), params.stride());
      shard_.kind->build(bytes, entries_[index], params, keys);
    }
  }

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

  explicit AbsentKeys(std::uint64_t count) : texts(count * kTextBytes) {
    hashes.reserve(count);
    char* next = texts.data();
    for (std::uint64_t i = 0; i < count; ++i, next += kTextBytes) {
      fmt::format_to(next, "absent-{:0>{}}", i, kTextBytes - std::strlen("absent-"));
      hashes.push_back(hash(i));
    }
  }

  [[nodiscard]] std::string_view text(std::size_t index) const noexcept {
    return {texts.data() + index * kTextBytes, kTextBytes};
  }
  [[nodiscard]] KeyHash hash(std::size_t index) const noexcept { return hasher(text(index)); }

  KeyHasher hasher{kSeed};
  std::vector<char> texts;
  std::vector<KeyHash> hashes;
};

}  // namespace keysieve
