// keysieve list and keysieve delete, on every kind of store, and list on shared memory.
#include <filesystem>

#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve::test {
namespace {

Words names_of(const Json& listed) {
  Words names;
  for (const Json& set : listed.at("sets")) names.push_back(set.at("set"));
  return names;
}

class ListAndDelete : public KeysieveWithStore {
 protected:
  ListAndDelete() {
    push(tags_, url_);
    push(build("shop", numbered_lines(100), {}, "shop"), url_);
  }

  const std::string tags_ = build("tags", numbered_lines(1000));
};

TEST_P(ListAndDelete, ListsEverySetWithItsCurrentGeneration) {
  push(build("next", numbered_lines(1001), {"--like", url_}), url_);
  const Json listed = json({"list", url_});
  EXPECT_EQ(listed.at("store"), store_name(url_));
  EXPECT_THAT(names_of(listed), ElementsAre("shop", "tags"));
  const Json next = inspect(path("next.ks"));
  EXPECT_THAT(listed.at("sets").at(1), has({{"generation", 2},
                                            {"build_id", next.at("build_id")},
                                            {"kind", "split_block_bloom"},
                                            {"key_count", 1001},
                                            {"bytes", next.at("bytes")},
                                            {"as_of", next.at("as_of")},
                                            {"failure", nullptr}}));
  EXPECT_THAT(said({"list", url_}), ContainsRegex("tags +2 +1,001 +20[0-9TZ:-]+ +[0-9.]+ KiB"));
}

TEST_P(ListAndDelete, NamesADamagedRecordAndListsTheOthers) {
  const Record damaged{"keysieve:tags:current", "{"};
  open_store(url_)->put_many({&damaged, 1});
  const ProgramResult result = keysieve({"list", url_});
  EXPECT_EQ(result.exit_status, 65);
  EXPECT_THAT(result.output, AllOf(ContainsRegex("shop +1 "), HasSubstr("\ntags: " + store_name(url_))));
}

TEST_P(ListAndDelete, DeletesOnlyWithYesOrATerminal) {
  EXPECT_THAT(refusal(64, {"delete", "tags", url_}),
              AllOf(HasSubstr("set \"tags\", 1,000 keys as of "), HasSubstr("; --yes does it")));
  ProgramCall call = call_of({"delete", "tags", url_});
  call.typed = "n\n";
  ProgramResult result = run_program(call);
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.errors,
              AllOf(HasSubstr("This cannot be undone. [y/N]"), HasSubstr("nothing is changed")));
  EXPECT_THAT(names_of(json({"list", url_})), ElementsAre("shop", "tags"));
  call.typed = "y\n";
  EXPECT_EQ(run_program(call).exit_status, 0);
  EXPECT_THAT(names_of(json({"list", url_})), ElementsAre("shop"));
}

TEST_P(ListAndDelete, DeletesASetWithItsAddsAndThenKnowsItNoMore) {
  run({"add", "tags", "new", url_});
  EXPECT_THAT(json({"delete", "tags", "--yes", url_}), has({{"set", "tags"},
                                                            {"store", store_name(url_)},
                                                            {"removed_generations", 1},
                                                            {"removed_chunks", 1},
                                                            {"still_bypassed", false}}));
  const std::string gone = store_name(url_) + ": there is no set \"tags\"";
  EXPECT_EQ(refusal(66, {"delete", "tags", "--yes", url_}), gone);
  EXPECT_EQ(refusal(66, {"pull", "tags", url_, "-o", path("new.ks")}), gone);
}

TEST_P(ListAndDelete, SuggestsTheNameOfASetToDelete) {
  EXPECT_EQ(refusal(66, {"delete", "tagz", "--yes", url_}),
            store_name(url_) + ": there is no set \"tagz\"; did you mean tags?");
  EXPECT_THAT(names_of(json({"list", url_})), ElementsAre("shop", "tags"));
}

TEST_P(ListAndDelete, DeletesWhatWasAddedToAMistypedName) {
  static_cast<void>(keysieve({"add", "tagz", "new", "--allow-unknown-set", url_}));
  run({"delete", "tagz", "--yes", url_});
  EXPECT_THAT(refusal(66, {"delete", "tagz", "--yes", url_}), HasSubstr("there is no set \"tagz\""));
}

TEST_P(ListAndDelete, WarnsThatASetStaysBypassed) {
  run({"bypass", "tags", "--store", url_});
  const ProgramResult result = keysieve({"delete", "tags", "--yes", url_});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_THAT(result.errors, HasSubstr("warning: set \"tags\" stays bypassed in " + store_name(url_)));
  run({"bypass", "tags", "--off", "--store", url_});
}

INSTANTIATE_TEST_SUITE_P(EveryStore, ListAndDelete, every_store, store_kind_name);

using List = KeysieveProgram;

TEST_F(List, ShowsWhatIsPublishedOnThisHost) {
  EXPECT_EQ(said({"list"}), shared_memory() + ": holds no sets\n");
  const std::string tags = build("tags", numbered_lines(1000));
  publish(tags);
  std::filesystem::create_directory(shared_memory() + "/shop");
  const Json listed = json({"list"});
  EXPECT_EQ(listed.at("directory"), shared_memory());
  EXPECT_THAT(listed.at("sets").at(0),
              has({{"set", "shop"}, {"generation", nullptr}, {"key_count", nullptr}}));
  EXPECT_THAT(listed.at("sets").at(0).at("failure"), ::testing::Ne(nullptr));
  EXPECT_THAT(listed.at("sets").at(1), has({{"set", "tags"},
                                            {"generation", nullptr},
                                            {"build_id", inspect(tags).at("build_id")},
                                            {"key_count", 1000},
                                            {"failure", nullptr}}));
  EXPECT_THAT(said({"list"}), ContainsRegex("tags +file +1,000 "));
}

TEST_F(List, SaysThatAStoreCannotListItsSets) {
  for (const char* url : {"https://127.0.0.1:1/tags", "memcached://127.0.0.1:1"}) {
    EXPECT_EQ(refusal(64, {"list", url}), std::string(url) + ": this store cannot list what it holds");
  }
}

}  // namespace
}  // namespace keysieve::test
