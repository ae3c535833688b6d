
#include <filesystem>
#include <sstream>

#include "core/publisher/shm/bypass.hpp"
#include "core/publisher/shm/publisher.hpp"
#include "core/worker/base/clock.hpp"
#include "tests/support/live_keys.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class Status : public KeysieveProgram {
 protected:
  void publish_set(const std::string& set_name, const Words& options = {}) const {
    publish(build(set_name, numbered_lines(100), options, set_name));
  }
  // The table says this, and the object of the only set has these members.
  template <typename Matcher>
  void expect_status(const Matcher& table, Json::initializer_list_t members) const {
    EXPECT_THAT(said({"status"}), table);
    EXPECT_THAT(status_of_set(), has(members));
  }
  // What is said of a set that has trouble.
  [[nodiscard]] std::string troubled(const Words& arguments) const {
    const ProgramResult result = keysieve(arguments);
    EXPECT_EQ(result.exit_status, 1) << result.output;
    EXPECT_EQ(result.errors, "");
    return result.output;
  }
  [[nodiscard]] Json troubled_set() const {
    return Json::parse(troubled({"status", "--json"})).at("sets").at(0);
  }
};

TEST_F(Status, SaysThatADirectoryIsEmpty) {
  const ProgramResult text = keysieve({"status"});
  EXPECT_EQ(text.exit_status, 1);
  EXPECT_THAT(text.output, AllOf(HasSubstr(shared_memory() + ": no set is published here\n"),
                                 HasSubstr(shared_memory() + ": 0 B in files")));
  EXPECT_THAT(Json::parse(keysieve({"status", "--json"}).output),
              has({{"directory", shared_memory()}, {"visible_bytes", 0}, {"sets", Json::array()}}));
}

TEST_F(Status, ColoursTheStateAndTheTroubleOnATerminal) {
  publish_set("tags");
  set_bypass(shared_memory(), "tags", 0);
  std::filesystem::create_directory(shared_memory() + "/never");
  ProgramCall call = call_of({});
  call.program = "/usr/bin/script";
  call.arguments = {"--quiet", "--command", "'" KEYSIEVE_PROGRAM "' status", "/dev/null"};
  call.environment = {"TERM=xterm", "KEYSIEVE_DIRECTORY=" + shared_memory()};
  EXPECT_THAT(run_program(call).output, AllOf(HasSubstr("\033[31mmissing\033[0m   \033[31mmissing\033[0m"),
                                              HasSubstr("\033[33mbypassed\033[0m")));
}

