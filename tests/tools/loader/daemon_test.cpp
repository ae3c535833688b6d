#include <fcntl.h>
#include <signal.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/worker/shm/set_reader.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/web_server.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"
#include "tests/tools/loader/site.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/status/set_facts.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve::test {
namespace {

TEST_F(Keysieved, DoesNotCallItWellWhileTheCacheCannotBeUsed) {
  follow_tags();
  std::filesystem::permissions(site_.cache(), std::filesystem::perms(0777));  // not trusted
  site_.push("tags", kMoreKeys);
  ASSERT_TRUE(says("tags: the cache cannot be used: ")) << log();
  ASSERT_TRUE(follows("tags", 2)) << log();
  std::filesystem::rename(site_.root() / "store", site_.root() / "away");
  ASSERT_TRUE(says("; generation 2 stays live [")) << log();
  std::filesystem::rename(site_.root() / "away", site_.root() / "store");
  EXPECT_TRUE(says("tags: generation 2 is current again, but the cache cannot be used [not_cached]"))
      << log();
  std::filesystem::permissions(site_.cache(), std::filesystem::perms(0755));
  EXPECT_TRUE(says("tags: what is live is in the cache again")) << log();
  EXPECT_EQ(keysieved_->lines_with("all is well"), 0) << log();
}

// A web server tells nothing by itself.
TEST_F(Keysieved, RefreshesAtOnceOnSigusr1) {
  const WebServer server;
  const std::string folder_url = "dir:" + server.make_folder("store");
  site_.push("tags", kKeys, folder_url);
  site_.configure(tags_set, server.url("store"), "1h");
  start();
  ASSERT_TRUE(follows("tags", 1)) << log();
  site_.push("tags", kMoreKeys, folder_url);
  keysieved_->send(SIGUSR1);
  EXPECT_TRUE(follows("tags", 2)) << log();
}

TEST_F(Keysieved, AddsAndDropsSetsOnSighup) {
  site_.push("shop", first_keys(500));
  follow_tags();
  EXPECT_EQ(site_.live("shop"), std::nullopt);
  site_.configure(tags_set + shop_set);
  keysieved_->send(SIGHUP);
  ASSERT_TRUE(follows("shop", 1)) << log();
  EXPECT_TRUE(says("configuration reloaded: 2 sets")) << log();
  site_.configure(shop_set + "[[set]]\nname = \"never\"\nstore = \"main\"\n");
  keysieved_->send(SIGHUP);
  EXPECT_TRUE(says("tags: is not configured any more; its last publication is left as it is")) << log();
  EXPECT_EQ(site_.live("tags")->id.publication, 1U);
  const std::string never = site_.directory() + "/never";
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(never); })) << log();
  // Later too, because no loader has promised to look again.
  const auto troubles = [this] {
    SetReader reader = status_reader(site_.directory(), "tags");
    reader.follow();
    return set_facts(reader, unix_now() + 86'400, Reading::Layer).troubles;
  };
  EXPECT_TRUE(eventually([&] { return troubles() == std::vector<std::string_view>{"not_configured"}; }))
      << log();
  EXPECT_TRUE(site_.knows("tags", kKeys));
  site_.configure(tags_set + shop_set);
  keysieved_->send(SIGHUP);
  EXPECT_TRUE(eventually([&] { return troubles() == std::vector<std::string_view>{"loader_silent"}; }))
      << "a day later, if it stops now";
  EXPECT_FALSE(std::filesystem::exists(never)) << "it was never published";
}

// The program runs again in the same process, and leaves it nothing but the locks.
TEST_F(Keysieved, StaysTheSameProcessThroughReloads) {
  const RedisServer redis;
  site_.push("tags", kKeys, redis.unix_url());
  site_.configure(tags_set, redis.unix_url(), "20ms");
  start();
  ASSERT_TRUE(follows("tags", 1)) << log();
  const std::string process = "/proc/" + std::to_string(keysieved_->pid());
  const auto descriptors = [&] {
    return std::distance(std::filesystem::directory_iterator(process + "/fd"), {});
  };
  std::ptrdiff_t after_the_first = 0;  // the test's own may be inherited until then
  for (int reloads = 1; reloads <= 3; ++reloads) {
    keysieved_->send(SIGHUP);
    ASSERT_TRUE(eventually([&] {
      return keysieved_->lines_with("configuration reloaded: 1 set") == reloads;
    })) << log();
    site_.push("tags", {0, 1000 + reloads}, redis.unix_url());
    ASSERT_TRUE(follows("tags", static_cast<std::uint64_t>(1 + reloads))) << log();
    if (reloads == 1) after_the_first = descriptors();
  }
  EXPECT_TRUE(eventually([&] { return descriptors() <= after_the_first; }))
      << descriptors() << " instead of " << after_the_first;
  std::string name;
  std::ifstream(process + "/comm") >> name;
  EXPECT_EQ(name, "keysieved");
  keysieved_->send(SIGHUP);
  EXPECT_EQ(keysieved_->stop(), 0) << "a signal that came in between";
}

