#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <utility>

#include "tests/support/forked.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/tools/loader/http/status_fixture.hpp"
#include "tools/loader/daemon.hpp"
#include "tools/loader/http/endpoints.hpp"

namespace keysieve::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr SteadyTime kBegin{std::chrono::hours(1)};

class HealthAnswers : public ::testing::Test {
 protected:
  HealthAnswers() {
    report_.is_ready = true;
    report_.made_at = kBegin;
  }

  [[nodiscard]] HttpAnswer livez() const { return answer_livez(heartbeat()); }
  [[nodiscard]] HttpAnswer healthz() const { return answer_healthz(report_.is_ready, heartbeat()); }
  [[nodiscard]] HttpAnswer startz() const { return answer_startz(report_.is_ready, now_ - kBegin, {}); }
  [[nodiscard]] Heartbeat heartbeat() const { return heartbeat_of(report_, now_, {}); }

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
  EXPECT_EQ(get("/livez").status, 503U);
  EXPECT_EQ(get("/startz").status, 200U);
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

}  // namespace
}  // namespace keysieve::test
