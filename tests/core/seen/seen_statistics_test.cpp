// Measured against theoretical rate and estimated number of keys, with two million absent keys.
//
// Bounds. Q absent keys measure a rate p with the binomial's standard deviation sigma = sqrt(p (1 - p) / Q).
//   measured <= 1.05 * theoretical + 4 sigma
//   measured <= 1.05 * theoretical               where sigma is below 1.5 % of p: at the capacity and beyond
//   |estimated - number| <= 1 % of the number
#include "tests/core/seen/measured_rates.hpp"

namespace keysieve {
namespace {

constexpr std::uint64_t kCapacity = 1'000'000;
constexpr std::uint64_t kAbsentKeys = 2'000'000;

class SeenStatistics : public test::SeenSets, public ::testing::WithParamInterface<double> {};

TEST_P(SeenStatistics, AgreeWithTheory) {
  const double rate = GetParam();
  SeenWriter writer = this->writer();
  writer.create(kSeed, OnUnavailable::Throw);
  SeenReader reader = this->reader();
  for (const test::MeasuredRate& at : test::measure_rates(writer, reader, kCapacity, rate, kAbsentKeys)) {
    SCOPED_TRACE("at " + std::to_string(at.fill * 100) + " % of the capacity");
    EXPECT_LE(at.measured, 1.05 * at.theory + 4 * at.sigma);
    EXPECT_GE(at.measured, 0.95 * at.theory - 4 * at.sigma);
    if (at.sigma < 0.015 * at.theory) {
      EXPECT_LE(at.measured, 1.05 * at.theory);
    }
    EXPECT_LE(at.theory, rate);
    EXPECT_NEAR(at.keys, at.fill * static_cast<double>(kCapacity),
                0.01 * at.fill * static_cast<double>(kCapacity));
    EXPECT_NEAR(at.bits, at.theory, 0.2 * at.theory) << "from 256 shards";
    EXPECT_EQ(at.filters, at.fill > 1 ? 2U : 1U);
    RecordProperty("measured_to_theoretical_at_" + std::to_string(static_cast<int>(at.fill * 100)),
                   std::to_string(at.measured / at.theory));
  }
}

INSTANTIATE_TEST_SUITE_P(Rates, SeenStatistics, ::testing::Values(1e-2, 1e-3, 1e-4, 1e-5));

}  // namespace
}  // namespace keysieve
