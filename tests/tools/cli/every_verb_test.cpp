// What the verbs refuse alike: files, folders, stores and sets that are not there, names that are none, and
// output that cannot be written. Each names what is wrong; none leaves anything behind.
#include <algorithm>
#include <filesystem>

#include "core/publisher/seen/seen_writer.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/web_server.hpp"
#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/stores/store.hpp"
#include "tools/transfer/store_bypass.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/stored_sets.hpp"

namespace keysieve::test {
namespace {

class EveryVerb : public KeysieveProgram {
 protected:
  const std::string none_ = path("none");
  const std::string new_ = path("new.ks");
  const std::string tags_ = build("tags", "a\n");
  const std::string keys_ = path("tags.txt");
  const std::string build_ = "build --set tags -o " + new_ + " ";
};

TEST_F(EveryVerb, NamesAMissingFile) {
  push(tags_);
  for (const std::string& command :
       {build_ + none_, build_ + "--like " + none_ + " " + keys_,
        build_ + "--required-keys " + none_ + " " + keys_, build_ + "--known-absent " + none_ + " " + keys_,
        "inspect " + none_, "verify " + none_ + " --keys " + keys_, "verify " + tags_ + " --keys " + none_,
        "verify " + tags_ + " --keys " + keys_ + " --absent " + none_, "push " + none_ + " " + store(),
        "publish " + none_, "add tags --file " + none_ + " " + store()}) {
    EXPECT_EQ(refusal(66, words_of(command)), none_ + ": No such file or directory") << command;
  }
  EXPECT_EQ(refusal(2, {"query", "--file", none_, "tags", "a"}), none_ + ": No such file or directory");
  expect_refusals(66, {{"inspect " + shared_memory(), shared_memory() + ": Is a directory"},
                       {build_ + shared_memory(), shared_memory() + ": Is a directory"}});
  EXPECT_FALSE(std::filesystem::exists(new_));
  EXPECT_THAT(names_in(shared_memory()), IsEmpty());
}

TEST_F(EveryVerb, NamesAMissingDirectory) {
  const std::string missing = "directory " + none_ + ": No such file or directory";
  EXPECT_EQ(refusal(66, {"publish", "--directory", none_, tags_}), missing);
  EXPECT_EQ(refusal(66, {"status", "--directory", none_}), missing);
  EXPECT_THAT(refusal(66, {"bypass", "--directory", none_, "tags"}), HasSubstr(none_));
  EXPECT_THAT(refusal(2, {"query", "--directory", none_, "tags", "a"}), HasSubstr(none_));
  EXPECT_THAT(refusal(66, {"publish", "--directory", tags_, tags_}), HasSubstr("Not a directory"));
}

TEST_F(EveryVerb, CreatesNoStoreWhereNoneExists) {
  for (const std::string& url : {"lmdb:" + none_, "dir:" + none_}) {
    const std::string missing = url + ": ";
    expect_refusals(69, {
                            {"pull " + url + " tags -o " + new_, missing},
                            {"add tags a " + url, missing},
                            {"bypass tags --store " + url, missing},
                            {"rollback tags --yes " + url, missing},
                            {"seed " + url, missing},
                            {"push --dry-run " + tags_ + " " + url, missing},
                        });
    EXPECT_THAT(refusal(69, {"push", tags_, url + "/deeper"}),
                AllOf(StartsWith(url + "/deeper: "), HasSubstr("No such file or directory")));
    EXPECT_FALSE(std::filesystem::exists(none_)) << url;
  }
}

TEST_F(EveryVerb, NamesAServerThatCannotBeReached) {
  const std::string url = "redis://app:s3cret@127.0.0.1:1/2";
  const std::string missing = "redis://app@127.0.0.1:1/2: cannot connect: Connection refused";
  expect_refusals(69, {
                          {"push " + tags_ + " " + url, missing},
                          {"pull " + url + " tags -o " + new_, missing},
                          {build_ + "--like " + url + " " + keys_, missing},
                          {"seed redis+unix://" + none_, "cannot connect: No such file or directory"},
                      });
}

TEST_F(EveryVerb, TakesTheUrlBeforeOrAfterItsOtherArgument) {
  run({"push", store(), tags_});
  for (const Words& call :
       {Words{"pull", store(), "tags", "-o", new_}, Words{"pull", "tags", store(), "-o", new_},
        Words{"rollback", store(), "tags", "--list"}}) {
    run(call);
  }
}

TEST_F(EveryVerb, FindsAStoreByAPathRelativeToTheWorkingDirectory) {
  const std::string above = std::filesystem::relative("/", std::filesystem::current_path());
  for (const std::string scheme : {"lmdb:", "dir:"}) {
    const std::string folder = path(scheme == "dir:" ? "files" : "store");
    push(tags_, scheme + above + folder);
    EXPECT_EQ(pull(scheme + folder).at("generation"), 1);
    run({"build", "--set", "tags", "--like", scheme + above + folder, keys_, "-o", new_});
  }
}

TEST_F(EveryVerb, RefusesAUrlThatIsNoStore) {
  expect_refusals(
      64, {
              {"push " + tags_ + " /var/lib/keysieve", "a store's URL begins with " + store_schemes()},
              {"push " + tags_ + " lmdb:", "lmdb:: an absolute path or //host must follow"},
              {"push " + tags_ + " dir:/tmp?prefx=a", "parameter prefx is not known"},
              {"seed tags.ks", "tags.ks"},
              {build_ + "--like ftp://user:s3cret@host/ " + keys_, "store \"ftp\" is not known"},
          });
  EXPECT_THAT(refusal(64, {"bypass", "tags", "--store", ""}), HasSubstr("store \"\" is not known"));
}

TEST_F(EveryVerb, RefusesAnInvalidSetName) {
  const std::string other_store = "dir:" + path("other");
  push(tags_, other_store);
  for (const std::string& name : {std::string("."), std::string(".."), std::string("A"), std::string(),
                                  std::string("a/b"), std::string("猫"), std::string(65, 'a')}) {
    for (Words call : {Words{"build", "--set", "NAME", "--like", store(), keys_, "-o", new_},
                       Words{"pull", other_store, "NAME", "-o", new_}, Words{"add", "NAME", "a", store()},
                       Words{"query", "NAME", "a"}, Words{"status", "NAME"}, Words{"bypass", "NAME"},
                       Words{"bypass", "NAME", "--store", store()}, Words{"rollback", "NAME", store()}}) {
      std::replace(call.begin(), call.end(), std::string("NAME"), name);
      EXPECT_THAT(refusal(call[0] == "query" ? 2 : 64, call), HasSubstr("set name \"" + name + "\""));
    }
  }
  EXPECT_FALSE(std::filesystem::exists(path("store"))) << "a wrong name must not reach a store";
  EXPECT_FALSE(std::filesystem::exists(new_));
  build("longest", "a\n", {}, std::string(64, 'a'));
}

TEST_F(EveryVerb, NamesALineThatEndsInACr) {
  push(tags_);
  const std::string reason = "standard input: line 2 ends in a CR";
  expect_refusals(65,
                  {
                      {build_ + "-", reason},
                      {"verify " + tags_ + " --keys -", reason},
                      {"add tags --file - " + store(), reason},
                  },
                  "a\nb\r\n");
  publish(tags_);
  EXPECT_THAT(refusal(2, {"query", "tags", "--stdin"}, "a\r\n"), HasSubstr("line 1 ends in a CR"));
}

TEST_F(EveryVerb, NamesOutputThatCannotBeWritten) {
  push(tags_);
  const std::string lost = path("no/new.ks");
  expect_refusals(73, {
                          {"build --set tags " + keys_ + " -o " + lost, lost + ": No such file or directory"},
                          {"build --set tags " + keys_ + " -o /dev/null", "/dev/null: is there already"},
                          {"pull " + store() + " tags -o " + lost, lost + ": No such file or directory"},
                          {"pull " + store() + " tags -o " + shared_memory(), ": is there already"},
                      });
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_THAT(names_in(shared_memory()), IsEmpty());
  for (const Words& arguments :
       {Words{"inspect", tags_}, Words{"plan", "--keys", "9"}, Words{"plan", "--keys", "9", "--plot"},
        Words{"status", "--json"}, Words{"verify", tags_, "--keys", keys_}}) {
    ProgramCall call = call_of(arguments);
    call.output_to = "/dev/full";
    const ProgramResult result = run_program(call);
    EXPECT_EQ(result.exit_status, 73) << arguments[0];
    EXPECT_THAT(result.errors, HasSubstr("No space left on device")) << arguments[0];
  }
}

// The programs as cron and its wrappers run them: some or all standard streams closed. A store that got their
// number would get the messages, too.

class StandardStreams : public KeysieveProgram, public ::testing::WithParamInterface<std::string> {
 protected:
  // Runs it with these redirections of the shell.
  ProgramResult run_with(const std::string& redirections, const Words& arguments) const {
    ProgramCall call =
        call_of(Words{"-c", "exec \"$0\" \"$@\" " + redirections, KEYSIEVE_PROGRAM} + arguments);
    call.program = "/bin/sh";
    return run_program(call);
  }
};

INSTANTIATE_TEST_SUITE_P(Closed, StandardStreams, ::testing::Values("2>&-", ">&- 2>&-", "<&- >&- 2>&-"));

TEST_P(StandardStreams, WriteNothingIntoAStoreWhenTheyAreClosed) {
  const std::string snapshot = build("first", numbered_lines(100));
  push(snapshot);
  const std::string keys = write("keys", numbered_lines(200));
  // It warns, while "--like" has the store open, that the store does not have the set.
  const Words building{"build",  "--set", "other", "--fpr", "0.01",
                       "--like", store(), keys,    "-o",    path("other.ks")};
  EXPECT_EQ(run_with(GetParam(), building).exit_status, 0);
  EXPECT_EQ(run_with(GetParam(), {"push", path("other.ks"), store()}).exit_status, 0);
  EXPECT_EQ(run_with(GetParam(), {"add", "tags", "added", store()}).exit_status, 0);
  EXPECT_EQ(pull().at("key_count"), 100);
  EXPECT_EQ(pull(store(), "other").at("key_count"), 200);
}

TEST_F(StandardStreams, GiveNoListWithoutKeysWhenTheInputIsClosed) {
  EXPECT_EQ(
      run_with("<&-", {"build", "--set", "tags", "--fpr", "0.01", "-", "-o", path("tags.ks")}).exit_status,
      66);
  EXPECT_FALSE(std::filesystem::exists(path("tags.ks")));
}

TEST_F(StandardStreams, LeaveAMessageWhenAFileMayNotGrow) {
  const std::string keys = write("keys", numbered_lines(20'000));
  ProgramCall call = call_of({"-c", "ulimit -f 8; exec \"$0\" \"$@\"", KEYSIEVE_PROGRAM, "build", "--set",
                              "tags", keys, "-o", path("tags.ks")});
  call.program = "/bin/sh";
  const ProgramResult result = run_program(call);
  EXPECT_EQ(result.exit_status, 73);
  EXPECT_THAT(result.errors, AllOf(HasSubstr("tags.ks"), HasSubstr("File too large")));
}

// What a store cannot do, every verb says before it reads or asks anything.

// No server is there, and no file: whoever asks one of them would say so.
const std::string kNoServer = "https://127.0.0.1:1/tags";
const std::string kNoCache = "memcached://127.0.0.1:1";

class StoreUse : public KeysieveProgram {};

TEST_F(StoreUse, AWebServerIsReadOnly) {
  const std::string reason = kNoServer + ": this store is read-only";
  expect_refusals(64, {{"push no-such-file.ks " + kNoServer, reason},
                       {"add tags x " + kNoServer, reason},
                       {"add tags --file no-such-file " + kNoServer, reason},
                       {"rollback tags " + kNoServer, reason},
                       {"delete tags --yes " + kNoServer, reason},
                       {"seed --new " + kNoServer, reason},
                       {"bypass tags --store " + kNoServer, reason},
                       {"list " + kNoServer, kNoServer + ": this store cannot list what it holds"}});
}

TEST_F(StoreUse, MemcachedCarriesNoAddsAndNoBypassesAndListsNothing) {
  expect_refusals(64,
                  {{"add tags x " + kNoCache, kNoCache + ": this store carries no adds"},
                   {"add tags --file no-such-file " + kNoCache, kNoCache + ": this store carries no adds"},
                   {"list " + kNoCache, kNoCache + ": this store cannot list what it holds"},
                   {"bypass tags --store " + kNoCache, kNoCache + ": this store may forget a bypass"}});
}

TEST_F(StoreUse, ReadingVerbsAskTheServer) {
  for (const std::string& command :
       {"pull tags " + kNoServer + " -o pulled.ks", "rollback tags --list " + kNoServer, "seed " + kNoServer,
        "bypass tags --show --store " + kNoServer,
        "build --set tags --like " + kNoServer + " no-such-file -o x.ks"}) {
    EXPECT_THAT(refusal(69, words_of(command)), HasSubstr(kNoServer + "/.changes: Failed to connect"))
        << command;
  }
}

TEST_F(StoreUse, AWebServerGivesSetsAndWhatABuildTakesFromAStore) {
  const WebServer server;
  const std::string folder = "dir:" + server.make_folder("tags");
  const std::string built = build("tags", numbered_lines(20'000));
  push(built, folder);
  run({"add", "tags", "another", folder});
  const std::string url = server.url("tags");
  EXPECT_EQ(pull(url).at("key_count"), 20'000);
  EXPECT_EQ(json({"seed", url}).at("store"), url);
  const std::string next = build("next", numbered_lines(20'000), {"--like", url});
  EXPECT_EQ(inspect(next).at("seed"), inspect(built).at("seed"));
  EXPECT_NE(inspect(next).at("adds_from"), inspect(built).at("adds_from")) << "it has looked at the log";
  static_cast<void>(
      keysieve({"add", "tags", "one", "--allow-unknown-set", "dir:" + server.make_folder("unused")}));
  EXPECT_NE(build("first", numbered_lines(100), {"--like", server.url("unused")}), "") << "its seed is drawn";
}

// A name that no set has is an error of every verb, with the name that was probably meant; and the verbs of
// an emergency still take every set that a host or a store may have.

class SetNames : public KeysieveProgram {
 protected:
  const std::string tags_ = build("tags", "猫\n");
};

TEST_F(SetNames, AreSuggestedByThoseOfTheDirectory) {
  publish(tags_);
  SeenWriter(shared_memory(), "clicks", std::nullopt).create({42}, OnUnavailable::New);
  for (const auto& [name, hint] :
       {std::pair{"tagz", "; did you mean tags?"}, {"click", "; did you mean clicks?"}, {"nosuch", ""}}) {
    const std::string reason =
        "directory " + shared_memory() + ": no set \"" + name + "\" is published here" + hint;
    for (const Words& words :
         {Words{"status", name}, Words{"status", "tags", name}, Words{"status", "--json", name},
          Words{"bypass", name}, Words{"bypass", name, "--off"}}) {
      EXPECT_EQ(refusal(66, words), reason) << words[0];
    }
    EXPECT_EQ(refusal(2, {"query", name, "猫"}), reason);
    EXPECT_EQ(refusal(2, {"query", name, "--stdin"}), reason);
  }
}

class SetNamesInStore : public SetNames {
 protected:
  SetNamesInStore() { push(tags_); }

  [[nodiscard]] StoreBypass bypass_of(const std::string& set_name) const {
    return read_store_bypasses(*opened_store(), set_name).of_set;
  }
  [[nodiscard]] Words bypass(const Words& options) const {
    return Words{"bypass", "--store", store()} + options;
  }
};

TEST_F(SetNamesInStore, AreSuggestedByThoseOfTheStore) {
  const std::string entry = "of a seen set";
  const auto opened = opened_store();
  opened->append(seen_log(*opened, "clicks"), {&entry, 1});
  for (const auto& [name, hint] :
       {std::pair{"tagz", "; did you mean tags?"}, {"clicks", "; clicks is a seen set"}, {"nosuch", ""}}) {
    const std::string reason = store() + ": there is no set \"" + name + "\"" + hint;
    for (const Words& words :
         {Words{"pull", name, store(), "-o", path("new.ks")}, Words{"rollback", name, "--yes", store()},
          Words{"rollback", name, "--list", store()}}) {
      EXPECT_EQ(refusal(66, words), reason) << words[0];
    }
    EXPECT_FALSE(opened->get("keysieve:" + std::string(name) + ":current"));
  }
  EXPECT_EQ(refusal(66, {"delete", "tagz", "--yes", store()}),
            store() + ": there is no set \"tagz\"; did you mean tags?");
}

TEST_F(SetNamesInStore, ThatAreMistypedDoNotSwitchABypass) {
  for (const Words& options : {Words{}, Words{"--for=1h"}, Words{"--off"}, Words{"--show"}}) {
    EXPECT_EQ(refusal(66, bypass(Words{"tagz"} + options)),
              "neither " + store() + " nor " + shared_memory() +
                  " has a set \"tagz\"; did you mean tags? (--allow-unknown-set if that is intended)");
  }
  EXPECT_THAT(refusal(66, bypass({"nosuch"})), HasSubstr("has a set \"nosuch\" (--allow-unknown-set"));
  EXPECT_FALSE(bypass_of("tagz"));
  EXPECT_FALSE(bypass_of("tags"));
}

// As a server that was emptied has it: bypasses and pointers are gone.
TEST_F(SetNamesInStore, OfTheDirectoryCanBeBypassedInAStoreThatWasEmptied) {
  const auto opened = opened_store();
  remove_record(*opened, pointer_key(*opened, "tags"));
  publish(tags_);
  run(bypass({"tags"}));
  EXPECT_TRUE(bypass_of("tags"));
}

TEST_F(SetNamesInStore, OfTheStoreCanBeBypassedWithoutADirectory) {
  run(bypass({"tags", "--directory", path("none")}));
  EXPECT_TRUE(bypass_of("tags"));
}

TEST_F(SetNamesInStore, CanBeBypassedAheadOfTheFirstPushAndEndThatWithoutTheOption) {
  run(bypass({"shop", "--allow-unknown-set"}));
  EXPECT_TRUE(bypass_of("shop"));
  EXPECT_THAT(json(bypass({"shop", "--show"})), has({{"bypass", true}}));
  run(bypass({"shop", "--off"}));
  EXPECT_FALSE(bypass_of("shop"));
}

}  // namespace
}  // namespace keysieve::test
