#include <filesystem>

#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Pull : public KeysieveProgram {
 protected:
  // Into pulled.ks.
  [[nodiscard]] Words pull(const std::string& url, const std::string& set_name = "tags") const {
    return {"pull", url, set_name, "-o", path("pulled.ks")};
  }
};

TEST_F(Pull, FetchesTheBytesThatWerePushed) {
  const std::string snapshot = build("tags", numbered_lines(100'000));
  static_cast<void>(said({"push", snapshot, store()}));
  EXPECT_THAT(said(pull(store())),
              AllOf(ContainsRegex("written +" + path("pulled.ks") + "\n"), ContainsRegex("generation +1\n"),
                    ContainsRegex("keys +100,000 distinct\n")));
  EXPECT_EQ(read(path("pulled.ks")), read(snapshot));
  const Json report = json(pull(store()));
  EXPECT_EQ(report.at("file"), path("pulled.ks"));
  EXPECT_EQ(report.at("generation"), 1);
  EXPECT_EQ(report.at("set"), "tags");
  EXPECT_EQ(report.at("build_id"), json({"inspect", snapshot}).at("build_id"));
}

TEST_F(Pull, FetchesTheNewestGeneration) {
  for (const char* name : {"one", "two", "three", "four"}) {
    build(name, numbered_lines(100), {"--like", store()});
    static_cast<void>(said({"push", path(name) + ".ks", store()}));
  }
  EXPECT_EQ(json(pull(store())).at("generation"), 4);
  EXPECT_EQ(read(path("pulled.ks")), read(path("four.ks")));
}

TEST_F(Pull, LeavesNoCountersOfTheFileBefore) {
  const Words counting{"--kind", "bloom", "--counting"};
  static_cast<void>(said({"push", build("tags", numbered_lines(100), counting), store()}));
  build("pulled", numbered_lines(100), counting);
  static_cast<void>(said(pull(store())));
  EXPECT_FALSE(std::filesystem::exists(path("pulled.ks.counters")));
  static_cast<void>(said({"push", path("pulled.ks"), store()}));
}

TEST_F(Pull, NamesASetThatWasNeverPushedOrCannotBe) {
  static_cast<void>(said({"push", build("tags", "a\n"), store()}));
  EXPECT_EQ(refusal(66, pull(store(), "shop")), store() + ": set \"shop\" was never pushed");
  for (const char* name : {".", "..", "A", "", "a:b"}) {
    EXPECT_THAT(refusal(64, pull(store(), name)), HasSubstr("set name \"" + std::string(name) + "\""));
  }
  EXPECT_FALSE(std::filesystem::exists(path("pulled.ks")));
}

TEST_F(Pull, LeavesNoStoreBehindWhereNoneIs) {
  for (const std::string scheme : {"lmdb:", "dir:"}) {
    EXPECT_THAT(refusal(69, pull(scheme + path("typo"))),
                AllOf(HasSubstr(scheme + path("typo") + ": "), HasSubstr("No such file or directory")));
    EXPECT_FALSE(std::filesystem::exists(path("typo")));
  }
}

TEST_F(Pull, KeepsTheOldFileWhenTheGenerationIsDamaged) {
  const std::string url = "dir:" + path("files");
  const std::string snapshot = build("tags", numbered_lines(100));
  static_cast<void>(said({"push", snapshot, url}));
  static_cast<void>(said(pull(url)));
  for (const std::string& name : names_in(path("files"))) {
    if (name.ends_with(":0")) damage(path("files") + "/" + name, 5000);
  }
  EXPECT_THAT(refusal(65, pull(url)), HasSubstr(url + ": "));
  EXPECT_EQ(read(path("pulled.ks")), read(snapshot));
  static_cast<void>(said({"push", snapshot, url}));  // mends it
  static_cast<void>(said(pull(url)));
}

TEST_F(Pull, NamesAFileThatCannotBeWritten) {
  static_cast<void>(said({"push", build("tags", "a\n"), store()}));
  EXPECT_EQ(refusal(73, {"pull", store(), "tags", "-o", path("no/tags.ks")}),
            path("no/tags.ks") + ": No such file or directory");
  EXPECT_THAT(refusal(73, {"pull", store(), "tags", "-o", shared_memory()}),
              HasSubstr(shared_memory() + ": is there already"));
  EXPECT_THAT(names_in(shared_memory()), ElementsAre());
}

}  // namespace
}  // namespace keysieve::test
