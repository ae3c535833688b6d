#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/forked.hpp"
#include "tests/support/live_keys.hpp"
#include "tests/support/run_program.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using namespace std::string_literals;

class Query : public KeysieveProgram {
 protected:
  // One key in a shard of 4 KiB: no other key has a chance worth the name to be taken for it.
  Query() { publish_keys("猫\n"); }

  void publish_keys(const std::string& keys, const Words& options = {}) const {
    publish(build("tags", keys, options));
  }
  void expect_output(const std::string& output, int exit_status, const Words& arguments,
                     const std::string& input = "") const {
    const ProgramResult result = keysieve(arguments, input);
    EXPECT_EQ(result.errors, "");
    EXPECT_EQ(result.output, output);
    EXPECT_EQ(result.exit_status, exit_status);
  }
};

TEST_F(Query, PrintsTheAnswersAndEndsLikeGrep) {
  expect_output("maybe\n", 0, {"query", "tags", "猫"});
  expect_output("absent\n", 1, {"query", "tags", "犬"});
  expect_output("absent  犬\nmaybe   猫\n", 0, {"query", "tags", "犬", "猫"});
  expect_output("absent  犬\nabsent  鳥\n", 1, {"query", "tags", "犬", "鳥"});
  expect_output("absent\n", 0, {"query", "tags", "-v", "犬"});
  expect_output("maybe\n", 1, {"query", "tags", "-v", "猫"});
  expect_output("maybe   猫\nabsent  犬\n", 0, {"query", "tags", "--absent", "猫", "犬"});
}

TEST_F(Query, AnswersMaybeForWhatWasAddedSince) {
  publish_with_layer(shared_memory(), path("tags.ks"));
  add_live_keys(shared_memory(), "tags", {"犬", "a\nb"});
  expect_output("maybe   犬\nmaybe   猫\nabsent  鳥\n", 0, {"query", "tags", "犬", "猫", "鳥"});
  expect_output("犬\n猫\n", 0, {"query", "tags", "--stdin"}, "犬\n鳥\n猫\n");
  expect_output("maybe\n", 0, {"query", "tags", "a\nb"});
  expect_output("absent\n", 1, {"query", "--file", path("tags.ks"), "tags", "犬"});
}

TEST_F(Query, AnswersAsJson) {
  const ProgramResult result = keysieve({"query", "tags", "犬", "猫", "\xff", "--json"});
  EXPECT_EQ(result.exit_status, 0);
  const Json expected{{"set", "tags"},
                      {"answers",
                       {{{"key", "犬"}, {"answer", "absent"}},
                        {{"key", "猫"}, {"answer", "maybe"}},
                        {{"key", "\uFFFD"}, {"answer", "absent"}}}}};
  EXPECT_EQ(Json::parse(result.output), expected);
}

TEST_F(Query, FiltersStandardInput) {
  expect_output("猫\n", 0, {"query", "tags", "--stdin"}, "犬\n猫\n鳥\n");
  expect_output("犬\n鳥\n", 0, {"query", "tags", "--stdin", "-v"}, "犬\n猫\n鳥\n");
  expect_output("犬\n\0"s, 0, {"query", "tags", "--stdin", "-0v"}, "犬\n\0猫\0"s);
  expect_output("", 1, {"query", "tags", "--stdin"}, "犬\n");
  expect_output("", 1, {"query", "tags", "--stdin", "-v"}, "猫\n");
  expect_output("", 1, {"query", "tags", "--stdin"});
  expect_output("猫\n", 0, {"query", "tags", "--stdin", "--allow-cr"}, "猫\r\n");
}

TEST_F(Query, FollowsPublicationsWhileItReadsAStream) {
  PipedProgram query(call_of({"query", "tags", "--stdin"}));
  query.write("犬\n猫\n");
  EXPECT_EQ(query.line(), "猫");
  publish_keys("犬\n");
  query.write("猫\n犬\n");
  EXPECT_EQ(query.line(), "犬");
  std::filesystem::rename(set_folder(), path("away"));
  publish_keys("鳥\n");
  query.write("犬\n鳥\n");
  EXPECT_EQ(query.line(), "鳥");
  const ProgramResult result = query.end();
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.errors, "");
}

TEST_F(Query, FollowsABypassWhileItReadsAStream) {
  PipedProgram query(call_of({"query", "tags", "--stdin"}));
  for (int round = 0; round < 2; ++round) {
    query.write("犬\n猫\n");
    EXPECT_EQ(query.line(), "猫");
    run({"bypass", "tags"});
    query.write("犬\n鳥\n");
    EXPECT_EQ(query.line(), "犬");
    EXPECT_EQ(query.line(), "鳥");
    run({"bypass", "tags", "--off"});
  }
  const std::string note =
      "keysieve: set tags: bypassed by an operator of this host: every answer is maybe\n";
  EXPECT_EQ(query.end().errors, note + note);
}

