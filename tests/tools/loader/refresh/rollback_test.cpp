#include <filesystem>

#include "tests/tools/loader/refresh/refresher_fixture.hpp"
#include "tools/transfer/rollback.hpp"

namespace keysieve::test {
namespace {

constexpr KeyRange kOldKeys{0, 1000};
constexpr KeyRange kNewKeys{0, 2000};
constexpr KeyRange kAddedBefore{5000, 100};  // in the new generation's time held by its base: not so here
constexpr KeyRange kAddedAfter{6000, 100};

class SetRefresherRollback : public SetRefresherTest {
 protected:
  // Generation 2 is live, which has twice as many keys as 1, and keys were added during both.
  SetRefresherRollback() {
    site_.push("tags", kOldKeys);
    refresh();
    site_.add("tags", kAddedBefore);
    refresh();
    site_.push_after_adds("tags", kNewKeys);
    refresh();
    site_.add("tags", kAddedAfter);
    refresh();
    EXPECT_EQ(site_.live_generation("tags"), 2U);
    EXPECT_FALSE(site_.knows("tags", kAddedBefore));
  }
};

TEST_F(SetRefresherRollback, PublishesTheOldKeysWithAllThatWasAddedSince) {
  site_.roll_back("tags");
  const SetState& state = refresh();
  EXPECT_EQ(state.trouble, Trouble::None) << state.reason;
  EXPECT_EQ(site_.live_generation("tags"), 3U);
  EXPECT_EQ(state.live->key_count, 1000U);
  EXPECT_TRUE(site_.knows("tags", kOldKeys));
  EXPECT_FALSE(site_.knows("tags", kNewKeys));
  EXPECT_TRUE(site_.knows("tags", kAddedBefore));
  EXPECT_TRUE(site_.knows("tags", kAddedAfter));
}

TEST_F(SetRefresherRollback, ReadsTheLogFromTheOldPositionOnAHostThatHadOnlyTheNewGeneration) {
  std::filesystem::remove(site_.cache() + "/tags.adds");
  site_.wipe_shared_memory();
  start();
  refresh();
  ASSERT_FALSE(site_.knows("tags", kAddedBefore));
  site_.roll_back("tags");
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_TRUE(site_.knows("tags", kAddedBefore));
  EXPECT_TRUE(site_.knows("tags", kAddedAfter));
}

TEST_F(SetRefresherRollback, HasWhatWasReceivedThoughTheLogIsLost) {
  std::filesystem::remove(site_.root() / "store/.log-keysieve:tags:adds");
  site_.roll_back("tags");
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_TRUE(site_.knows("tags", kAddedBefore));
  EXPECT_TRUE(site_.knows("tags", kAddedAfter));
}

// A replica that still keeps what the host has forgotten becomes the store.
TEST_F(SetRefresherRollback, ReadsAgainWhatWasForgotten) {
  const std::filesystem::path store = site_.root() / "store";
  const std::filesystem::path replica = site_.root() / "replica";
  site_.push_after_adds("tags", kNewKeys);
  std::filesystem::copy(store, replica, std::filesystem::copy_options::recursive);
  site_.push_after_adds("tags", kNewKeys);
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
  const SetState& state = refresh();
  EXPECT_EQ(state.trouble, Trouble::Refused);
  EXPECT_NE(state.reason.find("fewer than 1,500"), std::string::npos) << state.reason;
  EXPECT_EQ(site_.live_generation("tags"), 2U);
}

TEST_F(SetRefresherRollback, TakesTheNextPushAfterIt) {
  site_.roll_back("tags");
  refresh();
  site_.push("tags", {0, 1200});
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live_generation("tags"), 4U);
}

TEST_F(SetRefresherRollback, IsWhatARebootWithoutTheStorePublishes) {
  site_.roll_back("tags");
  refresh();
  site_.wipe_shared_memory();
  site_.remove_store();
  start();
  EXPECT_EQ(trouble(), Trouble::StoreAway);
  EXPECT_EQ(site_.live_generation("tags"), 3U);
  EXPECT_TRUE(site_.knows("tags", kOldKeys));
  EXPECT_TRUE(site_.knows("tags", kAddedBefore));
}

}  // namespace
}  // namespace keysieve::test
