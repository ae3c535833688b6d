// A store behind a web server, which no transcript starts.
#include "tests/support/web_server.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {

using WebStore = KeysieveProgram;

TEST_F(WebStore, GivesSetsAndWhatABuildTakesFromAStore) {
  const WebServer server;
  const std::string folder = "dir:" + server.make_folder("tags");
  const std::string url = server.url("tags");
  const auto build_like = [this](const std::string& like) {
    return keysieve({"build", "--set", "tags", path("tags.txt"), "-o", path("next.ks"), "--like", like})
        .exit_status;
  };
  run({"push", build("tags", numbered_lines(20'000)), folder});
  run({"add", "tags", "another", folder});
  run({"pull", "tags", url, "-o", path("pulled.ks")});
  EXPECT_TRUE(read(path("pulled.ks")) == read(path("tags.ks")));
  EXPECT_THAT(said({"seed", url}), HasSubstr(url));
  EXPECT_EQ(build_like(url), 0);
  run({"push", path("next.ks"), folder});  // warns of another seed, and if it needs the whole log
  run({"bypass", "--store", "dir:" + server.make_folder("unused")});
  EXPECT_EQ(build_like(server.url("unused")), 0) << "its seed is drawn";
}

}  // namespace keysieve::test
