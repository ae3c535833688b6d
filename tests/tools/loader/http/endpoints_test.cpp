#include <gmock/gmock.h>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/publisher/shm/bypass.hpp"
#include "core/publisher/shm/publisher.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/tools/loader/http/status_fixture.hpp"
#include "tools/loader/daemon.hpp"
#include "tools/loader/http/endpoints.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST_F(KeysievedStatus, CountsWhatIsPublishedAddedAndRefused) {
  site_.push("tags", kKeys);
  site_.configure(status_config() + tags_set + "max_fpr = 0.02\n");
  start();
  ASSERT_TRUE(counts("keysieve_set_generation{set=\"tags\"} 1")) << log();
  site_.push("tags", kMoreKeys);
  ASSERT_TRUE(counts("keysieve_set_pull_duration_seconds_count{set=\"tags\"} 2")) << log();
  const std::string all = metrics();
  for (const char* line :
       {"keysieve_loader_ready 1", "keysieve_store_up{store=\"main\"} 1",
        "keysieve_set_trouble{set=\"tags\",trouble=\"none\"} 1",
        "keysieve_set_max_fpr_ratio{set=\"tags\"} 0.02", "keysieve_set_store_generation{set=\"tags\"} 2",
        "keysieve_set_store_lag_seconds{set=\"tags\"} 0",
        "keysieve_set_publish_duration_seconds_count{set=\"tags\"} 2"}) {
    EXPECT_THAT(all, HasSubstr(std::string("\n") + line + "\n"));
  }
  EXPECT_NEAR(value_of("keysieve_set_keys_change_ratio{set=\"tags\"}"), 0.1, 1e-9);
  EXPECT_GT(value_of("keysieve_directory_visible_bytes"), 4096);

  site_.push("tags", first_keys(100));
  site_.add("tags", added_keys(7));
  ASSERT_TRUE(counts("keysieve_set_trouble{set=\"tags\",trouble=\"refused\"} 1")) << log();
  ASSERT_TRUE(looks_again(3));
  EXPECT_TRUE(says("[refused]")) << log();
  EXPECT_TRUE(counts("keysieve_set_adds_kept{set=\"tags\"} 7")) << log();
  EXPECT_TRUE(counts("keysieve_set_refused_generations_total{set=\"tags\",reason=\"max_shrink\"} 1"));
  EXPECT_TRUE(counts("keysieve_set_store_generation{set=\"tags\"} 3"));
  EXPECT_GT(value_of("keysieve_set_store_lag_seconds{set=\"tags\"}"), 0);
}

TEST_F(KeysievedStatus, SeesAtOnceWhatOthersDoToASet) {
  follow_tags(status_config(), "1h");
  ASSERT_TRUE(counts("keysieve_set_availability{set=\"tags\",state=\"ready\"} 1")) << log();
  set_bypass(site_.directory(), "tags", 0);
  EXPECT_THAT(metrics(), HasSubstr("\nkeysieve_set_availability{set=\"tags\",state=\"bypassed\"} 1\n"));
  std::filesystem::rename(site_.directory(), site_.root() / "gone");
  EXPECT_THAT(metrics(), AllOf(HasSubstr("\nkeysieve_set_availability{set=\"tags\",state=\"missing\"} 1\n"),
                               Not(HasSubstr("keysieve_directory_visible_bytes "))));
}