// As an upgrade leaves it, in a file of its own: first one that cannot run, then another version in its
// place.
TEST_F(Keysieved, ReloadsThoughItsFileWasReplacedAndGoesOnWhileItCannotRunAgain) {
  const std::string program = site_.root() / "keysieved";
  std::filesystem::copy_file(KEYSIEVED_PROGRAM, program);
  site_.push("tags", kKeys);
  site_.configure(tags_set);
  keysieved_.emplace(std::vector<std::string>{"--log-level", "debug", "--config", site_.config_path()},
                     std::vector<std::string>{}, "", std::nullopt, program);
  ASSERT_TRUE(follows("tags", 1)) << log();
  std::filesystem::permissions(program, std::filesystem::perms(0600));
  site_.configure(shop_set);
  keysieved_->send(SIGHUP);
  ASSERT_TRUE(says("reload refused, the old configuration stays in force: ")) << log();
  site_.push("tags", kMoreKeys);
  EXPECT_TRUE(follows("tags", 2)) << log();
  SetReader reader = status_reader(site_.directory(), "tags");
  EXPECT_TRUE(eventually([&] {
    reader.follow();
    return set_facts(reader, unix_now(), Reading::Layer).troubles.empty();
  }));
  std::filesystem::permissions(program, std::filesystem::perms(0700));
  std::filesystem::remove(program);
  std::ofstream(program) << "another version";
  site_.configure(tags_set);
  keysieved_->send(SIGHUP);
  ASSERT_TRUE(says("configuration reloaded")) << log();
  site_.push("tags", kKeys);
  EXPECT_TRUE(follows("tags", 3)) << log();
  EXPECT_EQ(keysieved_->stop(), 0);
}

TEST_F(Keysieved, RefusesAReloadThatWouldLoseAdds) {
  follow_tags();
  std::filesystem::rename(site_.cache(), site_.cache() + ".away");
  site_.write("cache", "not a folder");
  site_.add("tags", kAdded);
  ASSERT_TRUE(says("tags: a restart would lose 10 adds, which cannot be saved: ")) << log();
  keysieved_->send(SIGHUP);
  EXPECT_TRUE(
      says("reload refused, the old configuration stays in force: tags: a restart would lose 10 adds"))
      << log();
  EXPECT_TRUE(site_.knows("tags", kAdded));
}

