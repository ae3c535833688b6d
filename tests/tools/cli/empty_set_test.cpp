// A set without keys, a ban list with nobody left: every kind answers absent, wherever the guards allow it.
#include "core/builder/filters/filter_kind.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class EmptySet : public KeysieveProgram, public ::testing::WithParamInterface<FilterKind> {
 protected:
  const std::string kind_{GetParam().name};
};

TEST_P(EmptySet, AnswersAbsentFromBuildToQuery) {
  const std::string bans = build("bans", "", {"--kind", kind_, "--min-keys", "0"});
  EXPECT_THAT(inspect(bans), has({{"key_count", 0}}));
  run({"inspect", bans});
  EXPECT_THAT(refusal(65, {"push", bans, store()}), HasSubstr("has 0 keys, fewer than 1; --min-keys"));
  EXPECT_EQ(json({"push", "--min-keys", "0", bans, store()}).at("key_count"), 0);
  EXPECT_THAT(pull(), has({{"key_count", 0}}));
  publish(path("pulled.ks"));
  EXPECT_EQ(keysieve({"query", "tags", "--stdin"}, numbered_lines(10'000)).output, "");
  EXPECT_EQ(answer("w1"), "absent");
  EXPECT_THAT(said({"status"}), HasSubstr("ready"));
}

TEST_P(EmptySet, CanFollowAndPrecedeASetWithKeys) {
  const std::string before = build("before", numbered_lines(1000), {"--kind", kind_});
  push(before);
  const Words emptying{"--like", store(), "--min-keys", "0", "--allow-shrink"};
  const std::string bans = build("bans", "\n", emptying);
  EXPECT_EQ(inspect(bans).at("shard_count"), inspect(before).at("shard_count"));
  run({"push", "--min-keys", "0", "--allow-shrink", bans, store()});
  publish(bans);
  EXPECT_EQ(keysieve({"query", "tags", "--stdin"}, numbered_lines(1000)).output, "");
  run({"push", build("after", numbered_lines(1000), {"--like", store()}), store()});
  publish(path("after.ks"));
  EXPECT_EQ(keysieve({"query", "tags", "--stdin"}, numbered_lines(1000)).output, numbered_lines(1000));
}

TEST_P(EmptySet, GainsAndLosesKeysWhereItsKindCan) {
  if (!GetParam().can_add()) GTEST_SKIP() << kind_ << " is built again instead";
  run({"push", "--min-keys", "0", build("bans", "", {"--kind", kind_, "--min-keys", "0"}), store()});
  EXPECT_EQ(json({"update", "tags", "--add", write("new.txt", "w1\n"), store()}).at("key_count"), 1);
  if (!GetParam().can_remove()) return;
  const Words removal{"update", "tags", "--remove", path("new.txt"), store()};
  EXPECT_THAT(refusal(65, removal), HasSubstr("has 0 keys"));
  EXPECT_THAT(json(removal + Words{"--min-keys", "0", "--allow-shrink"}), has({{"key_count", 0}}));
}

INSTANTIATE_TEST_SUITE_P(Kinds, EmptySet, ::testing::ValuesIn(filter_kinds().begin(), filter_kinds().end()),
                         [](const auto& kind) { return std::string(kind.param.name); });

}  // namespace
}  // namespace keysieve::test
