#include <unistd.h>

#include "tests/support/mounted_tmpfs.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"
#include "tools/status/set_facts.hpp"

namespace keysieve::test {
namespace {

// Saved, but not published: the directory is full.
TEST_F(SetRefresherTest, PublishesASavedSnapshotWithoutPullingItAgain) {
  loader_.max_total_bytes = 65536;
  start();
  go_live();
  const SnapshotRecord large = site_.push("tags", first_keys(80000));
  EXPECT_EQ(refresh().exit_status, 73);
  EXPECT_EQ(refresher_->outcome().live->generation, 1U);
  site_.damage("tags", large);
  EXPECT_EQ(trouble(), Trouble::CannotPublish);
  loader_.max_total_bytes = 0;
  start();
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_TRUE(site_.knows("tags", first_keys(80000)));
}

// As at a reboot with the store unreachable, after the configuration was tightened.
TEST_F(SetRefresherTest, PublishesNothingFromTheCacheThatIsNotAllowedAnyMore) {
  struct Case {
    const char* name;
    Guards guards;
    std::uint64_t max_bytes;
  };
  const std::vector<Case> cases{{"min_keys", {.min_keys = 2000}, 0},
                                {"max_fpr", {.max_fpr = 1e-12}, 0},
                                {"required_keys", {.required_keys = {"no such key"}}, 0},
                                {"max_size", {}, 4096}};
  go_live();
  site_.wipe_shared_memory();
  site_.remove_store();
  for (const Case& tightened : cases) {
    set_.guards = tightened.guards;
    set_.max_bytes = tightened.max_bytes;
    start();
    EXPECT_EQ(trouble(), Trouble::StoreUnreachable) << tightened.name;
    EXPECT_EQ(site_.live("tags"), std::nullopt) << tightened.name;
  }
  set_.guards = {};
  set_.max_bytes = 0;
  start();
  refresh();
  EXPECT_EQ(site_.live_generation("tags"), 1U);
}

TEST_F(SetRefresherTest, PublishesNothingFromACacheThatOthersMayWriteTo) {
  site_.push("tags", kKeys);
  site_.add("tags", kAdded);
  refresh();
  site_.wipe_shared_memory();
  site_.remove_store();
  std::filesystem::permissions(site_.cache(), std::filesystem::perms(0777));
  start();
  EXPECT_EQ(trouble(), Trouble::StoreUnreachable);
  EXPECT_EQ(site_.live("tags"), std::nullopt);
  std::filesystem::permissions(site_.cache(), std::filesystem::perms(0755));
  start();
  refresh();
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  EXPECT_TRUE(site_.knows("tags", kKeys));
  EXPECT_TRUE(site_.knows("tags", kAdded));
}

// Not trusted, so nothing is saved there: as when it is full, or of the wrong owner.
TEST_F(SetRefresherTest, SavesWhatIsLiveOnceTheCacheCanBeWrittenAgain) {
  go_live();
  for (const bool is_restarted : {false, true}) {
    std::filesystem::permissions(site_.cache(), std::filesystem::perms(0777));
    site_.push("tags", kKeys);
    EXPECT_EQ(trouble(), Trouble::None);
    std::filesystem::permissions(site_.cache(), std::filesystem::perms(0755));
    if (is_restarted) start();
    EXPECT_EQ(trouble(), Trouble::None);
    const auto generation = site_.live_generation("tags");
    site_.wipe_shared_memory();
    std::filesystem::rename(site_.root() / "store", site_.root() / "away");
    start();
    refresh();
    EXPECT_EQ(site_.live_generation("tags"), generation);
    std::filesystem::rename(site_.root() / "away", site_.root() / "store");
  }
}

// In the report, and in shared memory for `keysieve status`. The set is current all the same.
TEST_F(SetRefresherTest, ReportsACacheThatCannotBeWrittenUntilItCan) {
  const auto in_shared_memory = [&] {
    SetReader reader = status_reader(site_.directory(), "tags");
    reader.follow();
    return Troubles(reader.control()->troubles.load()).names();
  };
  go_live();
  EXPECT_TRUE(recorder_.report().troubles().has(Trouble::None));
  std::filesystem::permissions(site_.cache(), std::filesystem::perms(0777));
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(recorder_.report().cache_trouble, "") << "a reboot would find what is live";
  for (int push = 0; push < 2; ++push) {
    site_.push("tags", kKeys);
    EXPECT_EQ(refresh().exit_status, 0);
    EXPECT_THAT(recorder_.report().cache_trouble, ::testing::HasSubstr("may write to it"));
    EXPECT_EQ(in_shared_memory(), std::vector<std::string_view>{"not_cached"});
  }
  std::filesystem::rename(site_.root() / "store", site_.root() / "away");
  EXPECT_EQ(trouble(), Trouble::NeverPushed);
  EXPECT_EQ(in_shared_memory(), (std::vector<std::string_view>{"not_pushed", "not_cached"}));
  std::filesystem::rename(site_.root() / "away", site_.root() / "store");
  std::filesystem::permissions(site_.cache(), std::filesystem::perms(0755));
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(recorder_.report().cache_trouble, "");
  EXPECT_EQ(in_shared_memory(), std::vector<std::string_view>{});
}

TEST_F(SetRefresherTest, RefusesASavedSnapshotThatIsTooLargeNow) {
  loader_.max_total_bytes = 65536;
  start();
  site_.push("tags", first_keys(80000));
  EXPECT_EQ(trouble(), Trouble::CannotPublish);  // but saved
  loader_.max_total_bytes = 0;
  set_.max_bytes = 65536;
  start();
  EXPECT_EQ(trouble(), Trouble::Refused);
  EXPECT_EQ(site_.live("tags"), std::nullopt);
}

// What the newer one holds is in the mirror alone, should the older be published again.
TEST_F(SetRefresherTest, KeepsTheAddsThatAnOlderSnapshotInTheCacheNeeds) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can mount a small tmpfs";
  const MountedTmpfs small(site_.cache(), "64k");
  if (small.error() == EPERM) GTEST_SKIP() << "this root may not mount";
  ASSERT_EQ(small.error(), 0);
  std::filesystem::permissions(site_.cache(), std::filesystem::perms(0755));  // of a tmpfs: everybody's
  go_live();
  site_.add("tags", {2000, 10});
  refresh();
  for (int push = 0; push < 3; ++push) {  // the last takes the first, and its adds, out of the store
    site_.push_after_adds("tags", first_keys(80000));  // too large to be saved
    EXPECT_EQ(trouble(), Trouble::None);
  }
  ASSERT_EQ(site_.live_generation("tags"), 4U);
  site_.wipe_shared_memory();
  site_.remove_store();
  start();
  EXPECT_EQ(trouble(), Trouble::StoreUnreachable);
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  EXPECT_TRUE(site_.knows("tags", {2000, 10}));
}

}  // namespace
}  // namespace keysieve::test
