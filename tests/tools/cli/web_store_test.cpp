// A store behind a web server, which no transcript starts.
#include "tests/support/web_server.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class WebStore : public KeysieveProgram {
 protected:
  // What a snapshot says of itself under this name.
  [[nodiscard]] std::string inspected(const std::string& snapshot, const std::string& name) const {
    const std::string shown = said({"inspect", snapshot, "--json"});
    const std::size_t at = shown.find("\"" + name + "\": ");
    return shown.substr(at, shown.find('\n', at) - at);
  }
};

TEST_F(WebStore, GivesSetsAndWhatABuildTakesFromAStore) {
  const WebServer server;
  const std::string folder = "dir:" + server.make_folder("tags");
  const std::string url = server.url("tags");
  const std::string built = build("tags", numbered_lines(20'000));
  run({"push", built, folder});
  run({"add", "tags", "another", folder});
  run({"pull", "tags", url, "-o", path("pulled.ks")});
  EXPECT_TRUE(read(path("pulled.ks")) == read(built));
  EXPECT_THAT(said({"seed", url}), HasSubstr(url));
  run({"build", "--set", "tags", path("tags.txt"), "-o", path("next.ks"), "--like", url});
  EXPECT_EQ(inspected(path("next.ks"), "seed"), inspected(built, "seed"));
  EXPECT_NE(inspected(path("next.ks"), "adds_from"), inspected(built, "adds_from"))
      << "it has looked at the log";
  static_cast<void>(
      keysieve({"add", "tags", "one", "--allow-unknown-set", "dir:" + server.make_folder("unused")}));
  EXPECT_EQ(keysieve({"build", "--set", "tags", path("tags.txt"), "-o", path("first.ks"), "--like",
                      server.url("unused")})
                .exit_status,
            0)
      << "its seed is drawn";
}

}  // namespace
}  // namespace keysieve::test
