// keysieve add. That every store keeps a log is proved in tests/tools/stores.
#include "tests/support/store_calls.hpp"
#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/transfer/adds_log.hpp"

namespace keysieve::test {
namespace {

using namespace std::string_literals;

class Add : public KeysieveProgram {
 protected:
  Add() { push(build("tags", "old\n")); }

  [[nodiscard]] Words added(const std::string& set_name = "tags") const {
    const auto opened = opened_store();
    return keys_in(*opened, adds_log(*opened, set_name));
  }
};

TEST_F(Add, AppendsToTheLogInOrderAndSaysWhere) {
  const Json report = json({"add", "tags", "猫", "犬", "猫", store()});
  const auto opened = opened_store();
  const std::string end = to_text(opened->end_of(adds_log(*opened, "tags")));
  EXPECT_THAT(report, has({{"set", "tags"}, {"store", store()}, {"appended", 3}, {"last_position", end}}));
  EXPECT_THAT(said({"add", "tags", "鳥", store()}),
              AllOf(ContainsRegex("appended +1\n"), ContainsRegex("last position +[0-9]+-[0-9]+\n")));
  EXPECT_THAT(added(), ElementsAre("猫", "犬", "猫", "鳥"));
}

TEST_F(Add, TakesKeysFromArgumentsThenFromTheFileOrStandardInput) {
  const std::string list = write("new.txt", "a\n\nb\n");
  EXPECT_THAT(json({"add", "tags", "first", store(), "--file", list}), has({{"appended", 3}}));
  EXPECT_THAT(said({"add", "--file", "-", "tags", store()}, "c\n"), ContainsRegex("appended +1\n"));
  EXPECT_THAT(json({"add", "tags", "--file", write("empty.txt", "\n\n"), store()}),
              has({{"appended", 0}, {"last_position", nullptr}}));
  EXPECT_THAT(added(), ElementsAre("first", "a", "b", "c"));
}

TEST_F(Add, TakesKeysOfAnyBytesAndEmptyOnesOnlyWhenSeparatedByNul) {
  EXPECT_THAT(refusal(64, {"add", "tags", "a", "", store()}), HasSubstr("a key is empty"));
  EXPECT_THAT(added(), IsEmpty());
  run({"add", "tags", "--", "-x", "--json", "[a,b]", " ", "\xff\xfe", "a\rb", "lmdb:x", store()});
  run({"add", "tags", "-0", "", store(), "--file", write("new.txt", "\0a\nb\0"s)});
  EXPECT_THAT(added(),
              ElementsAre("-x", "--json", "[a,b]", " ", "\xff\xfe", "a\rb", "lmdb:x", "", "", "a\nb"));
}

TEST_F(Add, AppendsALongListCompletelyAndInOrder) {
  const std::string list = numbered_lines(20'000);
  run({"add", "tags", "--file", write("many.txt", list), store()});
  EXPECT_TRUE(added() == words_of(list));
}

TEST_F(Add, TakesKeysUpToTheLimitAndNamesTheLineOfALongerOne) {
  const std::string longest(kMaxLoggedKeyBytes, 'x');
  const std::string list = write("long.txt", "a\n" + longest + "\n" + longest + "y\nb\n");
  EXPECT_EQ(refusal(65, {"add", "tags", "--file", list, store()}),
            list + ": line 3 is longer than 1,048,576 bytes, the limit for a key here");
  run({"add", "tags", "--file", write("long.txt", longest), store()});
  EXPECT_THAT(added(), ElementsAre(longest));
}

TEST_F(Add, AddsNothingOfAListThatIsNotOfKeys) {
  const std::string list = write("new.json", "[\"cat\",\"dog\"]\n");
  EXPECT_THAT(refusal(65, {"add", "tags", "bird", "--file", list, store()}),
              AllOf(StartsWith(list + ": lines are JSON"), HasSubstr("--allow-suspect-keys")));
  EXPECT_THAT(added(), IsEmpty());
  run({"add", "tags", "--allow-suspect-keys", "--file", list, store()});
  EXPECT_THAT(added(), ElementsAre("[\"cat\",\"dog\"]"));
}

TEST_F(Add, RefusesAMistypedSetAndWarnsOfOneThatWasNeverPushed) {
  EXPECT_EQ(refusal(66, {"add", "tagz", "猫", store()}),
            "neither " + store() + " nor " + shared_memory() +
                " has a set \"tagz\"; did you mean tags? (--allow-unknown-set if that is intended)");
  EXPECT_THAT(added("tagz"), IsEmpty());
  const ProgramResult result = keysieve({"add", "shop", "猫", store()});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.errors, "keysieve: warning: " + store() +
                               ": there is no set \"shop\" yet; what is added waits for its next push\n");
  EXPECT_THAT(added("shop"), ElementsAre("猫"));
}

TEST_F(Add, NeedsNoRightInRedisButToAppend) {
  const RedisServer server;
  server.command("ACL SETUSER writer on >s3cret ~keysieve:*:adds +eval +time +xadd +xrevrange");
  const std::string url = server.tcp_url("writer:s3cret@");
  EXPECT_THAT(json({"add", "tags", "猫", url}), has({{"appended", 1}}));
  EXPECT_EQ(server.command("XLEN keysieve:tags:adds"), ":1");
  server.command("ACL SETUSER writer -xadd");
  EXPECT_THAT(refusal(77, {"add", "tags", "猫", url}), HasSubstr("redis://writer@127.0.0.1"));
}

}  // namespace
}  // namespace keysieve::test
