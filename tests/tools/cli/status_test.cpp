#include <filesystem>

#include "core/base/clock.hpp"
#include "core/shm/bypass.hpp"
#include "tests/support/live_keys.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class Status : public KeysieveProgram {
 protected:
  void publish(const std::string& set_name, const Words& options = {}) const {
    static_cast<void>(said({"publish", build(set_name, numbered_lines(100), options, set_name)}));
  }
  // Of the only set.
  [[nodiscard]] Json set() const {
    const Json sets = json({"status"}).at("sets");
    EXPECT_EQ(sets.size(), 1U);
    return sets.at(0);
  }
};

TEST_F(Status, SaysThatADirectoryIsEmpty) {
  EXPECT_THAT(said({"status"}), AllOf(HasSubstr(shared_memory() + ": no set is published here\n"),
                                      HasSubstr(shared_memory() + ": 0 B in files")));
  const Json report = json({"status"});
  EXPECT_EQ(report.at("directory"), shared_memory());
  EXPECT_EQ(report.at("visible_bytes"), 0);
  EXPECT_TRUE(report.contains("pinned_bytes"));
  EXPECT_TRUE(report.contains("huge_pages"));
  EXPECT_EQ(report.at("sets"), Json::array());
}

TEST_F(Status, ShowsWhatIsPublished) {
  publish("tags", {"--as-of", "@1700000000"});
  EXPECT_THAT(said({"status"}), ContainsRegex("tags +ready +1 +file +100 +12.0 KiB +0 % +.* % +- +[0-9]+d "));
  const Json tags = set();
  EXPECT_EQ(tags.at("set"), "tags");
  EXPECT_EQ(tags.at("availability"), "ready");
  EXPECT_EQ(tags.at("reason"), nullptr);
  EXPECT_EQ(tags.at("bypass"), false);
  EXPECT_EQ(tags.at("bypass_until"), nullptr);
  EXPECT_EQ(tags.at("publication"), 1);
  EXPECT_EQ(tags.at("generation"), 0);
  EXPECT_EQ(tags.at("kind"), "split_block_bloom");
  EXPECT_EQ(tags.at("key_count"), 100);
  EXPECT_EQ(tags.at("bytes"), read(path("tags.ks")).size());
  EXPECT_EQ(tags.at("huge_page_bytes"), 0);
  EXPECT_LE(tags.at("estimated_fpr"), 0.01);
  EXPECT_EQ(tags.at("as_of"), 1'700'000'000);
  EXPECT_NEAR(tags.at("published_at").get<double>(), static_cast<double>(unix_now()), 60.0);
  EXPECT_EQ(tags.at("valid_until"), nullptr);
  EXPECT_EQ(tags.at("last_confirmed"), nullptr);
  EXPECT_EQ(tags.at("heartbeat"), nullptr);
  EXPECT_EQ(tags.at("live_keys"), 0);
  EXPECT_EQ(tags.at("layer_bytes"), 0);
  EXPECT_EQ(tags.at("layer_fill_ratio"), nullptr);
  EXPECT_EQ(tags.at("layer_estimated_fpr"), nullptr);
}

TEST_F(Status, ShowsHowManyKeysWereAddedAndHowFullTheLayerIs) {
  publish_with_layer(shared_memory(), build("tags", numbered_lines(100)));
  EXPECT_THAT(said({"status"}), ContainsRegex(" 0, 0 % full "));
  EXPECT_EQ(set().at("layer_bytes"), 4'096);
  EXPECT_EQ(set().at("layer_fill_ratio"), 0.0);

  add_live_keys(shared_memory(), "tags", {"live1", "live2", "live2"});
  EXPECT_THAT(said({"status"}), ContainsRegex(" 2, 0.0488 % full "));
  const Json tags = set();
  EXPECT_EQ(tags.at("live_keys"), 2);
  EXPECT_DOUBLE_EQ(tags.at("layer_fill_ratio"), 2 * 8 / (8 * 4'096.0));
  EXPECT_GT(tags.at("layer_estimated_fpr"), 0.0);
  EXPECT_LT(tags.at("layer_estimated_fpr"), 1e-9);
}

TEST_F(Status, ShowsAllSetsOrTheNamedOnes) {
  publish("tags");
  publish("shop");
  std::filesystem::create_directory(shared_memory() + "/Not-A-Set");
  std::filesystem::create_symlink("loop", shared_memory() + "/loop");
  EXPECT_THAT(said({"status"}), AllOf(ContainsRegex("\nshop .*\ntags "), Not(HasSubstr("Not-A-Set"))));
  EXPECT_THAT(said({"status", "tags"}), AllOf(HasSubstr("\ntags "), Not(HasSubstr("\nshop "))));
  EXPECT_GT(json({"status"}).at("visible_bytes"), 2 * 12 * 1024);
}

TEST_F(Status, SaysWhyASetIsMissing) {
  EXPECT_THAT(said({"status", "tags"}),
              AllOf(ContainsRegex("tags +missing "), HasSubstr("No such file or directory")));
  const Json tags = json({"status", "tags"}).at("sets").at(0);
  EXPECT_EQ(tags.at("availability"), "missing");
  EXPECT_THAT(tags.at("reason").get<std::string>(), HasSubstr("No such file or directory"));
}

TEST_F(Status, SaysThatASetHasExpired) {
  publish("tags", {"--as-of", "@1700000000", "--valid-for", "1h"});
  EXPECT_THAT(said({"status"}), AllOf(ContainsRegex("tags +expired "), HasSubstr("past valid_for")));
  EXPECT_EQ(set().at("availability"), "expired");
  EXPECT_EQ(set().at("valid_until"), 1'700'003'600);
}

TEST_F(Status, SaysThatASetIsBypassed) {
  publish("tags");
  set_bypass(shared_memory(), "tags", 4'000'000'000);
  EXPECT_THAT(said({"status"}), HasSubstr("bypassed until 2096-10-02T07:06:40Z"));
  EXPECT_EQ(set().at("availability"), "bypassed");
  EXPECT_EQ(set().at("bypass"), true);
  EXPECT_EQ(set().at("bypass_until"), 4'000'000'000);
}

TEST_F(Status, ShowsBothWaysToBypassASet) {
  publish("tags");
  set_store_bypass(shared_memory(), "tags", 4'000'000'000);
  EXPECT_THAT(said({"status"}), AllOf(HasSubstr("bypassed until 2096-10-02T07:06:40Z"),
                                      HasSubstr("tags: bypassed in the store\n")));
  Json tags = set();
  EXPECT_EQ(tags.at("bypass"), false);
  EXPECT_EQ(tags.at("store_bypass"), true);
  EXPECT_EQ(tags.at("store_bypass_until"), 4'000'000'000);

  set_bypass(shared_memory(), "tags", 0);  // no end of it is in sight now
  EXPECT_THAT(said({"status"}), AllOf(ContainsRegex("tags +bypassed "), Not(HasSubstr("until")),
                                      HasSubstr("by an operator of this host, and in the store")));
  tags = set();
  EXPECT_EQ(tags.at("bypass"), true);
  EXPECT_EQ(tags.at("bypass_until"), nullptr);
  EXPECT_EQ(tags.at("store_bypass"), true);
  EXPECT_EQ(tags.at("store_bypass_until"), 4'000'000'000);
}

TEST_F(Status, CountsABypassThatIsOverAsNone) {
  publish("tags");
  set_bypass(shared_memory(), "tags", 1'700'000'000);
  EXPECT_THAT(said({"status"}), AllOf(ContainsRegex("tags +ready "), Not(HasSubstr("until"))));
  EXPECT_EQ(set().at("availability"), "ready");
  EXPECT_EQ(set().at("bypass"), false);
  EXPECT_EQ(set().at("bypass_until"), nullptr);
}

TEST_F(Status, SaysThatASetIsDamaged) {
  publish("tags");
  const std::string control = shared_memory() + "/tags/control";
  damage(control, 0);
  EXPECT_THAT(said({"status"}), AllOf(ContainsRegex("tags +missing "), HasSubstr(control)));
}

TEST_F(Status, NamesADirectoryThatIsMissing) {
  EXPECT_EQ(refusal(66, {"status", "--directory", path("none")}),
            "directory " + path("none") + ": No such file or directory");
}

TEST_F(Status, RefusesWrongSetNames) {
  for (const char* name : {".", "..", "A", ""}) {
    EXPECT_THAT(refusal(64, {"status", name}), HasSubstr("set name \"" + std::string(name) + "\"")) << name;
  }
}

}  // namespace
}  // namespace keysieve::test
