#include <filesystem>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/publisher/shm/bypass.hpp"
#include "core/worker/shm/control_file.hpp"
#include "tests/support/forked.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"

namespace keysieve::test {
namespace {

TEST_F(SetRefresherTest, CannotPublishWhatIsWipedMeanwhile) {
  go_live();
  events_.before_records = [this] { site_.wipe_shared_memory(); };
  const RefreshOutcome& outcome = refresh();
  EXPECT_EQ(outcome.trouble, Trouble::CannotPublish);
  EXPECT_EQ(outcome.exit_status, 73);
  EXPECT_NE(outcome.reason.find("the new publication is gone"), std::string::npos) << outcome.reason;
  EXPECT_TRUE(holds_back_ready(outcome));
  events_.before_records = [] {};
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_TRUE(site_.knows("tags", kKeys));
}

TEST_F(SetRefresherTest, PublishesAgainWhenAPublicationIsDamaged) {
  go_live();
  std::filesystem::remove(site_.directory() + "/tags/" + snapshot_file_name(1));
  EXPECT_EQ(refresh().live->id.publication, 2U);
  EXPECT_TRUE(site_.knows("tags", kKeys));
}

TEST_F(SetRefresherTest, ReplacesWhatWasPublishedByHand) {
  go_live();
  const SnapshotBytes by_hand = build_snapshot("tags", added_keys(1000));
  Publisher({.directory = site_.directory()}, "tags").publish(by_hand.get(), 0);
  ASSERT_TRUE(site_.knows("tags", added_keys(1000)));
  EXPECT_EQ(refresh().live->generation, 1U);
  EXPECT_TRUE(site_.knows("tags", kKeys));
}

TEST_F(SetRefresherTest, EndsABypassWhoseTimeHasPassed) {
  go_live();
  const auto control = ControlFile::open_read_only(SetFolder::open(site_.directory(), "tags", std::nullopt));
  const auto is_set = [&] { return is_bypassed(control.page().current.load()); };
  for (const UnixSeconds until : {UnixSeconds{0}, unix_now() + 3600}) {
    set_bypass(site_.directory(), "tags", until);
    refresh();
    EXPECT_TRUE(is_set()) << until;
  }
  set_bypass(site_.directory(), "tags", unix_now() - 1);
  EXPECT_TRUE(is_set());
  refresh();
  EXPECT_FALSE(is_set());
  EXPECT_TRUE(site_.knows("tags", kKeys));
}

TEST_F(SetRefresherTest, HoldsBackReadyOnlyWhileSomethingCannotBePublished) {
  EXPECT_FALSE(holds_back_ready(refresh()));  // never pushed
  site_.push("tags", kKeys);
  {
    const Publisher other({.directory = site_.directory()}, "tags");
    EXPECT_TRUE(holds_back_ready(refresh()));
    EXPECT_EQ(refresher_->outcome().exit_status, 75);
    EXPECT_THAT(refresher_->outcome().reason,
                ::testing::HasSubstr("another publisher is at work on set tags"));
  }
  EXPECT_FALSE(holds_back_ready(refresh()));
  const Publisher other({.directory = site_.directory()}, "tags");
  EXPECT_FALSE(holds_back_ready(refresh()));  // generation 1 is live
  EXPECT_EQ(refresher_->outcome().trouble, Trouble::CannotPublish);
}

// root may write anywhere, so the test changes to another user.
TEST_F(SetRefresherTest, SaysThatTheDirectoryIsNotWritable) {
  std::filesystem::permissions(site_.root().path(), std::filesystem::perms(0755));
  std::filesystem::permissions(site_.directory(), std::filesystem::perms(0555));
  const auto refresh_as_nobody = [this] {
    if (is_root() && ::setuid(65534) != 0) return kUnexpected;
    const RefreshOutcome& outcome = refresh();
    const bool is_named =
        outcome.reason.find(site_.directory() + "/tags: Permission denied") != std::string::npos;
    return is_named && !outcome.live ? outcome.exit_status : kUnexpected;
  };
  EXPECT_EQ(run_in_process(refresh_as_nobody), 77);
  std::filesystem::permissions(site_.directory(), std::filesystem::perms(0755));
}

}  // namespace
}  // namespace keysieve::test
