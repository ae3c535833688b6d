// keysieve bypass --store: the records that every loader applies to its host; nothing changes on this host.
#include "tools/transfer/store_bypass.hpp"
#include "core/base/clock.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/transfer/adds_log.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class BypassInStore : public KeysieveProgram, public ::testing::WithParamInterface<StoreKind> {
 protected:
  BypassInStore() { open_store(url_); }

  [[nodiscard]] StoreBypasses stored(const std::string& set_name = "tags") const {
    return read_store_bypasses(*open_store(url_, IfMissing::Refuse), set_name);
  }

  const std::string url_ = GetParam().empty_store(directory_);
};

TEST_P(BypassInStore, LastsUntilItIsSwitchedOff) {
  EXPECT_THAT(
      said({"bypass", "tags", "--store", url_}),
      AllOf(ContainsRegex("set +tags\n"), HasSubstr("on, until `--off`: every lookup answers maybe\n"),
            ContainsRegex("of all sets +off\n"), ContainsRegex("loaders +are woken\n")));
  ASSERT_TRUE(stored().of_set);
  EXPECT_EQ(stored().of_set->until, 0);
  EXPECT_NEAR(static_cast<double>(stored().of_set->set_at), static_cast<double>(unix_now()), 60.0);
  EXPECT_THAT(said({"bypass", "tags", "--store", url_, "--off"}), HasSubstr("off: lookups are answered\n"));
  EXPECT_FALSE(stored().of_set);
}

TEST_P(BypassInStore, CanEndByItself) {
  const UnixSeconds now = unix_now();
  const Json report = json({"bypass", "tags", "--store", url_, "--for", "2h"});
  EXPECT_EQ(report.at("set"), "tags");
  EXPECT_EQ(report.at("bypass"), true);
  EXPECT_EQ(report.at("loaders_woken"), true);
  EXPECT_GE(report.at("bypass_until"), now + 7200);
  EXPECT_LE(report.at("bypass_until"), unix_now() + 7200);
  EXPECT_EQ(report.at("bypass_until"), stored().of_set->until);
  EXPECT_EQ(report.at("of_set").at("until"), stored().of_set->until);
  EXPECT_EQ(report.at("of_set").at("set_at"), stored().of_set->set_at);
  EXPECT_EQ(report.at("of_all"), nullptr);
}

TEST_P(BypassInStore, IsOfAllSetsWhenNoneIsNamed) {
  const Json report = json({"bypass", "--store", url_});
  EXPECT_EQ(report.at("set"), nullptr);
  EXPECT_EQ(report.at("bypass"), true);
  EXPECT_EQ(report.at("loaders_woken"), true);
  EXPECT_FALSE(report.contains("of_set"));
  EXPECT_TRUE(stored().of_all);
  EXPECT_FALSE(stored().of_set);
  EXPECT_THAT(said({"bypass", "--store", url_, "--off"}), HasSubstr("loaders      are woken\n"));
  EXPECT_FALSE(stored().of_all);
}

TEST_P(BypassInStore, WakesTheLoadersOfASetWhenAllAreBypassed) {
  static_cast<void>(said({"push", build("tags", "猫\n"), url_}));
  const auto store = open_store(url_);
  const std::string log = adds_log(*store, "tags");
  for (const char* how : {"--for=1h", "--off"}) {
    const auto watch = store->watch();
    const WatchedLog watched{log, store->end_of(log)};
    do watch->arm(std::span(&watched, 1));  // a new watch may begin with a hint
    while (!watch->take().empty());
    EXPECT_EQ(json({"bypass", "--store", url_, how}).at("loaders_woken"), true);
    EXPECT_TRUE(eventually([&] { return !watch->take().empty(); })) << how;
  }
}

