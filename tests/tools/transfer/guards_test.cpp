#include "tools/transfer/guards.hpp"

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "tests/support/known_absent_sample.hpp"
#include "tests/support/matchers.hpp"
#include "tests/tools/transfer/snapshots.hpp"

namespace keysieve::test {
namespace {

class GuardsTest : public ::testing::Test {
 protected:
  template <ErrorKind Guard = ErrorKind::MaxShrink>
  std::string message(std::optional<std::uint64_t> previous_keys = std::nullopt) const {
    std::optional<Baseline> before;
    if (previous_keys) before = Baseline{.key_count = *previous_keys};
    return message_of<Guard>([&] { check_guards(guards_, view_, before); });
  }

  SnapshotBytes snapshot_ = build_snapshot({.keys = 1000});
  SnapshotBytes smaller_ = build_snapshot({.keys = 700});
  SnapshotView view_ = view_of(snapshot_);
  Guards guards_;
};

TEST_F(GuardsTest, LetAnOrdinarySetPass) {
  guards_.min_keys = 1000;
  guards_.max_fpr = 0.02;
  guards_.required_keys = {"key0", "key999"};
  EXPECT_EQ(message(1100), "");
}

TEST_F(GuardsTest, RefuseTooFewKeys) {
  guards_.min_keys = 1001;
  EXPECT_EQ(message<ErrorKind::MinKeys>(),
            "set \"tags\" has 1,000 keys, fewer than 1,001; --min-keys sets that limit");
}

TEST_F(GuardsTest, AreNamedAsTheConfigurationNamesThem) {
  guards_ = {.min_keys = 1001, .source = GuardSource::Configuration};
  EXPECT_EQ(message<ErrorKind::MinKeys>(),
            "set \"tags\" has 1,000 keys, fewer than 1,001; min_keys of its [[set]] sets that limit");
  guards_.min_keys = 1;
  EXPECT_THAT(message(2000), EndsWith("; max_shrink of its [[set]] sets that limit"));
}

TEST_F(GuardsTest, LetTheSetShrinkToTheLimit) {
  EXPECT_EQ(message(1250), "") << "20 %";
  guards_.max_shrink = 0.3;
  view_ = view_of(smaller_);
  EXPECT_EQ(message(1000), "") << "30 %";
  EXPECT_EQ(message(500), "") << "it grew";
  EXPECT_EQ(message(), "") << "nothing before it";
}

TEST_F(GuardsTest, RefuseASetThatShrankBeyondTheLimit) {
  EXPECT_THAT(message(2000), AllOf(HasSubstr("set \"tags\" shrank from 2,000 to 1,000 keys, by 50"),
                                   HasSubstr("more than 20"), HasSubstr("--allow-shrink")));
  EXPECT_NE(message(1260), "");
}

TEST_F(GuardsTest, RefuseAnEstimatedFprAboveTheLimit) {
  const auto fuller = build_snapshot({.keys = 10'000});
  view_ = view_of(fuller);
  guards_.max_fpr = 0.001;
  EXPECT_THAT(message<ErrorKind::MaxFpr>(),
              AllOf(HasSubstr("set \"tags\" has an estimated FPR of "), HasSubstr("--max-fpr")));
}

TEST(DefaultMaxFpr, IsThreeTimesTheTargetButAtLeastOneInAThousand) {
  EXPECT_DOUBLE_EQ(default_max_fpr(0.01), 0.03);
  EXPECT_DOUBLE_EQ(default_max_fpr(0.000001), 0.001);
  EXPECT_DOUBLE_EQ(default_max_fpr(0.5), 1.0);
}

TEST_F(GuardsTest, RefuseASetThatLacksARequiredKey) {
  std::vector<std::string> keys{"key0"};
  // The seed decides which absent keys come back as maybe; at least one of these does not.
  for (int i = 0; i < 20; ++i) keys.push_back("absent\n" + std::to_string(i));
  guards_.required_keys = keys;
  EXPECT_THAT(message<ErrorKind::RequiredKeys>(),
              AllOf(HasSubstr("set \"tags\" answers absent for the required key \"absent\\x0a"),
                    HasSubstr("--required-keys")));
}

TEST_F(GuardsTest, LetASetWithKnownAbsentKeysPass) {
  const auto with = build_snapshot({.keys = 1000, .known_absent = 5000});
  view_ = view_of(with);
  EXPECT_GT(view_.known_absent_sample().size(), 10U);
  EXPECT_EQ(message(), "");
}

TEST_F(GuardsTest, RefuseASetThatAnswersMaybeForKnownAbsentKeysOfItsSample) {
  auto wrong = build_snapshot({.keys = 1000, .known_absent = 5000});
  const std::size_t sampled = view_of(wrong).known_absent_sample().size();
  put_into_sample(wrong, {"key0", "key1"});
  view_ = view_of(wrong);
  EXPECT_EQ(message<ErrorKind::KnownAbsentSample>(),
            "set \"tags\" answers maybe for 2 of the " + std::to_string(sampled) +
                " known-absent keys in its sample; build it again with "
                "--known-absent");
  guards_.required_keys = {"key0"};
  EXPECT_NE(message<ErrorKind::KnownAbsentSample>(), "") << "whatever required keys say";
}

TEST_F(GuardsTest, CutALongRequiredKeyShortInTheMessage) {
  guards_.required_keys = {std::string(1'000'000, 'x')};
  EXPECT_THAT(message<ErrorKind::RequiredKeys>(), HasSubstr("\"...; --required-keys"));
  EXPECT_LT(message<ErrorKind::RequiredKeys>().size(), 300U);
}

}  // namespace
}  // namespace keysieve::test
