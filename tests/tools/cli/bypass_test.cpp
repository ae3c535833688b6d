// keysieve bypass on this host, and with --store the records that every loader applies to its host.
#include "core/publisher/shm/bypass.hpp"
#include "core/publisher/shm/publisher.hpp"
#include "core/worker/base/clock.hpp"
#include "tests/support/forked.hpp"
#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve::test {
namespace {

constexpr UnixSeconds kTwoHours = 7200;

class Bypass : public KeysieveProgram {
 protected:
  Bypass() { publish(build("tags", "猫\n")); }

  [[nodiscard]] bool is_bypassed() const { return keysieve({"query", "tags", "犬"}).output == "maybe\n"; }
};

TEST_F(Bypass, LastsUntilItIsSwitchedOff) {
  EXPECT_FALSE(is_bypassed());
  EXPECT_THAT(said({"bypass", "tags"}), HasSubstr("on, until `--off`: every lookup answers maybe"));
  EXPECT_TRUE(is_bypassed());
  EXPECT_THAT(said({"bypass", "tags", "--off"}), HasSubstr("off: lookups answer normally"));
  EXPECT_FALSE(is_bypassed());
}

TEST_F(Bypass, SaysWhenTheStoresOwnOutlastsTheOneOfThisHost) {
  set_store_bypass(shared_memory(), "tags", 0);
  run({"bypass", "tags"});
  EXPECT_THAT(said({"bypass", "tags", "--off"}), HasSubstr("off on this host, but on in the store"));
  EXPECT_TRUE(is_bypassed());
}

TEST_F(Bypass, IsNotWhatLostAddsAre) {
  Publisher({.directory = shared_memory()}, "tags").mark_adds_lost(1);
  EXPECT_THAT(said({"bypass", "tags", "--off"}),
              HasSubstr("off on this host; keysieve status says why the set does not answer"));
  EXPECT_TRUE(is_bypassed());
}

TEST_F(Bypass, CanEndByItself) {
  const UnixSeconds now = unix_now();
  const Json report = json({"bypass", "tags", "--for", "2h"});
  EXPECT_THAT(report, has({{"set", "tags"}, {"bypass", true}}));
  EXPECT_GE(report.at("bypass_until"), now + kTwoHours);
  EXPECT_LE(report.at("bypass_until"), unix_now() + kTwoHours);
  EXPECT_TRUE(is_bypassed());
  EXPECT_THAT(status_of_set(), has({{"bypass_until", report.at("bypass_until")}}));
  EXPECT_FALSE(json({"bypass", "tags"}).contains("bypass_until")) << "set again without an end";
  EXPECT_THAT(status_of_set(), has({{"bypass_until", nullptr}}));
  EXPECT_THAT(json({"bypass", "tags", "--off"}), has({{"bypass", false}}));
}

TEST_F(Bypass, NeedsTheOwnerOfTheSet) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  permit(set_folder(), 0755);
  const ProgramResult result = keysieve_as_nobody({"bypass", "tags"});
  EXPECT_EQ(result.exit_status, 77);
  EXPECT_EQ(result.errors, "keysieve: " + set_folder() + "/control: Permission denied\n");
  EXPECT_FALSE(is_bypassed());
}

TEST_F(Bypass, ChangesNothingWhenItIsMisused) {
  expect_refusals(64, {
                          {"bypass", "SET is missing"},
                          {"bypass tags --show", "--store"},
                          {"bypass tags --for 2h --off", "--for excludes --off"},
                          {"bypass tags --store " + store() + " --off --show", "excludes"},
                          {"bypass tags --for=0", "--for: \"0\""},
                          {"bypass tags --for=0ms", "--for: must be above 0; --off ends a bypass"},
                          {"bypass tags --for=-1h", "--for: \"-1h\""},
                      });
  EXPECT_FALSE(is_bypassed());
  EXPECT_THAT(names_in(shared_memory()), ElementsAre("tags"));
}

class BypassInStore : public KeysieveProgram {
 protected:
  BypassInStore() { push(build("tags", "猫\n")); }

