// Turns keys, FPR and growth into the geometry of a set: parameters of the kind and number of shards. Used by
// the builder and by `keysieve plan`.
#pragma once

#include <cstdint>

#include "core/builder/filters/filter_kind.hpp"

namespace keysieve {

// Kinds that would need more than kMostSensibleBits bits per key for a target refuse it, but every kind takes
// kMinFprOfEveryKind or more.
inline constexpr double kMinFprOfEveryKind = 1e-6;
inline constexpr double kMostSensibleBits = 64;  // a list of the keys' hashes has no more
inline constexpr double kMaxGrowth = 100.0;

struct SizingRequest {
  std::uint64_t keys = 0;
  double target_fpr = 0.01;                        // at `keys * growth` keys; kMinFpr to kMaxFpr
  double growth = 1.0;                             // room for this many times the keys; 1 to kMaxGrowth
  std::uint32_t shard_bytes = kDefaultShardBytes;  // 1024, 2048, 4096 or 8192
  // If not 0, the target is that of unknown keys, and shards get a second level.
  std::uint64_t known_absent = 0;
  std::uint8_t value_bits = 0;  // of each key in a map; the kind must be able to have values
};

struct Geometry {
  const FilterKind* kind = nullptr;
  FilterParams params;
  std::uint32_t shard_count = 0;

  [[nodiscard]] std::uint64_t bytes() const noexcept { return std::uint64_t{shard_count} * params.stride(); }
};

// The smallest geometry whose theoretical FPR meets the target. With known-absent keys the filter alone may
// have twice the target or less, whichever makes filter and second level smallest together. Throws Usage for
// a value out of range, or if the kind cannot reach the target.
Geometry size_filter(const FilterKind& kind, const SizingRequest& request);

// Whether filters of the kind can have the target FPR at a sensible size. Throws Usage as size_filter().
bool reaches_target(const FilterKind& kind, const SizingRequest& request);

// The lowest target that the kind reaches in shards of that size, with or without known-absent keys, rounded
// up to two digits.
double lowest_target(const FilterKind& kind, const SizingRequest& request);

// The most keys per shard, on average, that keep the theoretical FPR at the target; `low` is a number of keys
// that is known to keep it.
double most_keys_per_shard(const FilterKind& kind, const FilterParams& params, double target_fpr,
                           double low = 0.0);

// The part of the FPR of a set that no filter can avoid: an absent key has the same hash as one of the keys.
// 0 below a thousandth of kMinFpr, which are 18 million keys.
double same_hash_fpr(double keys) noexcept;

// The FPR that a geometry should have with that many keys, for a key that is neither in the set nor known to
// be absent.
double theoretical_fpr(const Geometry& geometry, double keys);

// Bytes of second levels of which the fullest has that many keys.
std::uint32_t retrieval_bytes_for(const FilterKind& kind, double keys) noexcept;

// Gives the second levels room for that many keys and known-absent keys, of which a random share passes the
// filters, or takes them away if there are none. Never makes them smaller otherwise. False if shards would be
// too large, or if a map would be too full for its values.
bool give_room(Geometry& geometry, double keys, double known_absent);

}  // namespace keysieve
