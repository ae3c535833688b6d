#include "core/builder/filters/sizing.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <sstream>

#include "core/builder/filters/expectation.hpp"
#include "core/worker/base/error.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

constexpr std::array kTargets{0.5, 0.01, 0.001, 0.0001, 1e-6};
constexpr std::array<std::uint64_t, 4> kKeyCounts{1, 1'000, 80'000, 10'000'000};

TEST(Sizing, MeetsTheTargetWithTheFewestShards) {
  for (const FilterKind& kind : filter_kinds()) {
    for (const double target : kTargets) {
      for (const std::uint64_t keys : kKeyCounts) {
        Geometry geometry = size_filter(kind, {.keys = keys, .target_fpr = target});
        EXPECT_LE(theoretical_fpr(geometry, static_cast<double>(keys)), target * (1 + 1e-9))
            << kind.name << " " << target << " " << keys;
        if (geometry.shard_count == 1) continue;
        --geometry.shard_count;
        EXPECT_GT(theoretical_fpr(geometry, static_cast<double>(keys)), target)
            << kind.name << " " << target << " " << keys;
      }
    }
  }
}

TEST(Sizing, ReachesTheLowestTargetOfEachKindAtASensibleSizeAndRefusesALowerOne) {
  for (const FilterKind& kind : filter_kinds()) {
    for (const std::uint32_t shard_bytes : {1024U, 2048U, 4096U, 8192U}) {
      const double lowest = lowest_target(kind, {.shard_bytes = shard_bytes});
      for (const double target : {lowest, std::sqrt(lowest * kMinFprOfEveryKind)}) {
        const SizingRequest request{.keys = 1'000'000, .target_fpr = target, .shard_bytes = shard_bytes};
        const Geometry geometry = size_filter(kind, request);
        EXPECT_LE(theoretical_fpr(geometry, 1e6), target * (1 + 1e-9)) << kind.name << " " << shard_bytes;
        EXPECT_LE(8.0 * static_cast<double>(geometry.bytes()) / 1e6, 65.0) << kind.name << " " << shard_bytes;
        EXPECT_TRUE(kind.takes_hash_count(geometry.params.hash_count)) << kind.name << " " << shard_bytes;
      }
      // The hashes of many keys take a share of the target, which is no reason to refuse it.
      for (const std::uint64_t keys : {1'000ULL, 50'000'000ULL, 500'000'000ULL}) {
        if (keys > 50'000'000 && shard_bytes < 8192) continue;
        const Geometry geometry =
            size_filter(kind, {.keys = keys, .target_fpr = lowest, .shard_bytes = shard_bytes});
        EXPECT_LE(theoretical_fpr(geometry, static_cast<double>(keys)), lowest * (1 + 1e-9)) << kind.name;
      }
      const SizingRequest lower{.keys = 1'000'000, .target_fpr = kMinFpr, .shard_bytes = shard_bytes};
      EXPECT_EQ(reaches_target(kind, lower), lowest == kMinFpr) << kind.name << " " << shard_bytes;
      if (lowest == kMinFpr) continue;
      EXPECT_EQ(test::failure_of([&] { size_filter(kind, lower); }), ErrorKind::Usage);
    }
  }
}

double bits_per_key(const FilterKind& kind, double target_fpr, std::uint32_t shard_bytes) {
  constexpr std::uint64_t kKeys = 10'000'000;
  const SizingRequest request{.keys = kKeys, .target_fpr = target_fpr, .shard_bytes = shard_bytes};
  return 8.0 * static_cast<double>(size_filter(kind, request).bytes()) / kKeys;
}

// A row of the table in docs/filters.md.
std::string sizes_of(const FilterKind& kind) {
  std::ostringstream row;
  row << "| `" << kind.name << "` | " << std::fixed << std::setprecision(1);
  for (const double target : {0.01, 0.001}) row << bits_per_key(kind, target, kDefaultShardBytes) << " | ";
  const double lowest = lowest_target(kind, {});
  row << std::defaultfloat << std::setprecision(2) << lowest << std::fixed << std::setprecision(1);
  for (const std::uint32_t shard_bytes : {1024U, 2048U, 4096U, 8192U}) {
    EXPECT_EQ(lowest_target(kind, {.shard_bytes = shard_bytes}), lowest) << kind.name;
    row << " | " << bits_per_key(kind, lowest, shard_bytes);
  }
  std::string text = row.str() + " |\n";
  if (const std::size_t padding = text.find("e-0"); padding != std::string::npos) text.erase(padding + 2, 1);
  return text;
}

TEST(Sizing, NeedsTheDocumentedBitsPerKey) {
  std::ifstream file(KEYSIEVE_SOURCES "/docs/filters.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  for (const FilterKind& kind : filter_kinds()) {
    const std::string row = sizes_of(kind);
    EXPECT_NE(page.find(row), std::string::npos) << "docs/filters.md lacks " << row;
  }
}

// The filter of a set with known-absent keys may have twice the target.
TEST(Sizing, ReachesLowTargetsWithKnownAbsentKeys) {
  for (const FilterKind& kind : filter_kinds()) {
    for (const std::uint32_t shard_bytes : {1024U, 4096U}) {
      for (const std::uint64_t known_absent : {1ULL, 1'000'000ULL}) {
        const double target = lowest_target(kind, {.shard_bytes = shard_bytes});
        const Geometry geometry = size_filter(kind, {.keys = 100'000,
                                                     .target_fpr = target,
                                                     .growth = 2.0,
                                                     .shard_bytes = shard_bytes,
                                                     .known_absent = known_absent});
        EXPECT_LE(theoretical_fpr(geometry, 200'000), target * (1 + 1e-9)) << kind.name;
        EXPECT_GT(geometry.params.retrieval_bytes, 0U);
        EXPECT_LE(geometry.params.stride(), kMaxShardBytes);
      }
    }
  }
}

TEST(Sizing, HalvesTheLowestTargetWithKnownAbsentKeys) {
  const FilterKind& kind = filter_kind_named("split_block_bloom");
  const SizingRequest request{.keys = 1'000, .target_fpr = 4e-7, .known_absent = 1'000};
  EXPECT_DOUBLE_EQ(lowest_target(kind, request), 5.1e-7);
  EXPECT_EQ(test::failure_of([&] { size_filter(kind, request); }), ErrorKind::Usage);
}

TEST(Sizing, LeavesRoomForKeysWithTheSameHash) {
  EXPECT_EQ(same_hash_fpr(18e6), 0.0) << "does not matter, and small sets stay as they are";
  EXPECT_NEAR(same_hash_fpr(1e9), 5.42e-11, 1e-13);
  const FilterKind& kind = filter_kind_named("ribbon");
  const Geometry geometry =
      size_filter(kind, {.keys = 1'000'000'000, .target_fpr = 1e-9, .shard_bytes = 8192});
  const double filter = kind.theoretical_fpr(geometry.params, 1e9 / geometry.shard_count);
  EXPECT_NEAR(filter, 1e-9 - 5.42e-11, 1e-12);
  EXPECT_NEAR(theoretical_fpr(geometry, 1e9), 1e-9, 1e-13);
}

TEST(Sizing, LeavesRoomForGrowth) {
  for (const FilterKind& kind : filter_kinds()) {
    const Geometry grown = size_filter(kind, {.keys = 50'000, .growth = 2.0});
    const Geometry twice = size_filter(kind, {.keys = 100'000});
    EXPECT_EQ(grown.shard_count, twice.shard_count);
    EXPECT_EQ(grown.params.hash_count, twice.params.hash_count);
  }
}

TEST(Sizing, RefusesWhatIsOutOfRange) {
  const auto expect_refused = [](const SizingRequest& request) {
    EXPECT_EQ(test::failure_of([&] { size_filter(filter_kind_named(kDefaultKindName), request); }),
              ErrorKind::Usage);
  };
  for (const double fpr : {0.0, -0.01, 9e-10, 0.51, 1.0, std::nan(""), HUGE_VAL})
    expect_refused({.keys = 1, .target_fpr = fpr});
  for (const double growth : {0.0, 0.99, 100.1, -1.0, std::nan(""), HUGE_VAL})
    expect_refused({.keys = 1, .growth = growth});
  for (const std::uint32_t bytes : {0U, 512U, 3000U, 16384U, UINT32_MAX})
    expect_refused({.keys = 1, .shard_bytes = bytes});
  expect_refused({.keys = 1, .value_bits = 33});
  expect_refused({.keys = UINT64_MAX});
}

TEST(Expectation, AveragesOverThePoissonDistribution) {
  const auto identity = [](double n) { return n; };
  for (const double mean : {0.001, 1.0, 40.0, 30'000.0}) {
    EXPECT_NEAR(poisson_mean(mean, identity), mean, mean * 1e-6);
    const double second = poisson_mean(mean, [](double n) { return n * n; });
    EXPECT_NEAR(second - mean * mean, mean, mean * 1e-3);
  }
  EXPECT_EQ(poisson_mean(0.0, [](double n) { return n + 3.0; }), 3.0);
}

TEST(Expectation, AveragesSmoothFunctionsInSteps) {
  const auto f = [](double keys) { return chance_all_set(32'768, keys * 7, 7); };
  for (const double mean : {0.0, 0.5, 30.0, 64.0, 100.0, 3'400.0, 30'000.0}) {
    const double exact = poisson_mean(mean, f);
    EXPECT_NEAR(smooth_poisson_mean(mean, f), exact, exact * 1e-10) << mean;
  }
}

TEST(Expectation, ComputesTheChanceThatAllProbedBitsAreSet) {
  EXPECT_EQ(chance_all_set(512, 0, 3), 0.0);
  EXPECT_NEAR(chance_all_set(512, 1e6, 8), 1.0, 1e-9);
  EXPECT_NEAR(chance_all_set(512, 300, 1), 1.0 - std::pow(1.0 - 1.0 / 512, 300), 1e-12);
}

// 2 throws into 2 bits: both bits in half of the cases, so two probes succeed with 1/2 + 1/2 * 1/4.
TEST(Expectation, AccountsForVaryingOccupancy) {
  EXPECT_NEAR(chance_all_set(2, 2, 2), 0.625, 1e-12);
}

}  // namespace
}  // namespace keysieve
