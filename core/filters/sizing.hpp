// Turns keys, FPR and growth into the geometry of a set: parameters of the kind and number of shards. Used by
// the builder and by `keysieve plan`.
#pragma once

#include <cstdint>

#include "core/filters/filter_kind.hpp"

namespace keysieve {

inline constexpr double kMinFpr = 1e-6;
inline constexpr double kMaxFpr = 0.5;
inline constexpr double kMaxGrowth = 100.0;

struct SizingRequest {
  std::uint64_t keys = 0;
  double target_fpr = 0.01;  // at `keys * growth` keys; kMinFpr to kMaxFpr
  double growth = 1.0;       // room for this many times the keys; 1 to kMaxGrowth
  std::uint32_t shard_bytes = kDefaultShardBytes;
};

struct Geometry {
  const FilterKind* kind = nullptr;
  FilterParams params;
  std::uint32_t shard_count = 0;

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return std::uint64_t{shard_count} * params.shard_bytes;
  }
};

// The smallest geometry whose theoretical FPR meets the target. Throws Usage for a value out of range.
Geometry size_filter(const FilterKind& kind, const SizingRequest& request);

// The most keys per shard, on average, that keep the theoretical FPR at the target; `low` is a number of keys
// that is known to keep it.
double most_keys_per_shard(const FilterKind& kind, const FilterParams& params, double target_fpr,
                           double low = 0.0);

// The FPR that a geometry should have with that many keys.
double theoretical_fpr(const Geometry& geometry, double keys);

}  // namespace keysieve
