#include "core/filters/sizing.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "core/base/error.hpp"

namespace keysieve {
namespace {

// Also shows very small values, which std::to_string() does not.
std::string text_of(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

void check(const SizingRequest& request) {
  if (!(request.target_fpr >= kMinFpr && request.target_fpr <= kMaxFpr)) {
    throw Error(ErrorKind::Usage,
                "target FPR " + text_of(request.target_fpr) + " is out of range: 0.000001 to 0.5");
  }
  if (!(request.growth >= 1.0 && request.growth <= kMaxGrowth)) {
    throw Error(ErrorKind::Usage, "growth " + text_of(request.growth) + " is out of range: 1 to 100");
  }
  if (!is_shard_bytes(request.shard_bytes)) {
    throw Error(ErrorKind::Usage, "shard size " + std::to_string(request.shard_bytes) +
                                      " bytes is out of range: 1024, 2048, 4096 or 8192");
  }
}

// Rounding must not decide where an FPR is constant over a range of loads.
constexpr double kRoundingSlack = 1.0 + 1e-9;

bool meets_target(const FilterKind& kind, const FilterParams& params, double keys_per_shard,
                  double target_fpr) {
  return kind.theoretical_fpr(params, keys_per_shard) <= target_fpr * kRoundingSlack;
}

// The most keys per shard, on average, that leave room for the keys that are added: one shard in 3.5 million
// is filled by chance to more than five standard deviations above the mean.
double keys_per_shard_within(double capacity) {
  constexpr double kSigmas = 5.0;
  const double root = std::sqrt(capacity + kSigmas * kSigmas / 4.0) - kSigmas / 2.0;
  return root * root;
}

}  // namespace

// The FPR only rises with the load, so halve the interval.
double most_keys_per_shard(const FilterKind& kind, const FilterParams& params, double target_fpr,
                           double low) {
  double high = 8.0 * params.shard_bytes;
  for (int step = 0; step < 40; ++step) {
    const double middle = (low + high) / 2;
    (meets_target(kind, params, middle, target_fpr) ? low : high) = middle;
  }
  return low;
}

Geometry size_filter(const FilterKind& kind, const SizingRequest& request) {
  check(request);
  FilterParams best{.shard_bytes = request.shard_bytes};
  double most_keys = 0.0;
  for (const std::uint8_t k : kind.hash_counts()) {
    const FilterParams params{.shard_bytes = request.shard_bytes, .hash_count = k};
    const double to_beat = most_keys * kRoundingSlack;
    if (!meets_target(kind, params, to_beat, request.target_fpr)) continue;
    double keys = most_keys_per_shard(kind, params, request.target_fpr, to_beat);
    if (request.growth > 1.0 && kind.capacity != nullptr) {
      keys = std::min(keys, keys_per_shard_within(kind.capacity(params)));
    }
    if (keys > most_keys) {
      most_keys = keys;
      best = params;
    }
  }
  const double shards = std::ceil(static_cast<double>(request.keys) * request.growth / most_keys);
  if (!(shards <= kMaxShards)) {
    throw Error(ErrorKind::Usage, std::to_string(request.keys) + " keys need more than " +
                                      std::to_string(kMaxShards) + " shards of " +
                                      std::to_string(request.shard_bytes) + " bytes, the most of one set");
  }
  return {&kind, best, shards < 1.0 ? 1U : static_cast<std::uint32_t>(shards)};
}

double theoretical_fpr(const Geometry& geometry, double keys) {
  return geometry.kind->theoretical_fpr(geometry.params, keys / geometry.shard_count);
}

}  // namespace keysieve
