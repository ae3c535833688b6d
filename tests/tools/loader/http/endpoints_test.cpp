#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/publisher/shm/bypass.hpp"
#include "tests/tools/loader/http/status_fixture.hpp"

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
        "keysieve_set_availability{set=\"tags\",state=\"ready\"} 1",
        "keysieve_set_trouble{set=\"tags\",trouble=\"none\"} 1", "keysieve_set_publication{set=\"tags\"} 2",
        "keysieve_set_keys{set=\"tags\"} 1100", "keysieve_set_max_fpr_ratio{set=\"tags\"} 0.02",
        "keysieve_set_store_generation{set=\"tags\"} 2", "keysieve_set_store_lag_seconds{set=\"tags\"} 0",
        "keysieve_set_added_keys{set=\"tags\"} 0", "keysieve_set_pull_duration_seconds_count{set=\"tags\"} 2",
        "keysieve_set_publish_duration_seconds_bucket{set=\"tags\",le=\"+Inf\"} 2",
        "keysieve_set_refused_generations_total{set=\"tags\",reason=\"max_shrink\"} 0"}) {
    EXPECT_THAT(all, HasSubstr(std::string("\n") + line + "\n"));
  }
  EXPECT_NEAR(value_of("keysieve_set_keys_change_ratio{set=\"tags\"}"), 0.1, 1e-9);
  EXPECT_GT(value_of("keysieve_set_as_of_age_seconds{set=\"tags\"}"), 1e6);
  EXPECT_GT(value_of("keysieve_set_bytes{set=\"tags\"}"), 4096);
  EXPECT_GT(value_of("keysieve_set_estimated_fpr_ratio{set=\"tags\"}"), 0);
  EXPECT_GT(value_of("keysieve_directory_visible_bytes"), 4096);
  EXPECT_THAT(all, Not(HasSubstr("keysieve_set_expires_in_seconds"))) << "it has no limit";
  EXPECT_THAT(all, Not(HasSubstr("keysieve_set_valid_for_seconds"))) << "it has no limit";

  site_.push("tags", first_keys(100));
  site_.add("tags", added_keys(7));
  ASSERT_TRUE(counts("keysieve_set_trouble{set=\"tags\",trouble=\"refused\"} 1")) << log();
  ASSERT_TRUE(looks_again(3));
  EXPECT_TRUE(says("[refused]")) << log();
  EXPECT_TRUE(counts("keysieve_set_added_keys{set=\"tags\"} 7")) << log();
  EXPECT_TRUE(counts("keysieve_set_adds_kept{set=\"tags\"} 7"));
  EXPECT_GT(value_of("keysieve_set_layer_fill_ratio{set=\"tags\"}"), 0);
  EXPECT_TRUE(counts("keysieve_set_refused_generations_total{set=\"tags\",reason=\"max_shrink\"} 1"));
  EXPECT_TRUE(counts("keysieve_set_generation{set=\"tags\"} 2"));
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
  const auto report = nlohmann::json::parse(get("/status.json").body);
  ASSERT_EQ(report.at("sets").size(), 2U);
  EXPECT_EQ(report.at("directory"), site_.directory());
  EXPECT_EQ(report.at("sets").at(0).at("availability"), "ready");
  EXPECT_EQ(report.at("sets").at(0).at("key_count"), 1000);
  EXPECT_EQ(report.at("sets").at(0).at("loader").at("history").at(0).at("event"), "published");
  EXPECT_EQ(report.at("sets").at(0).at("known_absent_count"), 0);
  EXPECT_EQ(report.at("sets").at(0).at("loader").at("history").at(0).at("known_absent_count"), 0);
  EXPECT_EQ(report.at("sets").at(1).at("loader").at("trouble"), "unavailable");
  EXPECT_THAT(report.at("stores").dump(), HasSubstr("no.sock"));
  for (const char* path : {"/", "/metrics", "/status.json", "/page.json", "/livez", "/healthz", "/startz"}) {
    EXPECT_THAT(get(path).body, Not(HasSubstr("verysecret"))) << path;
  }
}

TEST_F(KeysievedStatus, SaysWhatThereIsInsteadOfAnUnknownPath) {
  site_.configure(status_config() + tags_set);
  start();
  ASSERT_TRUE(says("status page and metrics at unix:")) << log();
  for (const char* path : {"/metric", "/../etc/passwd", "/index.html", "//"}) {
    EXPECT_EQ(get(path).status, 404) << path;
  }
}

TEST_F(KeysievedStatus, IsServedElsewhereAfterAReloadAndGoesWithTheLoader) {
  follow_tags();
  EXPECT_FALSE(std::filesystem::exists(socket())) << "off, unless it is configured";
  site_.configure(status_config() + tags_set);
  keysieved_->send(SIGHUP);
  ASSERT_TRUE(says("status page and metrics at unix:")) << log();
  EXPECT_TRUE(counts("keysieve_set_pull_duration_seconds_count{set=\"tags\"} 1")) << "from before the reload";
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

}  // namespace
}  // namespace keysieve::test
