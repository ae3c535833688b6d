// keysieved as a command that ends: --once, --check-config, --help.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "core/worker/base/version.hpp"
#include "core/worker/shm/control_file.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"
#include "tests/tools/loader/site.hpp"
#include "tools/loader/config/config.hpp"

namespace keysieve::test {
namespace {

class KeysievedOnce : public ::testing::Test {
 protected:
  int run() {
    keysieved_.emplace(std::vector<std::string>{"--once", "--config", site_.config_path()});
    const int status = keysieved_->exit_status();
    said_ = keysieved_->standard_error();
    return status;
  }

  Site site_;
  std::optional<KeysievedProcess> keysieved_;
  std::string said_;
};

// As started by hand next to the service.
TEST_F(KeysievedOnce, RefusesToRunAsRootForADirectoryOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give folders away";
  site_.push("tags", first_keys(100));
  site_.configure(tags_set);
  ASSERT_EQ(run(), 0) << said_;
  const std::vector<std::string> folders{site_.directory(), site_.directory() + "/tags", site_.cache()};
  for (const std::string& folder : folders) {
    ASSERT_EQ(::chown(folder.c_str(), 2, 2), 0);
    EXPECT_EQ(run(), 77);
    KeysievedProcess as_daemon({"--config", site_.config_path()});
    EXPECT_EQ(as_daemon.exit_status(), 77);
    KeysievedProcess check({"--check-config", "--config", site_.config_path()});
    EXPECT_EQ(check.exit_status(), 0) << "which changes nothing";
    ASSERT_EQ(::chown(folder.c_str(), 0, 0), 0);
  }
  EXPECT_EQ(run(), 0) << said_;
}

// More than one look takes; and a process that starts reads the log from the beginning again.
TEST_F(KeysievedOnce, BringsInAllThatWasAdded) {
  constexpr KeyRange kMany{100'000, 70'000};
  site_.push("tags", kKeys);
  site_.configure(tags_set);
  ASSERT_EQ(run(), 0) << said_;
  site_.add("tags", kMany);
  EXPECT_EQ(run(), 0) << said_;
  EXPECT_TRUE(site_.knows("tags", kMany));
}

TEST_F(KeysievedOnce, ConfirmsWhatIsLiveAndPublishesNothingAgain) {
  site_.push("tags", kKeys);
  site_.configure(tags_set);
  ASSERT_EQ(run(), 0);
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(site_.live("tags")->id.publication, 1U);
  const auto folder = SetFolder::open(site_.directory(), "tags", std::nullopt);
  const auto control = open_control_page<const ControlPage>(folder);
  EXPECT_GE(control.page().last_confirmed.load(), unix_now() - 60);
  EXPECT_GE(control.page().heartbeat.load(), unix_now() - 60);
}

TEST_F(KeysievedOnce, EndsWith66WhenASetWasNeverPushed) {
  site_.push("shop", first_keys(100));
  site_.configure(tags_set + shop_set);
  EXPECT_EQ(run(), 66) << said_;
  EXPECT_EQ(site_.live_generation("shop"), 1U);
}

TEST_F(KeysievedOnce, PublishesAnEmptySetWhereItsGuardsAllowThat) {
  site_.push("tags", first_keys(0));
  site_.configure(tags_set);
  EXPECT_EQ(run(), 65);
  site_.configure(tags_set + "min_keys = 0\n");
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  EXPECT_FALSE(site_.knows("tags", kKeys));
  site_.add("tags", first_keys(10));
  EXPECT_EQ(run(), 0);
  EXPECT_TRUE(site_.knows("tags", first_keys(10)));
}

// What keeps a set from being published, and the status that keysieved then ends with.
struct Hindrance {
  const char* name;
  int status;
  std::function<void(Site&)> arrange;
};

class KeysievedOnceHindered : public KeysievedOnce, public ::testing::WithParamInterface<Hindrance> {};

TEST_P(KeysievedOnceHindered, EndsWithItsStatus) {
  site_.push("tags", first_keys(80000));
  site_.configure(tags_set);
  GetParam().arrange(site_);
  EXPECT_EQ(run(), GetParam().status) << said_;
  EXPECT_EQ(site_.live("tags"), std::nullopt);
}

INSTANTIATE_TEST_SUITE_P(
    By, KeysievedOnceHindered,
    ::testing::Values(
        Hindrance{"a_guard", 65, [](Site& site) { site.configure(tags_set + "min_keys = 90000\n"); }},
        Hindrance{"damage", 65, [](Site& site) { site.damage("tags", site.push("tags", kKeys)); }},
        Hindrance{"a_missing_directory", 66, [](Site& site) { std::filesystem::remove(site.directory()); }},
        Hindrance{"a_file_in_the_way", 73, [](Site& site) { site.write("shm/tags", "not a folder"); }},
        Hindrance{"the_total_size", 73,
                  [](Site& site) { site.write("conf.d/limit.toml", "max_total_size = \"64KiB\"\n"); }}),
    [](const auto& hindrance) { return std::string(hindrance.param.name); });

TEST_F(KeysievedOnce, EndsWithTheHighestOfSeveralStatuses) {
  site_.push("tags", kKeys);
  site_.write("file", "not a folder");
  site_.configure(tags_set + "min_keys = 2000\n[[set]]\nname = \"shop\"\nstore = \"away\"\n[store.away]\n" +
                  "url = \"redis+unix://" + site_.root() / "no.sock" + "\"\n");
  EXPECT_EQ(run(), 69) << said_;
}

TEST_F(KeysievedOnce, IgnoresADamagedCache) {
  site_.push("tags", kKeys);
  site_.configure(tags_set);
  ASSERT_EQ(run(), 0);
  site_.wipe_shared_memory();
  std::fstream(site_.cache() + "/tags.ks", std::ios::in | std::ios::out | std::ios::binary)
      .seekp(-10, std::ios::end)
      .put('\x55')
      .put('\xaa');
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(site_.live_generation("tags"), 1U) << said_;

  site_.wipe_shared_memory();
  std::filesystem::resize_file(site_.cache() + "/tags.ks", 5000);
  site_.remove_store();
  EXPECT_EQ(run(), 69);
  EXPECT_EQ(site_.live("tags"), std::nullopt);
}

TEST_F(KeysievedOnce, MakesTheCacheFolderForItselfAlone) {
  site_.push("tags", kKeys);
  site_.configure(tags_set);
  std::filesystem::remove(site_.cache());
  EXPECT_EQ(run(), 0);
  EXPECT_EQ(std::filesystem::status(site_.cache()).permissions(), std::filesystem::perms(0700));
  EXPECT_TRUE(std::filesystem::exists(site_.cache() + "/tags.ks"));
}

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

TEST(KeysievedCheckConfig, PrintsWhatTheConfigurationSaysAndPublishesNothing) {
  Site site;
  site.push("tags", first_keys(100));
  site.configure(tags_set + "max_fpr = \"2%\"\n");
  KeysievedProcess text({"--check-config", "--config", site.config_path()});
  EXPECT_EQ(text.exit_status(), 0);
  EXPECT_NE(text.standard_output().find("set tags: store main; max_fpr 2.00 %"), std::string::npos)
      << text.standard_output();
  KeysievedProcess json({"--check-config", "--json", "--config", site.config_path()});
  EXPECT_EQ(json.exit_status(), 0);
  EXPECT_NE(json.standard_output().find("\"poll_interval_ms\": 20"), std::string::npos);
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

// Wrong from the start; or later, as the first look is held up at the last file, after the one that changes.
TEST_F(Keysieved, KeepsTheOldConfigurationWhenTheNewOneIsWrong) {
  follow_tags();
  site_.configure(tags_set + "max_fqr = 1\n");
  keysieved_->send(SIGHUP);
  ASSERT_TRUE(says("stays in force: " + site_.config_path() + ":9: [[set]] max_fqr: unknown key")) << log();
  site_.configure(tags_set);
  site_.write("conf.d/last.toml", "#");
  const FileDescriptor last(::open((site_.root() / "conf.d/last.toml").c_str(), O_WRONLY | O_CLOEXEC));
  ::signal(SIGIO, SIG_IGN);
  ASSERT_EQ(::fcntl(last.get(), F_SETLEASE, F_WRLCK), 0) << std::strerror(errno);
  keysieved_->send(SIGHUP);
  ASSERT_TRUE(eventually([&] { return ::fcntl(last.get(), F_GETLEASE) != F_WRLCK; }));
  site_.configure(tags_set + "max_sise = 1\n");
  ::fcntl(last.get(), F_SETLEASE, F_UNLCK);
  ASSERT_TRUE(says(":9: [[set]] max_sise: unknown key")) << log();
  site_.push("tags", kMoreKeys);
  EXPECT_TRUE(follows("tags", 2)) << log();
  EXPECT_EQ(keysieved_->stop(), 0);
}

// As systemd does it: the lines of the unit one after the other, up to the first that fails.
TEST_F(Keysieved, FailsToReloadAWrongConfigurationByItsUnit) {
  const auto reload = [&] {
    std::ifstream unit(KEYSIEVED_UNIT);
    for (std::string line; std::getline(unit, line);) {
      if (!line.starts_with("ExecReload=")) continue;
      std::string command = line.substr(line.find('=') + 1);
      const auto replace = [&](const std::string& from, const std::string& to) {
        if (const auto at = command.find(from); at != std::string::npos) command.replace(at, from.size(), to);
      };
      replace("/usr/bin/keysieved", "'" KEYSIEVED_PROGRAM "'");
      replace(kDefaultConfigPath, site_.config_path());
      replace("$MAINPID", std::to_string(keysieved_->pid()));
      if (const int status = std::system((command + " >/dev/null 2>&1").c_str()); status != 0)
        return WEXITSTATUS(status);
    }
    return 0;
  };
  follow_tags();
  site_.configure(tags_set + "max_sise = 1\n");
  EXPECT_EQ(reload(), 78);
  site_.configure(tags_set + "max_fpr = 0.5\n");
  EXPECT_EQ(reload(), 0);
  EXPECT_TRUE(says("configuration reloaded: 1 set")) << log();
  EXPECT_EQ(keysieved_->lines_with("reload refused"), 0) << "the loader never saw the wrong one";
}

}  // namespace
}  // namespace keysieve::test
