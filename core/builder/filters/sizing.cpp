#include "core/builder/filters/sizing.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>

#include "core/builder/filters/retrieval.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

// Also shows very small values, which std::to_string() does not: 1e-9.
std::string text_of(double value) {
  std::ostringstream text;
  text << value;
  std::string digits = text.str();
  if (const auto padding = digits.find("e-0"); padding != std::string::npos) digits.erase(padding + 2, 1);
  return digits;
}

void check(const SizingRequest& request) {
  if (!(request.target_fpr >= kMinFpr && request.target_fpr <= kMaxFpr)) {
    throw Error(ErrorKind::Usage,
                "target FPR " + text_of(request.target_fpr) + " is out of range: 1e-9 to 0.5");
  }
  if (!(request.growth >= 1.0 && request.growth <= kMaxGrowth)) {
    throw Error(ErrorKind::Usage, "growth " + text_of(request.growth) + " is out of range: 1 to 100");
  }
  if (request.value_bits > kMaxValueBits) {
    throw Error(ErrorKind::Usage,
                "values of " + std::to_string(request.value_bits) + " bits are out of range: 1 to 32");
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

// By chance, one map in 20,000 of the most and smallest shards has one with more keys than seven standard
// deviations above the mean, by the Poisson distribution of the keys: such a map cannot be built.
constexpr double kSigmasOfValues = 7.0;
constexpr double kSigmasOfGrownValues = 6.0;  // so that a map may grow a little in the shards that it has

// The most keys per shard, on average, so that few shards have more than `capacity`.
double keys_per_shard_within(double capacity, double sigmas) {
  const double root = std::sqrt(capacity + sigmas * sigmas / 4.0) - sigmas / 2.0;
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

namespace {

struct Load {
  FilterParams params;
  double keys = 0.0;  // per shard, on average
};

// The most keys in a filter of that many bytes.
Load fullest_filter(const FilterKind& kind, const SizingRequest& request, double target_fpr) {
  Load best{{.shard_bytes = request.shard_bytes, .value_bits = request.value_bits}};
  for (const std::uint8_t k : kind.hash_counts) {
    const FilterParams params{
        .shard_bytes = request.shard_bytes, .hash_count = k, .value_bits = request.value_bits};
    const double to_beat = best.keys * kRoundingSlack;
    if (!meets_target(kind, params, to_beat, target_fpr)) continue;
    double keys = most_keys_per_shard(kind, params, target_fpr, to_beat);
    if (request.value_bits != 0)
      keys = std::min(keys, keys_per_shard_within(kind.value_capacity(params), kSigmasOfValues));
    if (keys > best.keys) best = {params, keys};
  }
  return best;
}

// Bytes of a second level for shards of that many keys and known-absent keys on average. Filters with more
// keys than the mean let more known-absent keys pass, hence the slope.
std::uint32_t retrieval_bytes_of(const FilterKind& kind, const FilterParams& params, double keys,
                                 double known_absent) {
  constexpr double kSigmas = 5.5;  // one shard in 50 million has more, and there are slots to spare
  constexpr double kSpan = 4.0;    // in standard deviations of the keys
  const double fpr = kind.theoretical_fpr(params, keys);
  const double span = kSpan * std::sqrt(keys) + 1.0;
  const double slope = known_absent * (kind.theoretical_fpr(params, keys + span) - fpr) / span;
  const double passing = known_absent * fpr;
  const double deviation = std::sqrt(keys * (1.0 + slope) * (1.0 + slope) + passing);
  return retrieval_bytes_for(kind, keys + passing + kSigmas * deviation);
}

bool is_sensible(const FilterKind& kind, const SizingRequest& request, double fpr) {
  if (fpr >= kMinFprOfEveryKind) return true;
  const auto counts = kind.hash_counts;
  return std::any_of(counts.begin(), counts.end(), [&](std::uint8_t k) {
    return meets_target(
        kind, {.shard_bytes = request.shard_bytes, .hash_count = k, .value_bits = request.value_bits},
        8.0 * request.shard_bytes / (kMostSensibleBits + request.value_bits), fpr);
  });
}

// Whether the kind reaches that target, which then is not refused because the hashes take a share of it.
bool reaches(const FilterKind& kind, const SizingRequest& request, double target_fpr) {
  return is_sensible(kind, request, request.known_absent == 0 ? target_fpr : 2.0 * target_fpr);
}

// The FPR that is left for the filter: an unknown key that passes it has either bit of the second level.
// Never less than half of it: a set in which the hashes take more has too many shards.
double filter_target(const SizingRequest& request) {
  const double same_hash = same_hash_fpr(static_cast<double>(request.keys) * request.growth);
  const double rest = std::fmax(request.target_fpr - same_hash, request.target_fpr / 2.0);
  return request.known_absent == 0 ? rest : std::fmin(2.0 * rest, kMaxFpr);
}

[[noreturn]] void refuse_target(const FilterKind& kind, const SizingRequest& request) {
  const std::string others = kind_names([&request](const FilterKind& other) {
    return other.is_usual && reaches(other, request, request.target_fpr);
  });
  throw Error(ErrorKind::Usage, std::string(kind.name) + " cannot reach a target FPR of " +
                                    text_of(request.target_fpr) + ": its lowest in shards of " +
                                    std::to_string(request.shard_bytes) + " bytes is " +
                                    text_of(lowest_target(kind, request)) + "; these can: " + others);
}

// All keys of a request, spread over shards.
struct Spread {
  Load load;
  double shards = 0.0;

  [[nodiscard]] double bytes() const { return shards * load.params.stride(); }
};

double all_keys_of(const SizingRequest& request) {
  return static_cast<double>(request.keys) * request.growth;
}

Spread spread(const Load& load, const SizingRequest& request) {
  return {load, std::fmax(1.0, std::ceil(all_keys_of(request) / load.keys))};
}

// Tries lower and lower FPR of the filter, until few known-absent keys pass it.
Spread smallest_with_known_absent(const FilterKind& kind, const SizingRequest& request) {
  constexpr double kStep = 0.9;
  constexpr double kFew = 0.02;  // of the keys: fewer do not pay
  const double keys = all_keys_of(request);
  const auto known_absent = static_cast<double>(request.known_absent);
  Spread best;
  for (double fpr = filter_target(request); fpr >= kMinFpr; fpr *= kStep) {
    if (best.shards != 0.0 && !is_sensible(kind, request, fpr)) break;
    Spread next = spread(fullest_filter(kind, request, fpr), request);
    FilterParams& params = next.load.params;
    params.retrieval_bytes = retrieval_bytes_of(kind, params, keys / next.shards, known_absent / next.shards);
    const bool fits = params.stride() <= kMaxShardBytes;
    if (fits && (best.shards == 0.0 || next.bytes() < best.bytes())) best = next;
    if (fits && fpr * known_absent < kFew * keys) break;
  }
  if (best.shards == 0.0) {
    throw Error(ErrorKind::Usage, "shards of " + std::to_string(request.shard_bytes) +
                                      " bytes leave no room for known-absent keys within " +
                                      std::to_string(kMaxShardBytes) +
                                      " bytes; take smaller shards, or a shorter list");
  }
  return best;
}

}  // namespace

std::uint32_t retrieval_bytes_for(const FilterKind& kind, double keys) noexcept {
  return (retrieval_bytes_for(keys) + kind.shard_alignment - 1) / kind.shard_alignment * kind.shard_alignment;
}

bool reaches_target(const FilterKind& kind, const SizingRequest& request) {
  check(request);
  return reaches(kind, request, request.target_fpr);
}

double lowest_target(const FilterKind& kind, const SizingRequest& request) {
  if (reaches(kind, request, kMinFpr)) return kMinFpr;
  double low = kMinFpr;
  double high = kMinFprOfEveryKind;
  while (high > low * 1.001) {
    const double middle = std::sqrt(low * high);
    (reaches(kind, request, middle) ? high : low) = middle;
  }
  const double unit = std::pow(10.0, std::floor(std::log10(high)) - 1.0);
  return std::fmin(std::ceil(high / unit) * unit, kMinFprOfEveryKind);
}

Geometry size_filter(const FilterKind& kind, const SizingRequest& request) {
  if (!reaches_target(kind, request)) refuse_target(kind, request);
  const Spread fit = request.known_absent == 0
                         ? spread(fullest_filter(kind, request, filter_target(request)), request)
                         : smallest_with_known_absent(kind, request);
  if (!(fit.shards <= kMaxShards)) {
    throw Error(ErrorKind::Usage, std::to_string(request.keys) + " keys need more than " +
                                      std::to_string(kMaxShards) + " shards of " +
                                      std::to_string(request.shard_bytes) + " bytes, the most of one set");
  }
  return {&kind, fit.load.params, static_cast<std::uint32_t>(fit.shards)};
}

double same_hash_fpr(double keys) noexcept {
  const double fpr = std::ldexp(keys, -64);
  return fpr < kMinFpr / 1000 ? 0.0 : fpr;
}

double theoretical_fpr(const Geometry& geometry, double keys) {
  const double fpr = geometry.kind->theoretical_fpr(geometry.params, keys / geometry.shard_count);
  return (geometry.params.retrieval_bytes == 0 ? fpr : fpr / 2.0) + same_hash_fpr(keys);
}

bool give_room(Geometry& geometry, double keys, double known_absent) {
  std::uint32_t& bytes = geometry.params.retrieval_bytes;
  if (geometry.params.value_bits != 0) {
    const double capacity = geometry.kind->value_capacity(geometry.params);
    if (keys / geometry.shard_count > keys_per_shard_within(capacity, kSigmasOfGrownValues)) return false;
  }
  if (known_absent == 0.0) {
    bytes = 0;
    return true;
  }
  const double shards = geometry.shard_count;
  bytes = std::max(bytes,
                   retrieval_bytes_of(*geometry.kind, geometry.params, keys / shards, known_absent / shards));
  return geometry.params.stride() <= kMaxShardBytes;
}

}  // namespace keysieve
