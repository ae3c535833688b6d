// What the verbs refuse alike: files, folders, stores and sets that are not there, names that are none, and
// output that cannot be written. Each names what is wrong; none leaves anything behind.
#include <algorithm>
#include <filesystem>

#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/stores/store.hpp"

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

}  // namespace
}  // namespace keysieve::test
