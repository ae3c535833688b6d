// keysieve list and keysieve delete of published sets. That a set is deleted from every kind of store is
// proved in tests/tools/transfer.
#include <filesystem>

#include "tests/support/redis_server.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve::test {
namespace {

class ListAndDelete : public KeysieveProgram {
 protected:
  ListAndDelete() {
    push(build("tags", numbered_lines(1000)));
    push(build("shop", numbered_lines(100), {}, "shop"));
  }

  [[nodiscard]] Words listed() const {
    Words names;
    const Json report = json({"list", store()});
    for (const Json& set : report.at("sets")) names.push_back(set.at("set"));
    return names;
  }
};

TEST_F(ListAndDelete, ListsEverySetWithItsCurrentGeneration) {
  push(build("next", numbered_lines(1001), {"--like", store()}));
  const Json report = json({"list", store()});
  EXPECT_EQ(report.at("store"), store());
  EXPECT_EQ(report.at("sets").at(0).at("set"), "shop");
  const Json next = inspect(path("next.ks"));
  EXPECT_THAT(report.at("sets").at(1), has({{"set", "tags"},
                                            {"generation", 2},
                                            {"build_id", next.at("build_id")},
                                            {"kind", "split_block_bloom"},
                                            {"key_count", 1001},
                                            {"bytes", next.at("bytes")},
                                            {"as_of", next.at("as_of")},
                                            {"failure", nullptr}}));
  EXPECT_THAT(said({"list", store()}), ContainsRegex("tags +2 +1,001 +20[0-9TZ:-]+ +[0-9.]+ KiB"));
}

TEST_F(ListAndDelete, NamesADamagedRecordAndListsTheOthers) {
  put(*opened_store(), "keysieve:tags:current", "{");
  const ProgramResult result = keysieve({"list", store()});
  EXPECT_EQ(result.exit_status, 65);
  EXPECT_THAT(result.output, AllOf(ContainsRegex("shop +1 "), HasSubstr("\ntags: " + store())));
}

TEST_F(ListAndDelete, ListsTheOthersNextToARecordThatIsTooLargeOrNotForThisUser) {
  const RedisServer redis;
  const std::string url = redis.unix_url();
  for (const char* file : {"tags.ks", "shop.ks"})
    ASSERT_EQ(keysieve({"push", path(file), url}).exit_status, 0);
  redis.command("EVAL \"redis.call('SET', 'keysieve:large:current', string.rep('x', 100000))\" 0");
  const ProgramResult large = keysieve({"list", url});
  EXPECT_EQ(large.exit_status, 65) << large.errors;
  EXPECT_THAT(large.output,
              AllOf(ContainsRegex("shop +1 "), ContainsRegex("tags +1 "), HasSubstr("\nlarge: " + url)));
  redis.command("DEL keysieve:large:current");
  redis.command("ACL SETUSER default resetkeys ~keysieve:[^t]*");
  const ProgramResult forbidden = keysieve({"list", url});
  EXPECT_EQ(forbidden.exit_status, 77) << forbidden.errors;
  EXPECT_THAT(forbidden.output, AllOf(ContainsRegex("shop +1 "), HasSubstr("\ntags: " + url)));
}

TEST_F(ListAndDelete, DeletesOnlyWithYesOrATerminal) {
  const Words call{"delete", "tags", store()};
  EXPECT_THAT(refusal(64, call),
              AllOf(HasSubstr("set \"tags\", 1,000 keys as of "), HasSubstr("; --yes does it")));
  const ProgramResult declined = keysieve_typing("n\n", call);
  EXPECT_EQ(declined.exit_status, 1);
  EXPECT_THAT(declined.errors, HasSubstr("This cannot be undone. [y/N]"));
  EXPECT_THAT(listed(), ElementsAre("shop", "tags"));
  EXPECT_EQ(keysieve_typing("y\n", call).exit_status, 0);
  EXPECT_THAT(listed(), ElementsAre("shop"));
}

TEST_F(ListAndDelete, DeletesASetWithItsAddsAndThenKnowsItNoMore) {
  run({"add", "tags", "new", store()});
  EXPECT_THAT(json({"delete", "tags", "--yes", store()}), has({{"set", "tags"},
                                                               {"store", store()},
                                                               {"removed_generations", 1},
                                                               {"removed_chunks", 1},
                                                               {"still_bypassed", false}}));
  const std::string gone = store() + ": there is no set \"tags\"";
  EXPECT_EQ(refusal(66, {"delete", "tags", "--yes", store()}), gone);
  EXPECT_EQ(refusal(66, {"pull", "tags", store(), "-o", path("new.ks")}), gone);
}

TEST_F(ListAndDelete, DeletesWhatWasAddedToAMistypedName) {
  static_cast<void>(keysieve({"add", "tagz", "new", "--allow-unknown-set", store()}));
  run({"delete", "tagz", "--yes", store()});
  EXPECT_THAT(refusal(66, {"delete", "tagz", "--yes", store()}), HasSubstr("there is no set \"tagz\""));
}

TEST_F(ListAndDelete, WarnsThatASetStaysBypassed) {
  run({"bypass", "tags", "--store", store()});
  const ProgramResult result = keysieve({"delete", "tags", "--yes", store()});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.errors, HasSubstr("warning: set \"tags\" stays bypassed in " + store()));
}

TEST_F(ListAndDelete, ListsWhatIsPublishedOnThisHost) {
  EXPECT_EQ(said({"list"}), shared_memory() + ": holds no sets\n");
  publish(path("tags.ks"));
  std::filesystem::create_directory(shared_memory() + "/shop");
  const Json report = json({"list"});
  EXPECT_EQ(report.at("directory"), shared_memory());
  EXPECT_THAT(report.at("sets").at(0),
              has({{"set", "shop"}, {"generation", nullptr}, {"key_count", nullptr}}));
  EXPECT_THAT(report.at("sets").at(0).at("failure"), ::testing::Ne(nullptr));
  EXPECT_THAT(report.at("sets").at(1), has({{"set", "tags"},
                                            {"generation", nullptr},
                                            {"build_id", inspect(path("tags.ks")).at("build_id")},
                                            {"key_count", 1000},
                                            {"failure", nullptr}}));
  EXPECT_THAT(said({"list"}), ContainsRegex("tags +file +1,000 "));
}

}  // namespace
}  // namespace keysieve::test
