#include <filesystem>

#include "tests/tools/loader/refresh/refresher_fixture.hpp"
#include "tools/transfer/rollback.hpp"

namespace keysieve::test {
namespace {

constexpr KeyRange kAddedBefore =
    added_keys(100);  // in the new generation's time held by its base: not so here
constexpr KeyRange kAddedAfter = later_keys(100);

class SetRefresherRollback : public SetRefresherTest {
 protected:
  // Generation 2 is live, which has twice as many keys as 1, and keys were added during both.
  SetRefresherRollback() {
    site_.push("tags", kKeys);
    refresh();
    site_.add("tags", kAddedBefore);
    refresh();
    site_.push_after_adds("tags", kTwiceAsManyKeys);
    refresh();
    site_.add("tags", kAddedAfter);
    refresh();
    EXPECT_EQ(site_.live_generation("tags"), 2U);
    EXPECT_FALSE(site_.knows("tags", kAddedBefore));
  }
};

TEST_F(SetRefresherRollback, PublishesTheOldKeysWithAllThatWasAddedSince) {
  site_.roll_back("tags");
  const RefreshOutcome& outcome = refresh();
  EXPECT_TRUE(outcome.is_good()) << outcome.reason;
  EXPECT_EQ(site_.live_generation("tags"), 3U);
  EXPECT_EQ(outcome.live->key_count, 1000U);
  EXPECT_TRUE(site_.knows("tags", kKeys));
  EXPECT_FALSE(site_.knows("tags", kTwiceAsManyKeys));
  EXPECT_TRUE(site_.knows("tags", kAddedBefore));
  EXPECT_TRUE(site_.knows("tags", kAddedAfter));
}

// A replica that still keeps what the host has forgotten becomes the store.
TEST_F(SetRefresherRollback, ReadsAgainWhatWasForgotten) {
  const std::filesystem::path store = site_.root() / "store";
  const std::filesystem::path replica = site_.root() / "replica";
  site_.push_after_adds("tags", kTwiceAsManyKeys);
  std::filesystem::copy(store, replica, std::filesystem::copy_options::recursive);
  site_.push_after_adds("tags", kTwiceAsManyKeys);
  EXPECT_EQ(trouble(), Trouble::None);
  std::filesystem::remove_all(store);
  std::filesystem::rename(replica, store);
  const auto opened = open_store(url_);
  rollback(*opened, "tags", plan_rollback(*opened, "tags", 1));
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_TRUE(site_.knows("tags", kAddedBefore));
  EXPECT_TRUE(site_.knows("tags", kAddedAfter));
}

TEST_F(SetRefresherRollback, AsksTheOtherGuards) {
  set_.guards.min_keys = 1500;
  start();
  site_.roll_back("tags");
  expect_refusal("fewer than 1,500");
  EXPECT_EQ(site_.live_generation("tags"), 2U);
}

TEST_F(SetRefresherTest, TakesTheLiveSnapshotAgainFromAStoreThatHadLostIt) {
  site_.push("tags", kKeys);
  go_live();
  const Pulled live = pull(*open_store(site_.store_url()), "tags");
  std::filesystem::remove_all(site_.root() / "store");
  push(*open_store(site_.store_url(), IfMissing::Create),
       SnapshotView::decode(live.snapshot.get(), "live", Check::Tables), {});
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live_generation("tags"), 1U);
}

}  // namespace
}  // namespace keysieve::test
