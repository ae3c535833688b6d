#include <gtest/gtest.h>
#include <filesystem>

#include "core/builder/base/random.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/publisher/shm/bypass.hpp"
#include "core/worker/shm/control_file.hpp"
#include "tests/support/forked.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"
#include "tests/tools/loader/site.hpp"
#include "tools/loader/refresh/candidate.hpp"
#include "tools/loader/report/refresh_outcome.hpp"

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
  const auto control =
      open_control_page<const ControlPage>(SetFolder::open(site_.directory(), "tags", std::nullopt));
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

// What an error means for users, by the step that threw it.

constexpr std::array kSteps{Step::OpenSet, Step::PublishCached, Step::AskStore, Step::ReadPointer,
                            Step::Compare, Step::ReadAdds,      Step::Fetch,    Step::Check,
                            Step::Publish, Step::FillLayer};

SnapshotRecord eighth_build() {
  SnapshotRecord record;
  record.generation = 8;
  record.build_id = random_value<BuildId>();
  return record;
}

RefreshOutcome outcome_at(Step step, ErrorKind kind, bool is_live = true) {
  return outcome_of(Error(kind, "why"), {.step = step, .build = eighth_build()}, is_live);
}

TEST(RefreshStep, GivesEachErrorOneTroubleAndItsReason) {
  struct Case {
    Step step;
    ErrorKind kind;
    Trouble trouble;
    std::string reason;
  };
  const std::vector<Case> cases{
      {Step::OpenSet, ErrorKind::Locked, Trouble::CannotPublish, "cannot publish: why"},
      {Step::PublishCached, ErrorKind::CannotCreate, Trouble::CannotPublish, "cannot publish: why"},
      {Step::AskStore, ErrorKind::Unavailable, Trouble::StoreUnreachable, "the store is unreachable: why"},
      {Step::AskStore, ErrorKind::Login, Trouble::CannotLogIn, "cannot log in to why"},
      {Step::AskStore, ErrorKind::Data, Trouble::Refused, "why"},
      {Step::ReadPointer, ErrorKind::MissingInput, Trouble::NeverPushed, "why"},
      {Step::ReadPointer, ErrorKind::Data, Trouble::Refused, "why"},
      {Step::Compare, ErrorKind::Older, Trouble::Refused, "generation 8 refused: why"},
      {Step::ReadAdds, ErrorKind::Unavailable, Trouble::StoreUnreachable, "the store is unreachable: why"},
      {Step::ReadAdds, ErrorKind::Older, Trouble::Refused, "why"},
      {Step::Fetch, ErrorKind::Unavailable, Trouble::StoreUnreachable, "the store is unreachable: why"},
      {Step::Fetch, ErrorKind::Data, Trouble::Refused, "generation 8 refused: why"},
      {Step::Check, ErrorKind::MaxShrink, Trouble::Refused, "generation 8 refused: why"},
      {Step::Publish, ErrorKind::CannotCreate, Trouble::CannotPublish, "cannot publish: why"},
      {Step::FillLayer, ErrorKind::CannotCreate, Trouble::CannotPublish, "cannot publish: why"},
  };
  for (const Case& one : cases) {
    const RefreshOutcome outcome = outcome_at(one.step, one.kind);
    EXPECT_EQ(outcome.trouble, one.trouble) << one.reason;
    EXPECT_EQ(outcome.reason, one.reason);
    EXPECT_NE(outcome.exit_status, 0) << one.reason;
  }
}

TEST(RefreshStep, LeavesNoErrorWithoutTrouble) {
  for (const Step step : kSteps) {
    for (int kind = 0; kind <= static_cast<int>(ErrorKind::KnownAbsentSample); ++kind) {
      const RefreshOutcome outcome = outcome_at(step, static_cast<ErrorKind>(kind), kind % 2 == 0);
      EXPECT_FALSE(outcome.is_good());
      EXPECT_NE(outcome.exit_status, 0);
      EXPECT_NE(outcome.reason, "");
    }
  }
}

TEST(RefreshStep, NamesTheBuildOnlyWhereItIsTheBuildThatIsWrong) {
  const At at{.step = Step::Check, .build = eighth_build()};
  const Error shrunk(ErrorKind::MaxShrink, "shrank");
  EXPECT_EQ(outcome_of(shrunk, at, true).refused, at.build.build_id);
  EXPECT_EQ(outcome_at(Step::Fetch, ErrorKind::Unavailable).refused, std::nullopt);
  EXPECT_EQ(outcome_at(Step::AskStore, ErrorKind::Data).refused, std::nullopt);
}

TEST(RefreshStep, TakesAStoreThatHoldsSomethingWrongForAnAnswer) {
  EXPECT_TRUE(is_no_answer(Error(ErrorKind::Unavailable, ""), {.step = Step::AskStore}));
  EXPECT_TRUE(is_no_answer(Error(ErrorKind::Unavailable, ""), {.step = Step::Fetch}));
  EXPECT_FALSE(is_no_answer(Error(ErrorKind::Data, ""), {.step = Step::Fetch}));
  EXPECT_FALSE(is_no_answer(Error(ErrorKind::MaxShrink, ""), {.step = Step::Check}));
}

}  // namespace
}  // namespace keysieve::test
