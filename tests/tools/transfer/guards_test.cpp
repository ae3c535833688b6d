#include "tools/transfer/guards.hpp"

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/known_absent_sample.hpp"
#include "tests/support/matchers.hpp"
#include "tests/tools/transfer/snapshots.hpp"

namespace keysieve::test {
namespace {

// Each of them where it is used: tests/tools/loader/refresh/refusal_test.cpp.
class GuardsTest : public ::testing::Test {
 protected:
  // What refuses the snapshot in place of one of so many keys.
  [[nodiscard]] std::optional<ErrorKind> failure(std::optional<std::uint64_t> previous_keys = {}) const {
    std::optional<Baseline> before;
    if (previous_keys) before = Baseline{.key_count = *previous_keys};
    return failure_of([&] { check_guards(guards_, view_, before); });
  }

  SnapshotBytes snapshot_ = build_snapshot({.keys = 1000});
  SnapshotView view_ = view_of(snapshot_);
  Guards guards_;
};

TEST_F(GuardsTest, LetAnOrdinarySetPass) {
  guards_.min_keys = 1000;
  guards_.max_fpr = 0.02;
  guards_.required_keys = {"key0", "key999"};
  EXPECT_EQ(failure(1100), std::nullopt);
}

TEST_F(GuardsTest, LetTheSetShrinkToTheLimit) {
  EXPECT_EQ(failure(1250), std::nullopt) << "20 %";
  EXPECT_EQ(failure(1260), ErrorKind::MaxShrink);
  const SnapshotBytes smaller = build_snapshot({.keys = 700});
  guards_.max_shrink = 0.3;
  view_ = view_of(smaller);
  EXPECT_EQ(failure(1000), std::nullopt) << "30 %";
  EXPECT_EQ(failure(500), std::nullopt) << "it grew";
  EXPECT_EQ(failure(), std::nullopt) << "nothing before it";
}

TEST(DefaultMaxFpr, IsThreeTimesTheTargetButAtLeastOneInAThousand) {
  EXPECT_DOUBLE_EQ(default_max_fpr(0.01), 0.03);
  EXPECT_DOUBLE_EQ(default_max_fpr(0.000001), 0.001);
  EXPECT_DOUBLE_EQ(default_max_fpr(0.5), 1.0);
}

TEST_F(GuardsTest, RefuseASetThatAnswersMaybeForKnownAbsentKeysOfItsSample) {
  auto snapshot = build_snapshot({.keys = 1000, .known_absent = 5000});
  view_ = view_of(snapshot);
  EXPECT_GT(view_.known_absent_sample().size(), 10U);
  EXPECT_EQ(failure(), std::nullopt);
  put_into_sample(snapshot, {"key0", "key1"});
  view_ = view_of(snapshot);
  EXPECT_EQ(failure(), ErrorKind::KnownAbsentSample);
  guards_.required_keys = {"key0"};
  EXPECT_EQ(failure(), ErrorKind::KnownAbsentSample) << "whatever required keys say";
}

}  // namespace
}  // namespace keysieve::test
