#include <filesystem>

#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

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

TEST_F(Pull, LeavesNoCountersOfTheFileBefore) {
  const Words counting{"--kind", "bloom", "--counting"};
  push(build("tags", numbered_lines(100), counting));
  build("pulled", numbered_lines(100), counting);
  EXPECT_THAT(pull(), has({{"kind", "bloom"}}));
  EXPECT_FALSE(std::filesystem::exists(path("pulled.ks.counters")));
  push(path("pulled.ks"));
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

}  // namespace
}  // namespace keysieve::test
