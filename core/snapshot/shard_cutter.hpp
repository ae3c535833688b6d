// Cuts hashes that come in shard order, piece by piece, into those of each shard. Used by the builder, for
// shards and for counters.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "core/hash/key_hash.hpp"

namespace keysieve {

class ShardCutter {
 public:
  using OnShard = std::function<void(std::uint32_t shard, std::span<const KeyHash> keys)>;

  // Calls on_shard for the shards from `begin` to before `end`, in order, those without keys too.
  ShardCutter(std::uint32_t begin, std::uint32_t end, std::uint32_t shard_count, OnShard on_shard)
      : next_(begin), end_(end), shard_count_(shard_count), on_shard_(std::move(on_shard)) {}

  // Distinct hashes of these shards, all of them behind those of the call before.
  void feed(std::span<const KeyHash> hashes);
  // After the last piece.
  void finish();

 private:
  void pass_on(std::span<const KeyHash> keys);

  std::uint32_t next_;
  std::uint32_t end_;
  std::uint32_t shard_count_;
  OnShard on_shard_;
  std::vector<KeyHash> open_;  // of shard next_, of which more may come
};

}  // namespace keysieve
