// A folder that is copied file by file, so that its log may be newer than its pointer.
#include <filesystem>
#include <fstream>

#include "core/builder/base/log_positions.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/matchers.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"

namespace keysieve::test {
namespace {

namespace fs = std::filesystem;

class SetRefresherOfACopy : public SetRefresherTest {
 protected:
  static constexpr KeyRange kNew{1000, 10};  // in kMoreKeys, and added before those are pushed
  const std::string log_ = ".log-keysieve:tags:adds";

  SetRefresherOfACopy() {
    url_ = "dir:" + copy_;
    site_.add("tags", {4000, 1});
    site_.push_after_adds("tags", kKeys);
  }
  void copy_everything() const {
    fs::remove_all(copy_);
    fs::copy(folder_, copy_);
  }
  void copy_log() const {
    fs::copy_file(folder_ + "/" + log_, copy_ + "/" + log_, fs::copy_options::overwrite_existing);
  }
  // The log no longer has what was added before.
  void add_and_push_until_it_is_trimmed() {
    site_.add("tags", kNew);
    for (int i = 0; i < 3; ++i) site_.push_after_adds("tags", kMoreKeys);
  }
  void expect_refused_as_older() {
    EXPECT_THAT(refresh(), IsRefused());
    EXPECT_THAT(refresher_->outcome().reason,
                AllOf(HasSubstr("the log keysieve:tags:adds was trimmed up to "),
                      HasSubstr("the pointer record is older than the log")));
  }

  // At the next looks too, and after a restart.
  void expect_stays_refused(std::uint64_t live_generation) {
    for (int look = 0; look < 4; ++look) {
      if (look == 2) start();
      expect_refused_as_older();
      EXPECT_EQ(site_.live_generation("tags"), live_generation);
    }
  }

  const std::string folder_ = site_.root() / "store";
  const std::string copy_ = site_.root() / "copy";
};

TEST_F(SetRefresherOfACopy, PublishesNoSnapshotWhoseAddsWereTrimmed) {
  copy_everything();
  add_and_push_until_it_is_trimmed();
  copy_log();
  expect_stays_refused(0);
  copy_everything();
  EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  EXPECT_TRUE(site_.knows("tags", kNew));
}

// As after a failover to a replica from before all of it.
TEST_F(SetRefresherOfACopy, FollowsAnEmptyStoreThoughTheLogBeforeHadAHole) {
  copy_everything();
  EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  add_and_push_until_it_is_trimmed();
  copy_everything();
  EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  fs::remove_all(copy_);
  site_.push("tags", kMoreKeys, url_);
  EXPECT_EQ(trouble(), Trouble::AddsLost) << "though not the hole";
  EXPECT_TRUE(site_.holds("tags", kMoreKeys));
}

TEST_F(SetRefresherOfACopy, SaysThatAddsAreMissingToWhatIsLiveAndTakesTheOthers) {
  copy_everything();
  EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  add_and_push_until_it_is_trimmed();
  site_.add("tags", kAdded);
  copy_log();
  expect_stays_refused(1);
  EXPECT_TRUE(site_.knows("tags", kAdded));
  copy_everything();
  EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  EXPECT_TRUE(site_.knows("tags", kNew));
  EXPECT_TRUE(site_.knows("tags", kAdded));
}

TEST_F(SetRefresherOfACopy, DoesNotForgetBesideAnOlderGenerationThatANewerOneLacksAdds) {
  copy_everything();
  EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  site_.push_after_adds("tags", kTwiceAsManyKeys);
  copy_everything();  // not seen yet
  add_and_push_until_it_is_trimmed();
  site_.add("tags", kAdded);
  copy_log();
  expect_stays_refused(1);
  EXPECT_TRUE(site_.knows("tags", kAdded));
  site_.wipe_shared_memory();
  expect_refused_as_older();
  EXPECT_EQ(site_.live_generation("tags"), 1U) << "from the cache, which has not got the other";
}

TEST_F(SetRefresherOfACopy, TakesManyAddsBesideAnOlderPointer) {
  copy_everything();
  EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  add_and_push_until_it_is_trimmed();
  const KeyRange many = added_keys(70'000);  // more than one look takes
  site_.add("tags", many);
  copy_log();
  do refresh();
  while (refresher_->has_more());
  EXPECT_TRUE(site_.knows("tags", many));
  expect_refused_as_older();
}

// The pointer record is removed as the runbook says, or was lost.
TEST_F(SetRefresherOfACopy, CannotBePushedWhatALogWithoutPointerLacks) {
  const SnapshotBytes early = build_snapshot("tags", kKeys, 1'700'000'000, 0.01, log_position(1, 0));
  add_and_push_until_it_is_trimmed();
  fs::remove(folder_ + "/keysieve:tags:current");
  EXPECT_THAT(message_of<ErrorKind::Data>([&] { site_.push(early); }), HasSubstr("has trimmed them up to "));
  site_.push_after_adds("tags", kMoreKeys);
  copy_everything();
  EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
}

TEST_F(SetRefresherOfACopy, CanBePushedToBesideADamagedLog) {
  std::ofstream(folder_ + "/" + log_) << std::string(500, 'x');
  const LogPosition adds_from = read_pointer(*open_store("dir:" + folder_), "tags")->current->adds_from;
  EXPECT_EQ(site_.push(build_snapshot("tags", kMoreKeys, 1'700'000'100, 0.01, adds_from)).generation, 2U);
}

// The live generation then needs adds that were trimmed, and this host has had them.
TEST_F(SetRefresherOfACopy, GoesOnTakingAddsWhileNewerGenerationsAreRefused) {
  copy_everything();
  EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  set_.guards.max_fpr = 1e-12;
  for (int restarts = 0; restarts < 2; ++restarts) {
    start();
    add_and_push_until_it_is_trimmed();
    copy_everything();
    expect_refusal("estimated FPR");
    site_.add("tags", {5000 + restarts, 1});
    copy_everything();
    EXPECT_THAT(refresh(), IsRefused());
    EXPECT_TRUE(site_.knows("tags", {5000 + restarts, 1}));
    EXPECT_EQ(site_.live_generation("tags"), 1U);
  }
  std::ofstream(copy_ + "/" + log_) << std::string(500, 'x');
  EXPECT_THAT(refresh(), IsRefused());
  EXPECT_THAT(refresher_->outcome().reason, HasSubstr("is damaged at byte 0")) << "which matters more";
}

}  // namespace
}  // namespace keysieve::test