TEST_F(KeysievedStatus, SaysWhichStoreIsAwayAndWhyWithoutItsPassword) {
  site_.push("tags", kKeys);
  site_.configure(status_config() + tags_set +
                  "[[set]]\nname = \"far\"\nstore = \"away\"\n[store.away]\nurl = \"" +
                  "redis+unix://loader:verysecret@" + site_.root() / "no.sock" + "\"\n");
  start();
  ASSERT_TRUE(counts("keysieve_store_up{store=\"away\"} 0")) << log();
  EXPECT_TRUE(counts("keysieve_store_up{store=\"main\"} 1"));
  EXPECT_TRUE(counts("keysieve_set_trouble{set=\"far\",trouble=\"unavailable\"} 1"));
  ASSERT_TRUE(counts("keysieve_set_publish_duration_seconds_count{set=\"tags\"} 1")) << log();
  const auto report = nlohmann::json::parse(get("/status.json").body);
  ASSERT_EQ(report.at("sets").size(), 2U);
  EXPECT_EQ(report.at("directory"), site_.directory());
  EXPECT_EQ(report.at("sets").at(0).at("availability"), "ready");
  EXPECT_EQ(report.at("sets").at(0).at("key_count"), 1000);
  EXPECT_EQ(report.at("sets").at(0).at("loader").at("history").at(0).at("event"), "published");
  EXPECT_EQ(report.at("sets").at(0).at("known_absent_count"), nullptr);
  EXPECT_EQ(report.at("sets").at(0).at("loader").at("history").at(0).at("known_absent_count"), 0);
  EXPECT_EQ(report.at("sets").at(1).at("loader").at("trouble"), "unavailable");
  EXPECT_THAT(report.at("stores").dump(), HasSubstr("no.sock"));
  for (const char* path : {"/", "/metrics", "/status.json", "/livez", "/healthz", "/startz"}) {
    EXPECT_THAT(get(path).body, Not(HasSubstr("verysecret"))) << path;
  }
}

TEST_F(KeysievedStatus, IsServedElsewhereAfterAReloadAndGoesWithTheLoader) {
  follow_tags();
  EXPECT_FALSE(std::filesystem::exists(socket())) << "off, unless it is configured";
  site_.configure(status_config() + tags_set);
  keysieved_->send(SIGHUP);
  ASSERT_TRUE(says("status page and metrics at unix:")) << log();
  EXPECT_EQ(keysieved_->stop(), 0);
  EXPECT_FALSE(std::filesystem::exists(socket()));
}

TEST_F(KeysievedStatus, PublishesThoughItsAddressCannotBeHad) {
  site_.push("tags", kKeys);
  std::filesystem::create_directory(socket());
  site_.configure(status_config() + tags_set);
  start();
  ASSERT_TRUE(follows("tags", 1)) << log();
  site_.push("tags", first_keys(1001));
  ASSERT_TRUE(follows("tags", 2)) << log();
  EXPECT_EQ(keysieved_->lines_with("error: no status page and no metrics: " + socket()), 1) << log();
  std::filesystem::remove(socket());
  EXPECT_TRUE(says("status page and metrics at unix:")) << log();
}

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr SteadyTime kBegin{std::chrono::hours(1)};

class HealthAnswers : public ::testing::Test {
 protected:
  HealthAnswers() {
    report_.is_ready = true;
    report_.made_at = kBegin;
  }

  [[nodiscard]] HttpAnswer livez() const { return answer_livez(report_, now_, {}); }
  [[nodiscard]] HttpAnswer healthz() const { return answer_healthz(report_, now_, {}); }
  [[nodiscard]] HttpAnswer startz() const { return answer_startz(report_, now_ - kBegin, {}); }

  LoaderReport report_;
  SteadyTime now_ = kBegin;
};

TEST_F(HealthAnswers, TellTheSilenceOfTheLoader) {
  now_ = kBegin + seconds(120);
  EXPECT_EQ(healthz().status, 200U);
  EXPECT_EQ(livez().status, 200U);
  now_ = kBegin + seconds(130);
  EXPECT_EQ(healthz().status, 503U);
  EXPECT_EQ(healthz().body, "the loader has given no sign of life for 130 s\n");
  EXPECT_EQ(livez().status, 503U);
  EXPECT_EQ(livez().body, healthz().body);
}

TEST_F(HealthAnswers, TellThatASetIsHeldBack) {
  EXPECT_EQ(healthz().body, "ready\n");
  report_.is_ready = false;
  EXPECT_EQ(healthz().status, 503U);
  EXPECT_EQ(livez().body, "alive\n") << "to start it again would not help";
}

