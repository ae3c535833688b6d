// What an error means for users, by the step that threw it.
#include "tools/loader/report/refresh_outcome.hpp"

#include <gtest/gtest.h>

#include "core/builder/base/random.hpp"

namespace keysieve::test {
namespace {

constexpr std::array kSteps{Step::OpenSet, Step::PublishCached, Step::AskStore, Step::ReadPointer,
                            Step::Compare, Step::ReadAdds,      Step::Fetch,    Step::Check,
                            Step::Publish, Step::ReadBypass,    Step::FillLayer};

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
      {Step::ReadBypass, ErrorKind::Data, Trouble::Refused,
       "bypassed, because the record of the bypass cannot be read: why"},
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