TEST_P(BypassInStore, StaysOnForASetWhileAllAreBypassed) {
  static_cast<void>(said({"bypass", "--store", url_}));
  static_cast<void>(said({"bypass", "tags", "--store", url_}));
  const Json report = json({"bypass", "tags", "--store", url_, "--off"});
  EXPECT_EQ(report.at("bypass"), true);
  EXPECT_EQ(report.at("of_set"), nullptr);
  EXPECT_EQ(report.at("of_all").at("until"), nullptr);
}

TEST_P(BypassInStore, IsShownWithoutBeingChanged) {
  EXPECT_EQ(json({"bypass", "tags", "--store", url_, "--show"}).at("bypass"), false);
  EXPECT_EQ(json({"bypass", "--store", url_, "--show"}).at("bypass"), false);
  static_cast<void>(said({"bypass", "tags", "--store", url_, "--for", "1h"}));
  const Json shown = json({"bypass", "tags", "--store", url_, "--show"});
  EXPECT_EQ(shown.at("bypass"), true);
  EXPECT_EQ(shown.at("bypass_until"), stored().of_set->until);
  EXPECT_FALSE(shown.contains("loaders_woken"));
  EXPECT_EQ(json({"bypass", "--store", url_, "--show"}).at("bypass"), false) << "one set is not all";
}

TEST_P(BypassInStore, ShowsOneWhoseTimeHasPassedAsOff) {
  set_store_bypass(*open_store(url_), "tags", {.until = unix_now() - 1, .set_at = 5});
  const Json shown = json({"bypass", "tags", "--store", url_, "--show"});
  EXPECT_EQ(shown.at("bypass"), false);
  EXPECT_EQ(shown.at("of_set").at("set_at"), 5);
}

TEST_P(BypassInStore, LeavesTheSwitchOfThisHostAlone) {
  static_cast<void>(said({"publish", build("tags", "猫\n")}));
  static_cast<void>(said({"bypass", "tags", "--store", url_}));
  EXPECT_EQ(answer("犬"), "absent");
  static_cast<void>(said({"bypass", "tags"}));
  static_cast<void>(said({"bypass", "tags", "--store", url_, "--off"}));
  EXPECT_EQ(keysieve({"query", "tags", "犬"}).output, "maybe\n");
}

// Records of a set and those of the store never meet, whatever a set is called.
TEST_P(BypassInStore, WorksForSetsThatAreNamedLikeRecords) {
  const Words names{"adds", "bypass", "current", "seed"};
  static_cast<void>(said({"bypass", "--store", url_, "--for", "1h"}));
  for (const std::string& name : names) {
    static_cast<void>(said({"push", build(name, name + "\n", {"--store", url_}, name), url_}));
    static_cast<void>(said({"bypass", name, "--store", url_}));
  }
  for (const std::string& name : names) {
    static_cast<void>(said({"pull", url_, name, "-o", path("pulled.ks")}));
    EXPECT_EQ(read(path("pulled.ks")), read(path(name + ".ks"))) << name;
    EXPECT_EQ(json({"bypass", name, "--store", url_, "--off"}).at("of_set"), nullptr);
  }
  EXPECT_TRUE(stored().of_all);
}

TEST_P(BypassInStore, RefusesWrongNamesAndStoresThatAreNotThere) {
  EXPECT_THAT(refusal(64, {"bypass", "..", "--store", url_}), HasSubstr("set name \"..\""));
  EXPECT_THAT(refusal(64, {"bypass", "tags", "--store", ""}), HasSubstr("store \"\" is not known"));
  EXPECT_THAT(refusal(64, {"bypass", "tags", "--store", url_, "--off", "--show"}), HasSubstr("excludes"));
  for (const std::string scheme : {"lmdb:", "dir:"}) {
    EXPECT_THAT(refusal(69, {"bypass", "tags", "--store", scheme + path("none")}), HasSubstr(path("none")));
  }
  EXPECT_THAT(names_in(directory_.path()), Not(::testing::Contains("none")));
}

INSTANTIATE_TEST_SUITE_P(EveryStore, BypassInStore, every_store, store_kind_name);

}  // namespace
}  // namespace keysieve::test
