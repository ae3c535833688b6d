#include "tests/support/store_kinds.hpp"
#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/transfer/adds_log.hpp"

namespace keysieve::test {
namespace {

using namespace std::string_literals;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class Add : public KeysieveProgram, public ::testing::WithParamInterface<StoreKind> {
 protected:
  Add() { static_cast<void>(said({"push", build("tags", "old\n"), url_})); }

  [[nodiscard]] Words added(const std::string& set_name = "tags") const {
    const auto store = open_store(url_, IfMissing::Refuse);
    constexpr std::size_t kMany = 1'000'000;
    Words keys;
    for (const LogEntry& entry : store->read_after(adds_log(*store, set_name), {}, kMany)) {
      if (entry.key) keys.push_back(*entry.key);
    }
    return keys;
  }
  [[nodiscard]] LogPosition end_of_log() const {
    const auto store = open_store(url_, IfMissing::Refuse);
    return store->end_of(adds_log(*store, "tags"));
  }

  const std::string url_ = GetParam().empty_store(directory_);
};

TEST_P(Add, AppendsToTheLogInOrderAndSaysWhere) {
  const Json report = json({"add", "tags", "猫", "犬", "猫", url_});
  EXPECT_THAT(added(), ElementsAre("猫", "犬", "猫"));
  EXPECT_EQ(report.at("set"), "tags");
  EXPECT_EQ(report.at("store"), store_name(url_));
  EXPECT_EQ(report.at("appended"), 3);
  EXPECT_EQ(report.at("last_position"), to_text(end_of_log()));
  EXPECT_THAT(said({"add", "tags", "鳥", url_}),
              AllOf(ContainsRegex("appended +1\n"), ContainsRegex("last position +[0-9]+-[0-9]+\n")));
  EXPECT_THAT(added(), ElementsAre("猫", "犬", "猫", "鳥"));
}

TEST_P(Add, TakesKeysFromArgumentsThenFromTheFile) {
  const std::string list = write("new.txt", "a\n\nb\n");
  EXPECT_EQ(json({"add", "tags", "first", url_, "--file", list}).at("appended"), 3);
  EXPECT_THAT(added(), ElementsAre("first", "a", "b"));
  EXPECT_EQ(json({"add", "--file", list, "tags", url_}).at("appended"), 2);
}

TEST_P(Add, ReadsStandardInput) {
  EXPECT_THAT(said({"add", "tags", "--file", "-", url_}, "a\nb\n"), ContainsRegex("appended +2\n"));
  EXPECT_THAT(added(), ElementsAre("a", "b"));
}

TEST_P(Add, TakesKeysOfAnyBytes) {
  static_cast<void>(
      said({"add", "tags", "--", "-x", "--json", "[a,b]", " ", "\xff\xfe", "a\rb", "lmdb:x", url_}));
  EXPECT_THAT(added(), ElementsAre("-x", "--json", "[a,b]", " ", "\xff\xfe", "a\rb", "lmdb:x"));
}

TEST_P(Add, TakesEmptyKeysWhenSeparatedByNul) {
  static_cast<void>(said({"add", "tags", "-0", "", url_, "--file", "-"}, "\0a\nb\0"s));
  EXPECT_THAT(added(), ElementsAre("", "", "a\nb"));
}

TEST_P(Add, AddsNothingFromAnEmptyList) {
  const Json report = json({"add", "tags", "--file", write("empty.txt", "\n\n"), url_});
  EXPECT_EQ(report.at("appended"), 0);
  EXPECT_EQ(report.at("last_position"), nullptr);
  EXPECT_THAT(added(), IsEmpty());
}

TEST_P(Add, BringsALongListCompletelyAndInOrder) {
  constexpr int kKeys = 20'000;
  EXPECT_EQ(json({"add", "tags", "--file", write("many.txt", numbered_lines(kKeys)), url_}).at("appended"),
            kKeys);
  const Words keys = added();
  ASSERT_EQ(keys.size(), kKeys);
  for (int i = 0; i < kKeys; ++i) ASSERT_EQ(keys[static_cast<std::size_t>(i)], "w" + std::to_string(i));
}

TEST_P(Add, BringsKeysUpToTheLimitAndNamesTheLineOfALongerOne) {
  const std::string longest(kMaxLoggedKeyBytes, 'x');
  const std::string list = write("long.txt", "a\n" + longest + "\n" + longest + "y\nb\n");
  EXPECT_EQ(refusal(65, {"add", "tags", "--file", list, url_}),
            list + ": line 3 is longer than 1,048,576 bytes, the limit of a key here");
  static_cast<void>(said({"add", "tags", "--file", write("long.txt", longest), url_}));
  EXPECT_EQ(added().back(), longest);
}

TEST_P(Add, WarnsOfASetThatWasNeverPushed) {
  const ProgramResult result = keysieve({"add", "shop", "猫", url_});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.errors, "keysieve: warning: " + store_name(url_) +
                               ": set \"shop\" was never pushed; what is added waits for its first build\n");
  EXPECT_THAT(result.output, ContainsRegex("appended +1\n"));
  EXPECT_THAT(added("shop"), ElementsAre("猫"));
}

TEST_P(Add, RefusesWhatCannotBeMeant) {
  EXPECT_THAT(refusal(64, {"add", "tags", url_}), HasSubstr("give keys to add"));
  EXPECT_THAT(refusal(64, {"add", "tags", "猫"}), AllOf(HasSubstr("store's URL"), HasSubstr("\"猫\"")));
  EXPECT_THAT(refusal(64, {"add", "tags"}), HasSubstr("KEY"));
  EXPECT_THAT(refusal(64, {"add", "tags", "a", "", url_}), HasSubstr("a key is empty"));
  EXPECT_THAT(refusal(64, {"add", "Tags", "a", url_}), HasSubstr("set name \"Tags\""));
  EXPECT_THAT(refusal(65, {"add", "tags", "--file", "-", url_}, "a\r\n"),
              StartsWith("standard input: line 1 ends in a CR"));
  EXPECT_EQ(refusal(66, {"add", "tags", "--file", path("none.txt"), url_}),
            path("none.txt") + ": No such file or directory");
  EXPECT_THAT(added(), IsEmpty());
}

TEST_P(Add, MakesNoStore) {
  for (const std::string scheme : {"lmdb:", "dir:"}) {
    EXPECT_THAT(refusal(69, {"add", "tags", "a", scheme + path("none")}), HasSubstr(path("none")));
  }
  EXPECT_THAT(names_in(directory_.path()), Not(::testing::Contains("none")));
}

INSTANTIATE_TEST_SUITE_P(EveryStore, Add, every_store, store_kind_name);

using AddWithRedis = KeysieveProgram;

TEST_F(AddWithRedis, NeedsNoRightButToAppend) {
  const RedisServer server;
  server.command("ACL SETUSER writer on >s3cret ~keysieve:*:adds +xadd");
  const std::string url = "redis://writer:s3cret@127.0.0.1:" + std::to_string(server.port());
  EXPECT_EQ(json({"add", "tags", "猫", url}).at("appended"), 1);
  EXPECT_EQ(server.command("XLEN keysieve:tags:adds"), ":1");
  server.command("ACL SETUSER writer -xadd");
  EXPECT_THAT(refusal(77, {"add", "tags", "猫", url}), HasSubstr("redis://writer@127.0.0.1"));
}

using AddHelp = KeysieveProgram;

TEST_F(AddHelp, SaysHowToAddFromAnywhere) {
  EXPECT_THAT(said({"add", "--help"}),
              AllOf(HasSubstr("Add, then commit"), HasSubstr("XADD keysieve:tags:adds * key 猫")));
}

}  // namespace
}  // namespace keysieve::test
