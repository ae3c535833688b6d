#include "tools/loader/adds/layer_filler.hpp"

#include <gtest/gtest.h>

namespace keysieve::test {
namespace {

TEST(LayerLimit, IsAQuarterOfTheTargetWhereNothingIsConfigured) {
  EXPECT_DOUBLE_EQ(layer_fpr_limit(std::nullopt, 0.01, 0.009), 0.0025);
  EXPECT_DOUBLE_EQ(layer_fpr_limit(std::nullopt, 0.001, 0.002), 0.00025);
}

TEST(LayerLimit, IsWhatTheConfiguredLimitLeaves) {
  EXPECT_NEAR(layer_fpr_limit(0.012, 0.01, 0.009), 0.003, 1e-12);
}

TEST(LayerLimit, IsNeverSoHighThatHardlyAnyMemoryWouldBeSaved) {
  EXPECT_DOUBLE_EQ(layer_fpr_limit(0.5, 0.01, 0.009), kLargestLayerFpr);
  EXPECT_DOUBLE_EQ(layer_fpr_limit(std::nullopt, 0.5, 0.5), kLargestLayerFpr);
}

TEST(LayerLimit, IsNeverSoLowThatNoLayerCouldBeSizedForIt) {
  EXPECT_DOUBLE_EQ(layer_fpr_limit(0.01, 0.01, 0.01), kMinLayerFpr);
  EXPECT_DOUBLE_EQ(layer_fpr_limit(0.01, 0.01, 0.02), kMinLayerFpr);
  EXPECT_DOUBLE_EQ(layer_fpr_limit(std::nullopt, 1e-6, 1e-6), kMinLayerFpr);
  EXPECT_DOUBLE_EQ(layer_fpr_limit(std::nullopt, 1e-9, 1e-9), kMinLayerFpr) << "lower than any layer";
  EXPECT_DOUBLE_EQ(layer_fpr_limit(2e-9, 1e-9, 1e-9), kMinLayerFpr);
  EXPECT_EQ(layer_geometry_for(60, kMinLayerFpr).shard_count, 1U);
}

}  // namespace
}  // namespace keysieve::test