TEST_F(Keysieved, SaysOnceThatAGuardRefusesUntilAReloadAllowsIt) {
  follow_tags();
  site_.push("tags", first_keys(100));
  ASSERT_TRUE(looks_again(5)) << log();
  EXPECT_EQ(keysieved_->lines_with("warning: tags: generation 2 refused: "), 1) << log();
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  site_.configure(tags_set + "max_shrink = \"95%\"\n");
  keysieved_->send(SIGHUP);
  ASSERT_TRUE(follows("tags", 2)) << log();
  site_.configure(tags_set + "min_keys = 2000\n");
  keysieved_->send(SIGHUP);
  ASSERT_TRUE(says("tags: generation 2 refused: ")) << log();
  site_.remove_store();
  site_.wipe_shared_memory();
  ASSERT_TRUE(looks_again(5)) << log();
  EXPECT_EQ(keysieved_->lines_with("warning: tags: the cache cannot be used: "), 1) << log();
  EXPECT_EQ(site_.live("tags"), std::nullopt);
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

TEST_F(Keysieved, RefreshesTheOtherSetsWhileAStoreWaitsForAFailover) {
  RedisSentinels servers(0, 1);
  site_.push("shop", first_keys(500), servers.url());
  site_.push("tags", kKeys);
  site_.configure("[[set]]\nname = \"shop\"\nstore = \"far\"\n" + tags_set + "[store.far]\nurl = \"" +
                  servers.url() + "?timeout=2m&failover=1h\"\n");
  start();
  ASSERT_TRUE(follows("shop", 1)) << log();
  ASSERT_TRUE(follows("tags", 1)) << log();
  servers.master().kill();
  ASSERT_TRUE(says("shop: the store is unreachable")) << log();
  for (std::uint64_t generation = 2; generation <= 5; ++generation) {
    site_.push("tags", {0, static_cast<int>(1000 + generation)});
    ASSERT_TRUE(follows("tags", generation)) << log();
  }
}

// Told by the store alone: by itself it would look once an hour.
class KeysievedAdds : public Keysieved {
 protected:
  void begin() {
    site_.push("tags", kKeys, url_);
    site_.configure(tags_set, url_, "1h");
    start();
    ASSERT_TRUE(follows("tags", 1)) << log();
  }
  // As any program would that knows nothing of keysieve.
  void add_by_redis_client(const std::string& key) const {
    std::string command = "*5\r\n";
    for (const std::string& word : {std::string("XADD"), std::string("keysieve:tags:adds"), std::string("*"),
                                    std::string("key"), key}) {
      command += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    }
    redis_.command(command);
  }
  [[nodiscard]] bool learns(KeyRange keys) const {
    return eventually([&] { return site_.knows("tags", keys); });
  }

  RedisServer redis_;
  std::string url_ = redis_.unix_url();
};

// What each store tells of: tests/tools/stores.
TEST_F(KeysievedAdds, SeesEachPushRollbackBypassAndAddOfEverySetWhenItIsTold) {
  site_.push("shop", kKeys, url_);
  site_.push("tags", kKeys, url_);
  site_.configure(tags_set + shop_set, url_, "1h");
  start();
  ASSERT_TRUE(follows("shop", 1)) << log();
  ASSERT_TRUE(follows("tags", 1)) << log();
  site_.push("tags", kMoreKeys, url_);
  ASSERT_TRUE(follows("tags", 2)) << log();
  site_.roll_back("tags", url_);
  ASSERT_TRUE(follows("tags", 3)) << log();
  const auto store = open_store(url_);
  set_store_bypass(*store, "tags", 0);
  EXPECT_TRUE(eventually([&] { return !site_.knows("tags", first_keys(1)); })) << log();
  set_store_bypass(*store, "tags", {});
  for (const char* set_name : {"shop", "tags"}) {
    site_.add(set_name, kAdded, url_);
    EXPECT_TRUE(eventually([&] { return site_.knows(set_name, kAdded); })) << log();
  }
}

TEST_F(KeysievedAdds, IsNotStoppedByEntriesThatAreNoAdds) {
  begin();
  redis_.command("XADD keysieve:tags:adds * colour red");
  add_by_redis_client("");
  add_by_redis_client(std::string(kMaxLoggedKeyBytes + 1, 'x'));
  add_by_redis_client("key-5000");
  redis_.command("PUBLISH keysieve:changes keysieve:tags:adds");
  EXPECT_TRUE(learns(added_keys(1))) << log();
  EXPECT_TRUE(says("longer than can be added")) << log();
  EXPECT_TRUE(says("keysieve:tags:adds holds an entry with the field \"colour\"")) << log();
}

// That shared memory was wiped, only a round finds.
TEST_F(KeysievedAdds, KeepsToItsRoundsAndAnswersSignalsWhileAddsPourIn) {
  site_.push("shop", first_keys(500), url_);
  site_.configure(tags_set + shop_set, url_, "100ms");
  site_.push("tags", kKeys, url_);
  start();
  ASSERT_TRUE(follows("shop", 1)) << log();
  const PouringAdds pouring(url_);
  ASSERT_TRUE(learns({PouringAdds::kFirst, 1000})) << log();
  std::filesystem::rename(site_.directory() + "/shop", site_.root() / "gone");
  EXPECT_TRUE(follows("shop", 1)) << log();
  keysieved_->send(SIGUSR1);
  EXPECT_TRUE(says("refreshing all sets now")) << log();
  keysieved_->send(SIGHUP);
  EXPECT_TRUE(says("configuration reloaded")) << log();
  EXPECT_TRUE(learns({PouringAdds::kFirst, 3000})) << log();
  EXPECT_EQ(keysieved_->stop(), 0);
}

}  // namespace
}  // namespace keysieve::test