  [[nodiscard]] StoreBypasses stored() const { return read_store_bypasses(*opened_store(), "tags"); }
  [[nodiscard]] Words bypass(const Words& options = {}) const {
    return Words{"bypass", "--store", store()} + options;
  }
};

TEST_F(BypassInStore, LastsUntilItIsSwitchedOff) {
  EXPECT_THAT(said(bypass({"tags"})), AllOf(ContainsRegex("set +tags\n"),
                                            HasSubstr("on, until `--off`: every lookup answers maybe\n"),
                                            ContainsRegex("of all sets +off\n")));
  EXPECT_EQ(stored().of_set, 0);
  EXPECT_THAT(said(bypass({"tags", "--off"})),
              HasSubstr("off in the store; hosts may have bypasses of their own\n"));
  EXPECT_FALSE(stored().of_set);
}

TEST_F(BypassInStore, CanEndByItself) {
  const UnixSeconds now = unix_now();
  const Json report = json(bypass({"tags", "--for", "2h"}));
  const UnixSeconds until = stored().of_set.value();
  EXPECT_GE(until, now + kTwoHours);
  EXPECT_LE(until, unix_now() + kTwoHours);
  EXPECT_THAT(report, has({{"set", "tags"},
                           {"bypass", true},
                           {"bypass_until", until},
                           {"of_set", {{"until", until}}},
                           {"of_all", nullptr}}));
}

TEST_F(BypassInStore, IsOfAllSetsWhenNoneIsNamed) {
  const Json report = json(bypass());
  EXPECT_THAT(report, has({{"set", nullptr}, {"bypass", true}}));
  EXPECT_FALSE(report.contains("of_set"));
  EXPECT_TRUE(stored().of_all);
  EXPECT_FALSE(stored().of_set);
  run(bypass({"tags"}));
  const Json off = json(bypass({"tags", "--off"}));
  EXPECT_THAT(off, has({{"bypass", true}, {"of_set", nullptr}})) << "all still are";
  EXPECT_THAT(off.at("of_all"), has({{"until", nullptr}}));
  run(bypass({"--off"}));
  EXPECT_FALSE(stored().of_all);
}

// In Redis, where no loader sees a record change that it is not told of.
TEST_F(BypassInStore, WakesTheLoadersOfTheSetOrOfAll) {
  const RedisServer server;
  const std::string url = patient(server.tcp_url());
  push(path("tags.ks"), url);
  const auto opened = open_store(url);
  for (const Words& how : {Words{"tags"}, Words{"--for=1h"}, Words{"--off"}}) {
    const auto watch = opened->watch();
    run(Words{"bypass", "--store", url} + how);
    EXPECT_TRUE(eventually([&] { return !watch->take().empty(); })) << how[0];
  }
}

TEST_F(BypassInStore, IsShownWithoutBeingChanged) {
  const auto shown = [&](const Words& set = {"tags"}) { return json(bypass({"--show"}) + set); };
  EXPECT_THAT(shown(), has({{"bypass", false}}));
  run(bypass({"tags", "--for", "1h"}));
  const Json set = shown();
  EXPECT_THAT(set, has({{"bypass", true}, {"bypass_until", stored().of_set.value()}}));
  EXPECT_THAT(shown({}), has({{"bypass", false}})) << "one set is not all";
  const UnixSeconds past = unix_now() - 1;
  set_store_bypass(*opened_store(), "tags", past);
  EXPECT_THAT(shown(), has({{"bypass", false}, {"of_set", {{"until", past}}}})) << "its time has passed";
}

TEST_F(BypassInStore, LeavesTheSwitchOfThisHostAlone) {
  publish(path("tags.ks"));
  run(bypass({"tags"}));
  EXPECT_EQ(answer("犬"), "absent");
  run({"bypass", "tags"});
  run(bypass({"tags", "--off"}));
  EXPECT_EQ(keysieve({"query", "tags", "犬"}).output, "maybe\n");
}

}  // namespace
}  // namespace keysieve::test
