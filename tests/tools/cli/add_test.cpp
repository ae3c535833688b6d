#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/transfer/adds_log.hpp"

namespace keysieve::test {
namespace {

using namespace std::string_literals;

class Add : public KeysieveWithStore {
 protected:
  Add() { push(build("tags", "old\n"), url_); }

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
};

TEST_P(Add, AppendsToTheLogInOrderAndSaysWhere) {
  const Json report = json({"add", "tags", "猫", "犬", "猫", url_});
  EXPECT_THAT(added(), ElementsAre("猫", "犬", "猫"));
  EXPECT_THAT(report, has({{"set", "tags"},
                           {"store", store_name(url_)},
                           {"appended", 3},
                           {"last_position", to_text(end_of_log())}}));
  EXPECT_THAT(said({"add", "tags", "鳥", url_}),
              AllOf(ContainsRegex("appended +1\n"), ContainsRegex("last position +[0-9]+-[0-9]+\n")));
  EXPECT_THAT(added(), ElementsAre("猫", "犬", "猫", "鳥"));
}

TEST_P(Add, TakesKeysFromArgumentsThenFromTheFileOrStandardInput) {
  const std::string list = write("new.txt", "a\n\nb\n");
  EXPECT_THAT(json({"add", "tags", "first", url_, "--file", list}), has({{"appended", 3}}));
  EXPECT_THAT(said({"add", "--file", "-", "tags", url_}, "c\n"), ContainsRegex("appended +1\n"));
  EXPECT_THAT(added(), ElementsAre("first", "a", "b", "c"));
}

TEST_P(Add, TakesKeysOfAnyBytes) {
  run({"add", "tags", "--", "-x", "--json", "[a,b]", " ", "\xff\xfe", "a\rb", "lmdb:x", url_});
  EXPECT_THAT(added(), ElementsAre("-x", "--json", "[a,b]", " ", "\xff\xfe", "a\rb", "lmdb:x"));
}

TEST_P(Add, TakesEmptyKeysWhenSeparatedByNul) {
  run({"add", "tags", "-0", "", url_, "--file", write("new.txt", "\0a\nb\0"s)});
  EXPECT_THAT(added(), ElementsAre("", "", "a\nb"));
}

TEST_P(Add, AddsNothingFromAnEmptyList) {
  EXPECT_THAT(json({"add", "tags", "--file", write("empty.txt", "\n\n"), url_}),
              has({{"appended", 0}, {"last_position", nullptr}}));
  EXPECT_THAT(added(), IsEmpty());
}

TEST_P(Add, AppendsALongListCompletelyAndInOrder) {
  const std::string list = numbered_lines(20'000);
  run({"add", "tags", "--file", write("many.txt", list), url_});
  EXPECT_TRUE(added() == words_of(list));
}

TEST_P(Add, TakesKeysUpToTheLimitAndNamesTheLineOfALongerOne) {
  const std::string longest(kMaxLoggedKeyBytes, 'x');
  const std::string list = write("long.txt", "a\n" + longest + "\n" + longest + "y\nb\n");
  EXPECT_EQ(refusal(65, {"add", "tags", "--file", list, url_}),
            list + ": line 3 is longer than 1,048,576 bytes, the limit for a key here");
  run({"add", "tags", "--file", write("long.txt", longest), url_});
  EXPECT_EQ(added().back(), longest);
}

TEST_P(Add, AddsNothingOfAListThatIsNotOfKeys) {
  const std::string list = write("new.json", "[\"cat\",\"dog\"]\n");
  EXPECT_THAT(refusal(65, {"add", "tags", "bird", "--file", list, url_}),
              AllOf(StartsWith(list + ": lines are JSON"), HasSubstr("--allow-suspect-keys")));
  EXPECT_THAT(added(), IsEmpty());
  run({"add", "tags", "--allow-suspect-keys", "--file", list, url_});
  EXPECT_THAT(added(), ElementsAre("[\"cat\",\"dog\"]"));
}

TEST_P(Add, RefusesASetThatWasNeverPushedUnlessThatIsAllowed) {
  EXPECT_EQ(refusal(66, {"add", "tagz", "猫", url_}),
            "neither " + store_name(url_) + " nor " + shared_memory() +
                " has a set \"tagz\"; did you mean tags? (--allow-unknown-set if that is intended)");
  EXPECT_THAT(added("tagz"), IsEmpty());
  const ProgramResult result = keysieve({"add", "shop", "猫", url_});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.errors, "keysieve: warning: " + store_name(url_) +
                               ": there is no set \"shop\" yet; what is added waits for its next push\n");
  EXPECT_THAT(result.output, ContainsRegex("appended +1\n"));
  EXPECT_THAT(added("shop"), ElementsAre("猫"));
}

TEST_P(Add, TakesASetThatIsOnlyOnThisHostBecauseTheStoreWasEmptied) {
  publish(build("shop", "old\n", {}, "shop"));
  EXPECT_EQ(keysieve({"add", "shop", "猫", url_}).exit_status, 0);
  EXPECT_THAT(added("shop"), ElementsAre("猫"));
}

TEST_P(Add, RefusesAnEmptyKeyAndAddsNothing) {
  EXPECT_THAT(refusal(64, {"add", "tags", "a", "", url_}), HasSubstr("a key is empty"));
  EXPECT_THAT(added(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(EveryStore, Add, every_store, store_kind_name);

using AddWithRedis = KeysieveProgram;

TEST_F(AddWithRedis, NeedsNoRightButToAppend) {
  const RedisServer server;
  server.command("ACL SETUSER writer on >s3cret ~keysieve:*:adds +xadd");
  const std::string url = "redis://writer:s3cret@127.0.0.1:" + std::to_string(server.port());
  EXPECT_THAT(json({"add", "tags", "猫", url}), has({{"appended", 1}}));
  EXPECT_EQ(server.command("XLEN keysieve:tags:adds"), ":1");
  server.command("ACL SETUSER writer -xadd");
  EXPECT_THAT(refusal(77, {"add", "tags", "猫", url}), HasSubstr("redis://writer@127.0.0.1"));
}

}  // namespace
}  // namespace keysieve::test
