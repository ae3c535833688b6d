#include <filesystem>

#include "core/worker/shm/set_reader.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"
#include "tools/loader/adds/layer_filler.hpp"

namespace keysieve::test {
namespace {

class SetRefresherLayer : public SetRefresherTest {
 protected:
  // Share of 200,000 keys that were never added, but are answered with maybe.
  [[nodiscard]] double measured_fpr() const {
    SetReader reader({.directory = site_.directory()}, "tags");
    const Attachment* attached = reader.follow();
    if (!attached) return 1;
    constexpr int kProbes = 200'000;
    int maybe = 0;
    for (int i = 0; i < kProbes; ++i) {
      if (attached->may_contain(attached->snapshot().hasher()("other-" + std::to_string(i)))) ++maybe;
    }
    return static_cast<double>(maybe) / kProbes;
  }
  [[nodiscard]] LivePublication live() const { return site_.live("tags").value(); }
};

TEST_F(SetRefresherLayer, IsEnlargedWhenItIsTooFull) {
  go_live(first_keys(20000));
  for (int count = 1000; count <= 64000; count *= 2) {
    const LivePublication before = live();
    site_.add("tags", {100'000, count});
    EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
    EXPECT_TRUE(site_.knows("tags", first_keys(20000))) << count;
    EXPECT_TRUE(site_.knows("tags", {100'000, count})) << count;
    EXPECT_EQ(live().generation, 1U);
    EXPECT_EQ(live().build_id, before.build_id);
    if (live().id == before.id) {
      EXPECT_EQ(live().layer, before.layer) << count;
    } else {
      EXPECT_GE(live().layer.shard_count, 2 * before.layer.shard_count) << count;
    }
    EXPECT_LE(measured_fpr(), 1.1 * (before.estimated_fpr + 0.0025)) << count;
  }
  EXPECT_GE(live().layer.shard_count, 16U);
}

TEST_F(SetRefresherLayer, KeepsTheSetWithinItsLargestFpr) {
  site_.push("tags", first_keys(20000));
  refresh();
  set_.guards.max_fpr = live().estimated_fpr + 0.0005;
  start();
  site_.add("tags", {100'000, 30000});
  EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  EXPECT_TRUE(site_.knows("tags", {100'000, 30000}));
  EXPECT_LE(measured_fpr(), 1.05 * *set_.guards.max_fpr);
}

// The same key again and again takes no room.
TEST_F(SetRefresherLayer, StaysAsItIsForKeysThatAreThereAlready) {
  go_live(first_keys(20000));
  for (int i = 0; i < 20; ++i) site_.add("tags", {100'000, 1000});
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(live().id.publication, 1U);
  site_.push("tags", first_keys(20001));
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(live().layer.shard_count, 1U);
}

TEST_F(SetRefresherLayer, IsEnlargedFromWhatWasReceivedWhenTheLogIsLost) {
  go_live(first_keys(20000));
  site_.add("tags", {100'000, 2000});
  refresh();
  std::filesystem::remove(site_.root() / "store/.log-keysieve:tags:adds");
  site_.add("tags", {200'000, 5000});
  EXPECT_EQ(trouble(), Trouble::AddsLost);
  EXPECT_GT(live().id.publication, 1U);
  EXPECT_TRUE(site_.holds("tags", {100'000, 2000}));
  EXPECT_TRUE(site_.holds("tags", {200'000, 5000}));
}

TEST_F(SetRefresherLayer, IsEnlargedWhileTheStoreIsAwayAgain) {
  go_live(first_keys(20000));
  site_.add("tags", {100'000, 20000});
  loader_.max_total_bytes = live().bytes + 20000;  // no room for another publication
  start();
  EXPECT_EQ(refresh().exit_status, 73);
  EXPECT_TRUE(site_.knows("tags", {100'000, 20000}));
  EXPECT_EQ(live().id.publication, 1U);
  loader_.max_total_bytes = 0;
  site_.remove_store();
  start();
  EXPECT_EQ(trouble(), Trouble::StoreUnreachable);
  EXPECT_EQ(live().id.publication, 2U);
  EXPECT_TRUE(site_.knows("tags", {100'000, 20000}));
}

// Neither the log nor the cache has the keys of the layer: only the layer holds them.
TEST_F(SetRefresherLayer, IsNotReplacedByOneThatHoldsLess) {
  go_live(first_keys(20000));
  site_.add("tags", {100'000, 2000});
  refresh();
  std::filesystem::remove(site_.root() / "store/.log-keysieve:tags:adds");
  std::filesystem::remove(site_.cache() + "/tags.adds");
  start();
  site_.add("tags", {200'000, 1500});
  EXPECT_EQ(trouble(), Trouble::CannotPublish);
  EXPECT_EQ(live().id.publication, 1U);
  EXPECT_TRUE(site_.holds("tags", {100'000, 2000}));
  EXPECT_TRUE(site_.holds("tags", {200'000, 1500}));
}

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