TEST_F(Query, EndsWith2WhenTheSetTurnsIncompatibleWhileItReadsAStream) {
  PipedProgram query(call_of({"query", "tags", "--stdin"}));
  query.write("猫\n");
  EXPECT_EQ(query.line(), "猫");
  // Another major ABI: offset 12 of the control page.
  std::filesystem::rename(set_folder(), path("away"));
  publish_keys("犬\n");
  damage(set_folder() + "/control", 12);
  query.write("犬\n");
  const ProgramResult result = query.end();
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_EQ(result.output, "");
}

// What the command-line library might take for something else.
TEST_F(Query, TakesEveryKeyAsItIs) {
  const Words keys{"[a,b]", "[]", "{}", "",   "%%",     "\"q\"", "'q'",   "query", "status", "-",  "/x",
                   "-5",    "--", "++", "-v", "--json", "-x",    "--a=b", "a b",   "a\nb",   "\\n"};
  std::string list;
  for (const std::string& key : keys) list += key + '\0';
  publish_keys(list, {"-0"});
  for (const std::string& key : keys) {
    EXPECT_EQ(keysieve({"query", "tags", "--", key}).output, "maybe\n") << key;
    EXPECT_EQ(keysieve({"query", "--", "tags", key}).output, "maybe\n") << key;
    EXPECT_EQ(keysieve({"query", "tags", "猫", "--", key}).output, "absent  猫\nmaybe   " + key + "\n")
        << key;
  }
  Words all{"query", "tags", "--"};
  all.insert(all.end(), keys.begin(), keys.end());
  std::string expected;
  for (const std::string& key : keys) expected += "maybe  " + key + "\n";
  EXPECT_EQ(keysieve(all).output, expected);
  for (const char* key : {"[a,b]", "{}", "", "%%", "query", "status", "-", "/x", "-5"}) {
    EXPECT_EQ(keysieve({"query", "tags", key}).output, "maybe\n") << key;
  }
  publish_keys("a\nb\n");
  EXPECT_EQ(answer("[a,b]"), "absent");
  EXPECT_EQ(answer("a,b"), "absent");
}

TEST_F(Query, AsksASnapshotFile) {
  const std::string other = build("other", "犬\n");
  expect_output("maybe\n", 0, {"query", "--file", other, "tags", "犬"});
  expect_output("absent\n", 1, {"query", "--file", other, "tags", "猫"});
  EXPECT_EQ(refusal(2, {"query", "--file", other, "shop", "猫"}),
            other + " holds set \"tags\", not \"shop\"");
}

TEST_F(Query, EndsWith2WhenTheQuestionIsWrong) {
  expect_refusals(2, {{"query", "SET"},
                      {"query tags", "give keys to ask for, or --stdin"},
                      {"query tags 猫 --stdin", "give keys to ask for, or --stdin"},
                      {"query tags 猫 --nope", "--nope"},
                      {"query tags --stdin --json", "--json"}});
}

TEST_F(Query, EndsWith2WhenTheAnswerCannotBeWritten) {
  for (const Words& arguments :
       {Words{"query", "tags", "猫"}, Words{"query", "tags", "犬"}, Words{"query", "tags", "--json", "猫"},
        Words{"query", "tags", "--stdin", "-v"}}) {
    ProgramCall call = call_of(arguments, numbered_lines(10'000));
    call.output_to = "/dev/full";
    const ProgramResult result = run_program(call);
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_THAT(result.errors, HasSubstr("No space left on device"));
  }
}

TEST_F(Query, DoesNotTrustAFolderOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
  ASSERT_EQ(::chown(set_folder().c_str(), 54321, 54321), 0);
  EXPECT_THAT(refusal(2, {"query", "tags", "猫"}), AllOf(HasSubstr("not trusted"), HasSubstr("uid 54321")));
}

// As kubelet makes one: it belongs to root, and the group of the pod may write to it.
TEST_F(Query, TrustsTheUserWhoPublishesInAVolume) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to another user";
  for (const auto& file : std::filesystem::directory_iterator(set_folder())) {
    ASSERT_EQ(::chown(file.path().c_str(), 54321, 54321), 0);
  }
  ASSERT_EQ(::chown(set_folder().c_str(), 54321, 54321), 0);
  ASSERT_EQ(::chmod(shared_memory().c_str(), 02777), 0);
  EXPECT_EQ(answer("猫"), "maybe");
  EXPECT_EQ(keysieve({"status", "--json"}).exit_status, 0);
  EXPECT_EQ(keysieve({"bypass", "tags"}).exit_status, 0);
  EXPECT_THAT(keysieve({"status"}).output, HasSubstr("bypassed"));
}

}  // namespace
}  // namespace keysieve::test
