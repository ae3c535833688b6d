// The verbs of a store: push, pull, rollback, list, delete and add.
#include <algorithm>
#include <filesystem>

#include "tests/support/redis_server.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve::test {
namespace {

using Push = KeysieveProgram;

TEST_F(Push, AllotsTheNextGeneration) {
  const std::string snapshot = build("tags", numbered_lines(20'000));
  EXPECT_THAT(
      json({"push", snapshot, store()}),
      has({{"store", store()}, {"generation", 1}, {"key_count", 20'000}, {"bytes", read(snapshot).size()}}));
  EXPECT_THAT(
      said({"push", build("next", numbered_lines(20'000), {"--like", store()}), store()}),
      AllOf(ContainsRegex("generation +2\n"), ContainsRegex("keys +20,000\n"), HasSubstr(" in 1 chunk\n")));
}

TEST_F(Push, SaysWhenTheKeysNoLongerFitWhatLikeWouldKeep) {
  push(build("tags", numbered_lines(10'000)));
  const std::string outgrown = build("next", numbered_lines(100'000), {"--like", store()});
  EXPECT_THAT(keysieve({"push", "--dry-run", outgrown, store()}).errors,
              AllOf(HasSubstr("shard count changed from "), HasSubstr("; the keys no longer fit"),
                    Not(HasSubstr("--like keeps it"))));
  const std::string resized =
      build("resized", numbered_lines(9'000), {"--like", path("tags.ks"), "--resize", "--growth", "3"});
  EXPECT_THAT(keysieve({"push", resized, store()}).errors, HasSubstr("; build --like keeps it"));
}

class DryPush : public KeysieveProgram {
 protected:
  // What the store holds, and the end of its adds log.
  [[nodiscard]] Words content() const {
    const auto opened = opened_store();
    Words all{to_text(opened->end_of(adds_log(*opened, "tags")))};
    for (const std::string& key : opened->keys_with_prefix("")) {
      all.push_back(key + " " + opened->get(key).value());
    }
    std::sort(all.begin() + 1, all.end());
    return all;
  }
};

TEST_F(DryPush, SaysWhatThePushThenDoes) {
  const Words nothing = content();
  Json planned = json({"push", "--dry-run", build("first", numbered_lines(100)), store()});
  EXPECT_THAT(planned,
              has({{"dry_run", true}, {"replaces", nullptr}, {"generation", 1}, {"key_count", 100}}));
  EXPECT_EQ(content(), nothing);
  push(path("first.ks"));
  run({"add", "tags", "added", store()});

  const std::string next = build("next", numbered_lines(90), {"--like", store()});
  const Words before = content();
  planned = json({"push", "--dry-run", next, store()});
  EXPECT_THAT(planned, has({{"dry_run", true}, {"replaces", 1}, {"generation", 2}, {"key_count", 90}}));
  EXPECT_THAT(said({"push", "--dry-run", next, store()}),
              AllOf(HasSubstr("nothing is written"), ContainsRegex("replaces +generation 1: .* 100 keys")));
  EXPECT_TRUE(content() == before) << "no record is changed and no loader woken";
  planned["dry_run"] = false;
  EXPECT_EQ(json({"push", next, store()}), planned);
}

TEST_F(DryPush, WarnsAsThePush) {
  push(build("first", numbered_lines(100)));
  const std::string other = build("other", numbered_lines(100), {"--kind", "bloom"});
  const std::string warnings = keysieve({"push", "--dry-run", other, store()}).errors;
  EXPECT_THAT(warnings, AllOf(HasSubstr("keysieve: warning: "), HasSubstr("seed changed from "),
                              HasSubstr("kind changed from split_block_bloom to bloom")));
  EXPECT_EQ(keysieve({"push", other, store()}).errors, warnings);
}

using Pull = KeysieveProgram;

TEST_F(Pull, FetchesTheBytesThatWerePushed) {
  const std::string snapshot = build("tags", numbered_lines(100'000));
  push(snapshot);
  EXPECT_THAT(said({"pull", store(), "tags", "-o", path("pulled.ks")}),
              AllOf(ContainsRegex("written +" + path("pulled.ks") + "\n"), ContainsRegex("generation +1\n"),
                    ContainsRegex("keys +100,000 distinct\n")));
  EXPECT_EQ(read(path("pulled.ks")), read(snapshot));
  EXPECT_THAT(pull(), has({{"file", path("pulled.ks")},
                           {"generation", 1},
                           {"set", "tags"},
                           {"build_id", inspect(snapshot).at("build_id")}}));
}

TEST_F(Pull, KeepsTheOldFileWhenTheGenerationIsDamaged) {
  const std::string url = "dir:" + path("files");
  const std::string snapshot = build("tags", numbered_lines(100));
  push(snapshot, url);
  const Words call{"pull", url, "tags", "-o", path("pulled.ks")};
  run(call);
  for (const std::string& name : names_in(path("files"))) {
    if (name.ends_with(":0")) damage(path("files") + "/" + name, 5000);
  }
  EXPECT_THAT(refusal(65, call), HasSubstr(url + ": "));
  EXPECT_EQ(read(path("pulled.ks")), read(snapshot));
  push(snapshot, url);  // repairs it
  run(call);
}

// Generations 1, 2 and 3 of the set "tags", of 250, 280 and 300 keys.
class Rollback : public KeysieveProgram {
 protected:
  Rollback() {
    for (const int keys : {250, 280, 300}) {
      const Words options{"--like", seed_, "--as-of", "@1700000000", "--adds-from", "5-6"};
      push(build(std::to_string(keys), numbered_lines(keys), options));
    }
  }

  [[nodiscard]] int key_count() const { return pull().at("key_count"); }

  const std::string seed_ = build("seed", numbered_lines(1));
};

TEST_F(Rollback, BringsBackTheGenerationBeforeOrTheOneThatIsAskedFor) {
  EXPECT_THAT(
      said({"rollback", "tags", "--yes", store()}),
      AllOf(ContainsRegex("was +generation 3: as of 2023-11-14T22:13:20Z, 300 keys, split_block_bloom\n"),
            ContainsRegex("is +generation 2: as of 2023-11-14T22:13:20Z, 280 keys, split_block_bloom\n"),
            ContainsRegex("now called +generation 4\n")));
  EXPECT_EQ(key_count(), 280);
  EXPECT_THAT(json({"rollback", "tags", "--to", "1", "--yes", store()}),
              has({{"replaces", 4}, {"restores", 1}, {"generation", 5}, {"key_count", 250}}));
  EXPECT_EQ(key_count(), 250);
  EXPECT_EQ(refusal(64, {"rollback", "tags", "--yes", "--to", "9", store()}),
            store() + ": set \"tags\": generation 9 is not kept; kept: 5 (current), 4, 3");
}

TEST_F(Rollback, ListsWhatIsKept) {
  run({"rollback", "tags", "--yes", store()});
  EXPECT_THAT(said({"rollback", "tags", "--list", store()}),
              AllOf(ContainsRegex("generation +state +as of +keys +kind +size +restores +adds from\n"),
                    ContainsRegex("\n +4 +current +2023[^\n]+ +280 +split_block_bloom +[^\n]+ +2 +5-6\n"),
                    ContainsRegex("\n +3 +kept [^\n]+ +- +5-6\n"), ContainsRegex("\n +1 +kept ")));
  const Json list = json({"rollback", "tags", "--list", store()}).at("generations");
  ASSERT_EQ(list.size(), 3U);
  EXPECT_THAT(list.at(0), has({{"restores", 2}, {"current", true}, {"adds_from", "5-6"}}));
  EXPECT_THAT(list.at(1), has({{"restores", nullptr}, {"current", false}}));
}

TEST_F(Rollback, AsksOnATerminalAndChangesNothingUnlessTheAnswerIsYes) {
  for (const char* no : {"n\n", "\n", "what?\n", "\4"}) {
    const ProgramResult declined = keysieve_typing(no, {"rollback", "tags", store()});
    EXPECT_EQ(declined.exit_status, 1);
    EXPECT_THAT(declined.errors, HasSubstr("keysieve: nothing is changed"));
    EXPECT_EQ(declined.output, "");
  }
  EXPECT_EQ(key_count(), 300);
  for (const char* yes : {"y\n", "yes\n"}) {
    const int before = key_count();
    const ProgramResult done = keysieve_typing(yes, {"rollback", "tags", store()});
    EXPECT_EQ(done.exit_status, 0) << done.errors;
    EXPECT_THAT(done.errors, AllOf(HasSubstr("set \"tags\" of " + store()), HasSubstr("from  generation "),
                                   HasSubstr("to    generation "), HasSubstr("Roll back? [y/N] ")));
    EXPECT_THAT(done.output, HasSubstr("now called"));
    EXPECT_NE(key_count(), before);
  }
}

TEST_F(Rollback, SaysWhatItWouldDoWithoutATerminal) {
  EXPECT_THAT(refusal(64, {"rollback", "tags", store()}, "y\n"),
              AllOf(StartsWith(store() + ": set \"tags\" would go from generation 3: as of 2023"),
                    HasSubstr(", 300 keys, split_block_bloom back to generation 2: as of "),
                    HasSubstr(", and lose at least 6.67 % of the keys"),
                    EndsWith("; --yes does it without a terminal")));
  EXPECT_EQ(key_count(), 300);
}

TEST_F(Rollback, SaysNothingOfALossIfTheKeysGetMore) {
  run({"rollback", "tags", "--yes", store()});
  const std::string back = refusal(64, {"rollback", "tags", store()});
  EXPECT_THAT(back, EndsWith(", 300 keys, split_block_bloom; --yes does it without a terminal"));
  EXPECT_THAT(keysieve_typing("n\n", {"rollback", "tags", store()}).errors, Not(HasSubstr("loses")));
  EXPECT_THAT(said({"rollback", "tags", "--yes", store()}), Not(HasSubstr("lost")));
  EXPECT_EQ(key_count(), 300);
  run({"rollback", "tags", "--yes", store()});
  EXPECT_EQ(json({"rollback", "tags", "--yes", store()}).at("lost_share"), 0.0);
}

TEST_F(Rollback, SaysWhatItPassesOverAndListMarksIt) {
  run({"push", "--allow-shrink", build("half", numbered_lines(140), {"--like", seed_}), store()});
  push(build("next", numbered_lines(310), {"--like", seed_}));
  EXPECT_THAT(said({"rollback", "tags", "--list", store()}),
              ContainsRegex("\n +4 +kept, 54.8 % fewer keys "));
  EXPECT_THAT(json({"rollback", "tags", "--list", store()}).at("generations").at(1).at("suspect_loss"),
              ::testing::Gt(0.5));
  const ProgramResult done = run_program(call_of({"rollback", "tags", "--yes", store()}));
  EXPECT_THAT(done.errors, HasSubstr("passed over generation 4: "));
  EXPECT_THAT(done.output, ContainsRegex("lost +at least 3.23 % of the keys\n"));
  EXPECT_EQ(key_count(), 300);
}

// keysieve list and keysieve delete of published sets. That a set is deleted from every kind of store is
// proved in tests/tools/transfer.

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

// keysieve add. That every store keeps a log is proved in tests/tools/stores.

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
