// What a store cannot do, every verb says before it reads or asks anything.
#include "tests/support/web_server.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

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

}  // namespace
}  // namespace keysieve::test