TEST_F(Status, ShowsWhatIsPublished) {
  publish_set("tags", {"--as-of", "@1700000000", "--key-profile", "nfc-lower"});
  expect_status(ContainsRegex("tags +ready +none +file +100 +- +[0-9]+d ago +- +-\n"),
                {{"set", "tags"},
                 {"availability", "ready"},
                 {"code", nullptr},
                 {"reason", nullptr},
                 {"troubles", Json::array()},
                 {"bypass", false},
                 {"bypass_until", nullptr},
                 {"publication", 1},
                 {"generation", 0},
                 {"kind", "split_block_bloom"},
                 {"key_profile", "nfc-lower"},
                 {"key_count", 100},
                 {"known_absent_count", nullptr},
                 {"bytes", read(path("tags.ks")).size()},
                 {"huge_page_bytes", 0},
                 {"as_of", 1'700'000'000},
                 {"valid_until", nullptr},
                 {"last_confirmed_at", nullptr},
                 {"heartbeat_at", nullptr},
                 {"added_keys", nullptr},
                 {"layer_bytes", nullptr},
                 {"layer_fill_ratio", nullptr},
                 {"layer_estimated_fpr", nullptr}});
  const Json tags = status_of_set();
  EXPECT_LE(tags.at("estimated_fpr"), 0.01);
  EXPECT_NEAR(tags.at("published_at").get<double>(), static_cast<double>(unix_now()), 60.0);
}

TEST_F(Status, ShowsHowManyKeysWereAddedAndHowFullTheLayerIs) {
  publish_with_layer(shared_memory(), build("tags", numbered_lines(100)));
  expect_status(ContainsRegex("tags +ready +none +file +100 +0 "),
                {{"layer_bytes", 4'096}, {"layer_fill_ratio", 0.0}});
  add_live_keys(shared_memory(), "tags", {"live1", "live2", "live2"});
  expect_status(ContainsRegex("tags +ready +none +file +100 +2 "),
                {{"added_keys", 2}, {"layer_fill_ratio", 2 * 8 / (8 * 4'096.0)}});
  EXPECT_GT(status_of_set().at("layer_estimated_fpr"), 0.0);
  EXPECT_LT(status_of_set().at("layer_estimated_fpr"), 1e-9);
}

TEST_F(Status, ShowsKnownAbsentKeysOfSetsThatHaveThem) {
  publish_set("shop");
  publish_set("tags", {"--known-absent", write("absent.txt", numbered_lines(5'000, "absent"))});
  EXPECT_THAT(said({"status", "--wide"}),
              AllOf(ContainsRegex(" keys +known absent +values +added "),
                    ContainsRegex("\nshop .* 100 +- +- +- "), ContainsRegex("\ntags .* 100 +5,000 +- +- ")));
  const Json sets = json({"status"}).at("sets");
  EXPECT_THAT(sets.at(0), has({{"set", "shop"}, {"known_absent_count", nullptr}}));
  EXPECT_THAT(sets.at(1), has({{"set", "tags"}, {"key_count", 100}, {"known_absent_count", 5'000}}));
}

TEST_F(Status, FitsInto100ColumnsUnlessAskedToBeWide) {
  publish_set("products-2026-de", {"--as-of", "@1700000000"});
  set_bypass(shared_memory(), "products-2026-de", 0);
  std::istringstream text(said({"status"}));
  for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 100U) << line;
  EXPECT_THAT(said({"status"}), Not(HasSubstr("estimated FPR")));
  EXPECT_THAT(
      said({"status", "--wide"}),
      ContainsRegex("publication .* live layer full +size +in huge pages +estimated FPR .*\n"
                    "products-2026-de +bypassed +none +1 +file +100 +- +- +- +- +12.0 KiB +0 B +.* % "));
}

TEST_F(Status, ShowsAllSetsOrTheNamedOnes) {
  publish_set("tags");
  publish_set("shop");
  std::filesystem::create_directory(shared_memory() + "/Not-A-Set");
  std::filesystem::create_symlink("loop", shared_memory() + "/loop");
  EXPECT_THAT(said({"status"}), AllOf(ContainsRegex("\nshop .*\ntags "), Not(HasSubstr("Not-A-Set"))));
  EXPECT_THAT(said({"status", "tags"}), AllOf(HasSubstr("\ntags "), Not(HasSubstr("\nshop "))));
  EXPECT_GT(json({"status"}).at("visible_bytes"), 2 * 12 * 1024);
}

TEST_F(Status, SaysWhyASetIsMissingExpiredOrDamaged) {
  const auto expect_trouble = [this](const std::string& availability, const std::string& code,
                                     const std::string& reason) {
    EXPECT_THAT(troubled({"status", "tags"}),
                AllOf(ContainsRegex("tags +" + availability + " +" + code + " "), HasSubstr(reason),
                      HasSubstr("\n" + code + ": docs/runbook.md#" + code + "\n")));
    const Json tags = troubled_set();
    EXPECT_THAT(tags, has({{"availability", availability}, {"code", code}, {"troubles", {code}}}));
    EXPECT_THAT(tags.at("reason").get<std::string>(), HasSubstr(reason));
  };
  std::filesystem::create_directory(set_folder());
  expect_trouble("missing", "missing", "No such file or directory");
  publish_set("tags", {"--as-of", "@1700000000", "--valid-for", "1h"});
  expect_trouble("expired", "expired", "past valid_for");
  EXPECT_THAT(troubled_set(), has({{"valid_until", 1'700'003'600}}));
  const std::string control = set_folder() + "/control";
  damage(control, 0);
  expect_trouble("missing", "damaged", control);
}

// As a loader leaves it in the control page, whoever looks and whether it runs.
TEST_F(Status, ShowsWhatKeepsTheLoaderFromItsWorkAndEndsWith1) {
  publish_set("tags");
  publish_set("shop");
  const UnixSeconds now = unix_now();
  {
    Publisher publisher({.directory = shared_memory()}, "tags");
    publisher.beat(now, now + 600);
    Troubles troubles;
    troubles.add(Trouble::Refused);
    troubles.add(Trouble::NotCached);
    publisher.note(troubles);
  }
  EXPECT_THAT(troubled({"status"}), AllOf(ContainsRegex("\ntags +ready +refused,not_cached "),
                                          ContainsRegex("\nshop +ready +none "),
                                          HasSubstr("\nrefused: docs/runbook.md#refused\n")));
  EXPECT_THAT(Json::parse(troubled({"status", "--json", "tags"})).at("sets").at(0),
              has({{"availability", "ready"}, {"code", nullptr}, {"troubles", {"refused", "not_cached"}}}));
  EXPECT_THAT(said({"status", "shop"}), ContainsRegex("shop +ready +none "));
  {
    Publisher publisher({.directory = shared_memory()}, "tags");
    publisher.beat(now - 700, now - 100);
    publisher.note({});
  }
  EXPECT_THAT(troubled({"status", "tags"}), ContainsRegex("tags +ready +loader_silent "));
  Publisher({.directory = shared_memory()}, "tags").beat(now - 700, 0);
  EXPECT_THAT(said({"status", "tags"}), ContainsRegex("tags +ready +none "))
      << "keysieved --once promises nothing";
}

TEST_F(Status, ShowsBothWaysToBypassASet) {
  publish_set("tags");
  set_store_bypass(shared_memory(), "tags", 4'000'000'000);
  const auto until = HasSubstr(", until 2096-10-02T07:06:40Z\n");
  expect_status(AllOf(until, HasSubstr("tags: bypassed in the store")),
                {{"availability", "bypassed"},
                 {"code", "bypassed"},
                 {"bypass", false},
                 {"store_bypass", true},
                 {"store_bypass_until", 4'000'000'000}});
  set_bypass(shared_memory(), "tags", 3'000'000'000);
  expect_status(until, {{"bypass", true}, {"bypass_until", 3'000'000'000}});
  set_bypass(shared_memory(), "tags", 0);
  expect_status(AllOf(ContainsRegex("tags +bypassed "), Not(HasSubstr("until")),
                      HasSubstr("by an operator of this host, and in the store")),
                {{"bypass", true},
                 {"bypass_until", nullptr},
                 {"store_bypass", true},
                 {"store_bypass_until", 4'000'000'000}});
}

TEST_F(Status, SaysThatAddsAreLostAndNotUntilWhen) {
  publish_set("tags");
  set_bypass(shared_memory(), "tags", 3'000'000'000);
  Publisher({.directory = shared_memory()}, "tags").mark_adds_lost(1);
  EXPECT_THAT(troubled({"status"}), AllOf(HasSubstr("tags: the store has lost keys that were added to it\n"),
                                          Not(HasSubstr("until"))));
  EXPECT_THAT(troubled_set(), has({{"availability", "bypassed"}, {"code", "adds_lost"}}));
}

TEST_F(Status, FindsDamageThatNoReaderNoticesWhenToldToVerify) {
  publish_set("tags");
  publish_set("shop");
  EXPECT_THAT(said({"status", "--verify"}), HasSubstr("ready"));
  damage(shared_memory() + "/tags/" + snapshot_file_name(1), 9'000);
  EXPECT_THAT(said({"status"}), HasSubstr("ready"));
  EXPECT_THAT(troubled({"status", "--verify"}),
              AllOf(ContainsRegex("\nshop +ready +none "), ContainsRegex("\ntags +ready +damaged "),
                    ContainsRegex("\ntags: publication 1: .*checksum")));
  for (const std::size_t offset :
       {0U, 4'096U}) {  // header and tables: a reader that begins now refuses to attach it
    damage(shared_memory() + "/shop/" + snapshot_file_name(1), offset);
    EXPECT_THAT(troubled({"status", "--verify", "shop"}), ContainsRegex("\nshop +missing +damaged "));
    damage(shared_memory() + "/shop/" + snapshot_file_name(1), offset);
  }
}

}  // namespace
}  // namespace keysieve::test
