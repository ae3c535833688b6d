// Measured against theoretical and estimated FPR, for every kind, shard size and three targets.
//
// Bounds. Q absent keys measure a rate p with the binomial's standard deviation sigma = sqrt(p (1 - p) / Q).
//   measured <= 1.05 * theoretical                    where sigma is below 2 % of p (optimised builds)
//   measured <= 1.05 * theoretical + 4 sigma          in sanitizer and debug builds, which ask 1/20 of the
//   keys |measured - estimated| <= 0.01 * estimated + 4 sigma
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <tuple>

#include "core/filters/sizing.hpp"
#include "tests/core/filters/built_shards.hpp"
#include "tests/core/kind_ids.hpp"

namespace keysieve {
namespace {

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr bool kFullSize = true;
#else
constexpr bool kFullSize = false;
#endif

constexpr std::uint64_t kKeys = kFullSize ? 1'000'000 : 200'000;
constexpr double kSigmas = 4.0;
constexpr double kTheoreticalSlack = 1.05;
constexpr double kEstimateSlack = 0.01;

// Enough for 3,000 false positives at the least: sigma is 1.8 % of the rate.
std::uint64_t query_count(double target_fpr) {
  const double queries = std::fmax(2e6, 4'000.0 / target_fpr);
  return static_cast<std::uint64_t>(kFullSize ? queries : queries / 20);
}

// 8-byte keys, so that hashing does not rule the time; members below kKeys, all others absent.
KeyHash hash_of(std::uint64_t number) {
  std::array<char, sizeof number> key;
  std::memcpy(key.data(), &number, sizeof number);
  return hash_key({key.data(), key.size()}, 20141119);
}

std::vector<KeyHash> members() {
  std::vector<KeyHash> hashes;
  for (std::uint64_t i = 0; i < kKeys; ++i) hashes.push_back(hash_of(i));
  return hashes;
}

double measured_fpr(const FilterKind& kind, const ShardArray& shards, std::uint64_t queries) {
  constexpr std::size_t kBatch = 1000;
  std::vector<KeyHash> hashes(kBatch);
  std::array<bool, kBatch> results{};
  std::uint64_t positives = 0;
  for (std::uint64_t asked = 0; asked < queries; asked += kBatch) {
    for (std::size_t i = 0; i < kBatch; ++i) hashes[i] = hash_of(kKeys + asked + i);
    kind.may_contain_many(shards, hashes, results.data());
    positives += static_cast<std::uint64_t>(std::count(results.begin(), results.end(), true));
  }
  return static_cast<double>(positives) / static_cast<double>(queries);
}

double estimated_fpr(const FilterKind& kind, const ShardArray& shards) {
  double sum = 0.0;
  for (std::uint32_t i = 0; i < shards.shard_count; ++i) {
    sum += kind.estimated_fpr(shards.shard_bytes(i), shards.params);
  }
  return sum / shards.shard_count;
}

class FalsePositiveRate : public ::testing::TestWithParam<std::tuple<std::uint8_t, std::uint32_t, double>> {};

TEST_P(FalsePositiveRate, IsWhatTheoryAndTheBytesSay) {
  const auto [id, shard_bytes, target] = GetParam();
  const FilterKind& kind = *find_filter_kind(id);
  const Geometry geometry =
      size_filter(kind, {.keys = kKeys, .target_fpr = target, .growth = 1.0, .shard_bytes = shard_bytes});
  const test::BuiltShards shards(kind, geometry.params, geometry.shard_count, members());
  const std::uint64_t queries = query_count(target);

  const double theoretical = theoretical_fpr(geometry, static_cast<double>(kKeys));
  const double estimated = estimated_fpr(kind, shards.array());
  const double measured = measured_fpr(kind, shards.array(), queries);

  const double sigma = std::sqrt(theoretical * (1.0 - theoretical) / static_cast<double>(queries));
  RecordProperty("measured_to_theoretical", std::to_string(measured / theoretical));
  RecordProperty("measured_to_estimated", std::to_string(measured / estimated));
  EXPECT_LE(measured, kTheoreticalSlack * theoretical + (kFullSize ? 0.0 : kSigmas * sigma))
      << "measured / theoretical = " << measured / theoretical;
  EXPECT_NEAR(measured, estimated, kEstimateSlack * estimated + kSigmas * sigma)
      << "measured / estimated = " << measured / estimated;
  EXPECT_LE(theoretical, target);
}

std::string instance_name(const ::testing::TestParamInfo<FalsePositiveRate::ParamType>& instance) {
  const auto& [id, shard_bytes, target] = instance.param;
  return std::string(find_filter_kind(id)->name) + "_" + std::to_string(shard_bytes) + "_one_in_" +
         std::to_string(std::lround(1.0 / target));
}

INSTANTIATE_TEST_SUITE_P(EveryKind, FalsePositiveRate,
                         ::testing::Combine(::testing::ValuesIn(test::all_kind_ids()),
                                            ::testing::Values(1024U, 2048U, 4096U, 8192U),
                                            ::testing::Values(0.01, 0.001, 0.0001)),
                         instance_name);

}  // namespace
}  // namespace keysieve
