#include <gtest/gtest.h>

#include "core/worker/base/version.hpp"
#include "tests/tools/loader/keysieved_process.hpp"
#include "tests/tools/loader/site.hpp"

namespace keysieve::test {
namespace {

TEST(KeysievedCommandLine, PrintsItsVersion) {
  for (const char* option : {"--version", "-V"}) {
    KeysievedProcess keysieved({option});
    EXPECT_EQ(keysieved.exit_status(), 0);
    EXPECT_EQ(keysieved.standard_output(), "keysieved " KEYSIEVE_VERSION "\n");
  }
}

TEST(KeysievedCommandLine, ShowsExamplesInItsHelp) {
  KeysievedProcess keysieved({"--help"});
  EXPECT_EQ(keysieved.exit_status(), 0);
  EXPECT_NE(keysieved.standard_output().find("Examples:\n"), std::string::npos);
}

TEST(KeysievedCommandLine, RefusesWhatItDoesNotKnow) {
  const std::vector<std::vector<std::string>> wrong{
      {"--onec"}, {"tags"}, {"--config"}, {"--once", "--check-config"}, {"--json"}, {"--log-level", "loud"}};
  for (const auto& arguments : wrong) {
    KeysievedProcess keysieved(arguments);
    EXPECT_EQ(keysieved.exit_status(), 64) << arguments[0];
    EXPECT_FALSE(keysieved.standard_error().empty()) << arguments[0];
  }
}

TEST(KeysievedCheckConfig, PrintsWhatTheConfigurationSays) {
  const Site site;
  site.configure(tags_set + "max_fpr = \"2%\"\n");
  KeysievedProcess text({"--check-config", "--config", site.config_path()});
  EXPECT_EQ(text.exit_status(), 0);
  EXPECT_NE(text.standard_output().find("set tags: store main; max_fpr 2.00 %"), std::string::npos)
      << text.standard_output();
  KeysievedProcess json({"--check-config", "--json", "--config", site.config_path()});
  EXPECT_EQ(json.exit_status(), 0);
  EXPECT_NE(json.standard_output().find("\"poll_interval_ms\": 20"), std::string::npos);
}

TEST(KeysievedCheckConfig, PublishesNothing) {
  Site site;
  site.push("tags", first_keys(100));
  site.configure(tags_set);
  KeysievedProcess keysieved({"--check-config", "--config", site.config_path()});
  EXPECT_EQ(keysieved.exit_status(), 0);
  EXPECT_EQ(site.live("tags"), std::nullopt);
}

TEST(KeysievedCheckConfig, EndsWith78AndNamesKeyAndLine) {
  const Site site;
  site.configure(tags_set + "max_fprr = 0.1\n");
  for (const char* mode : {"--check-config", "--once", "--log-level=info"}) {
    KeysievedProcess keysieved({mode, "--config", site.config_path()});
    EXPECT_EQ(keysieved.exit_status(), 78) << mode;
    EXPECT_EQ(keysieved.lines_with(site.config_path() + ":9: [[set]] max_fprr: unknown key"), 1)
        << keysieved.standard_error();
  }
}

TEST(KeysievedCheckConfig, EndsWith78WithoutAConfiguration) {
  KeysievedProcess keysieved({"--config", "/no/such/file.toml"});
  EXPECT_EQ(keysieved.exit_status(), 78);
  EXPECT_EQ(keysieved.lines_with("/no/such/file.toml: No such file or directory"), 1);
}

}  // namespace
}  // namespace keysieve::test
