// How evenly the keys of a snapshot are spread over its shards, for the status page.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/worker/shm/attachment.hpp"

namespace keysieve {

struct ShardDistribution {
  static constexpr std::size_t kFewestBins = 12;
  static constexpr std::size_t kMostBins = 32;
  enum class Measure { FillRatio, KeysPerShard };

  Measure measure = Measure::FillRatio;  // keys per shard where the kind has no fill ratio
  double lowest = 0;
  double highest = 0;
  double mean = 0;
  std::uint64_t shard_count = 0;
  std::vector<std::uint64_t> bins;  // how many shards, in bins of equal width from lowest to highest
};

// Reads all shards.
ShardDistribution shard_distribution(const SnapshotView& snapshot);

// Keeps the distribution of the last publication, so that each is read once.
class KnownDistribution {
 public:
  std::shared_ptr<const ShardDistribution> of(const Attachment& attachment);

 private:
  PublicationId id_{};
  std::shared_ptr<const ShardDistribution> distribution_;
};

}  // namespace keysieve