TEST_F(HealthAnswers, KeepNobodyFromStartingForEver) {
  EXPECT_EQ(startz().body, "ready\n");
  report_.is_ready = false;
  now_ = kBegin + seconds(29);
  EXPECT_EQ(startz().status, 503U);
  now_ = kBegin + seconds(30);
  EXPECT_EQ(startz().status, 200U);
  EXPECT_EQ(healthz().status, 503U);
}

// The main loop in a process of its own, with limits that a test can wait for.
class DaemonWithLimits : public KeysievedStatus {
 protected:
  ~DaemonWithLimits() override {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

  void run(const HealthLimits& limits) {
    pid_ = start_process([&] {
      LoaderCommandLine line;
      line.config_path = site_.config_path();
      line.log_level = "error";
      Daemon(line, load_config(line.config_path), limits).run();
      return 0;
    });
  }
  [[nodiscard]] bool answers(const std::string& path, int status) const {
    return eventually([&] { return get(path).status == status; });
  }

 private:
  pid_t pid_ = -1;
};

TEST_F(DaemonWithLimits, GivesSignsOfLifeBetweenRoundsThatAreFarApart) {
  site_.push("tags", kKeys);
  site_.configure(status_config() + tags_set, site_.store_url(), "1h");
  run({.longest_silence = milliseconds(600)});
  ASSERT_TRUE(answers("/healthz", 200));
  double silence = 0;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(eventually([&] {
      const double before = std::exchange(silence, value_of("keysieve_loader_heartbeat_age_seconds"));
      return silence < before;
    })) << i;
  }
}

TEST_F(DaemonWithLimits, IsUnwellWhileAStoreHoldsItUpAndSaysSoEverywhere) {
  RedisServer redis;
  site_.push("tags", kKeys, redis.unix_url());
  site_.configure(status_config() + tags_set, redis.unix_url() + "?timeout=1h");
  run({.longest_silence = milliseconds(300)});
  ASSERT_TRUE(answers("/healthz", 200));
  ::kill(redis.pid(), SIGSTOP);
  // Twice: the first time may be one at which the machine was only slow.
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(
        eventually([&] { return value_of("keysieve_loader_heartbeat_age_seconds") > 0.3 * (1 + i); }));
  }
  ASSERT_TRUE(eventually([&] { return get("/healthz").body.find("no sign of life") != std::string::npos; }));
  EXPECT_EQ(value_of("keysieve_loader_ready"), 0);
  EXPECT_EQ(get("/healthz").status, 503U);
  const auto stuck = nlohmann::json::parse(get("/status.json").body);
  EXPECT_EQ(stuck.at("alive"), false);
  EXPECT_EQ(stuck.at("ready"), false);
  EXPECT_GT(stuck.at("heartbeat_age_seconds"), 0.3);
  EXPECT_EQ(stuck.at("sets").at(0).at("availability"), "ready") << "what is published stays live";

  ::kill(redis.pid(), SIGCONT);
  EXPECT_TRUE(answers("/healthz", 200));
  EXPECT_TRUE(eventually([&] {
    const auto well = nlohmann::json::parse(get("/status.json").body);
    return well.at("alive") == true && well.at("ready") == true && well.at("heartbeat_age_seconds") <= 0.3;
  }));
}

TEST_F(DaemonWithLimits, LetsOthersStartAfterSomeTimeThoughASetIsHeldBack) {
  site_.push("tags", kKeys);
  site_.configure(status_config() + tags_set);
  const Publisher other({.directory = site_.directory()}, "tags");  // the forked process has its lock, too
  run({.longest_start = milliseconds(100)});
  EXPECT_TRUE(answers("/startz", 200));
  EXPECT_EQ(get("/healthz").status, 503);
  EXPECT_EQ(get("/livez").status, 200);
}

}  // namespace
}  // namespace keysieve::test
