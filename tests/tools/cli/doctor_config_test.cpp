// What the doctor finds with a configuration: its sets and seen sets, its stores and its cache.
#include <unistd.h>

#include <fstream>

#include "core/publisher/seen/new_segment.hpp"
#include "core/publisher/seen/seen_sizing.hpp"
#include "core/publisher/seen/seen_writer.hpp"
#include "core/publisher/shm/trouble.hpp"
#include "core/worker/base/clock.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/tools/cli/doctor_program.hpp"
#include "tools/doctor/doctor.hpp"

namespace keysieve::test {
namespace {

using DoctorOfConfiguration = DoctorProgram;
using DoctorOfSeenSets = DoctorProgram;

TEST_F(DoctorOfConfiguration, ReadsTheConfiguration) {
  load(store());
  write("keysieve.toml", read(path("keysieve.toml")) + "max_shrnik = 1\n");
  EXPECT_THAT(ask_with_config().fact("error", "configuration", "configuration"),
              AllOf(HasSubstr("keysieve.toml:8: "), HasSubstr("max_shrnik")));
  EXPECT_THAT(ask({"--config", path("none.toml")}).fact("error", "configuration", "configuration"),
              HasSubstr("none.toml"));
  configure(store());
  std::filesystem::create_directory(path("other"));
  EXPECT_THAT(ask({"--config", path("keysieve.toml"), "--directory", path("other")})
                  .fact("error", "configuration", "other_directory"),
              HasSubstr("publishes in " + shared_memory() + ", looked at is " + path("other")));
}

TEST_F(DoctorOfConfiguration, ComparesTheSetsOfTheConfigurationWithThoseThatArePublished) {
  load(store());
  configure(store(), "shop");
  const Answer answer = ask_with_config();
  static_cast<void>(answer.fact("error", "set shop", "not_published"));
  static_cast<void>(answer.fact("warning", "set tags", "not_configured"));
  EXPECT_EQ(answer.fact("error", "store main", "not_pushed"), store() + ": holds no snapshot of shop");
}

TEST_F(DoctorOfConfiguration, ComparesTheGenerationsOfTheStore) {
  load(store());
  push_keys(store(), {"--like", store()});
  EXPECT_EQ(ask_with_config().fact("warning", "store main", "behind"),
            store() + ": generation 2 of tags, 1 here");
  load_once();
  EXPECT_EQ(ask_with_config().codes(), Words{});
  const std::string wiped = "dir:" + path("wiped");
  push_keys(wiped);
  configure(wiped);
  EXPECT_EQ(ask_with_config().fact("warning", "store main", "store_behind"),
            wiped + ": generation 1 of tags, 2 here");
  write("wiped/keysieve:tags:current", "{");
  EXPECT_THAT(ask_with_config().fact("error", "store main", "damaged"), HasSubstr("keysieve:tags:current"));
}

TEST_F(DoctorOfConfiguration, SaysWhyAStoreIsNotReached) {
  configure("lmdb:" + path("nowhere"));
  static_cast<void>(ask_with_config().fact("error", "store main", "unavailable"));
  configure("redis+unix://" + path("no.sock"));
  EXPECT_THAT(ask_with_config().fact("error", "store main", "unavailable"), HasSubstr("no.sock"));
  const RedisServer redis({"--requirepass", "secret"});
  configure(redis.unix_url());
  static_cast<void>(ask_with_config().fact("error", "store main", "login"));
  EXPECT_FALSE(std::filesystem::exists(path("nowhere"))) << "it makes nothing";
}

TEST_F(DoctorOfConfiguration, LeavesNothingInTheStoreOfAnotherUser) {
  if (!is_root()) GTEST_SKIP() << "only root can give files away";
  load(store());
  ASSERT_EQ(::chown(path("store").c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(ask_with_config().codes(), Words{}) << "whose lock file is there";
  std::filesystem::remove(path("store/lock.mdb"));
  EXPECT_THAT(ask_with_config().fact("warning", "store main", "not_looked_at"), HasSubstr("lock file"));
  EXPECT_EQ(names_in(path("store")), Words{"data.mdb"});
}

TEST_F(DoctorOfConfiguration, LooksAtTheCache) {
  load(store());
  permit(path("cache"), 0777);
  EXPECT_THAT(ask_with_config().fact("error", "cache", "not_trusted"), HasSubstr(" 0777: "));
  permit(path("cache"), 0755);
  if (is_root()) {
    open_to_all();
    permit(path("keysieve.toml"), 0644);
    EXPECT_THAT(ask({"--config", path("keysieve.toml")}, kNobody).fact("error", "cache", "permission"),
                HasSubstr(": root:root 0755: Permission denied"));
  }
  std::filesystem::remove_all(path("cache"));
  EXPECT_THAT(ask_with_config().fact("error", "cache", "missing"), HasSubstr("No such file or directory"));
}

TEST_F(DoctorOfConfiguration, ShowsNoTextThatATerminalObeys) {
  configure("redis+unix://" + path("no\033[2J.sock"));
  EXPECT_THAT(keysieve({"doctor", "--config", path("keysieve.toml")}).output, Not(HasSubstr("\033")));
}

TEST_F(DoctorOfSeenSets, LooksAtSeenSetsAndTheirMemory) {
  load(store());
  SeenWriter writer(shared_memory(), "clicks", std::nullopt);
  writer.create({42}, OnUnavailable::Throw);
  writer.append({.window = {600, 1200, 1800}, .capacity = 100, .rate = 0.01, .size = seen_size(100, 0.01)},
                0);
  EXPECT_THAT(ask().fact("ok", "seen set clicks", "ok"),
              HasSubstr("ready: 0 of 100 keys in the newest of 1 window"));
  EXPECT_EQ(ask_with_config().codes(), Words{"not_configured"});
  run({"bypass", "clicks"});
  EXPECT_EQ(ask().exit_status, 0);
  EXPECT_THAT(ask().fact("warning", "seen set clicks", "bypassed"),
              HasSubstr("bypassed by an operator: 0 of 100 keys"));
  run({"bypass", "clicks", "--off"});
  Troubles full;
  full.add(Trouble::SeenFull);
  writer.looked(unix_now(), 0, full);
  EXPECT_THAT(ask().fact("warning", "seen set clicks", "seen_full"), HasSubstr("ready: "));
  writer.looked(unix_now() - 500, unix_now() - 100);
  EXPECT_THAT(ask().fact("warning", "seen set clicks", "loader_silent"), HasSubstr("ready: "));
  writer.looked(unix_now());
  remove_segment(writer.filters()[0].segment.key());  // ipcrm
  const Answer answer = ask();
  EXPECT_EQ(answer.exit_status, 1);
  EXPECT_THAT(answer.fact("error", "seen set clicks", "seen_missing"), HasSubstr("its memory is not there"));
}

TEST_F(DoctorOfSeenSets, WarnsOfAKernelThatRemovesTheMemoryOfSeenSets) {
  const auto codes_when = [&](const std::string& forced) {
    Findings findings;
    check_seen_sets(shared_memory(), nullptr, findings, write("shm_rmid_forced", forced));
    Words codes;
    for (const Finding& finding : findings.list()) codes.emplace_back(finding.code);
    return codes;
  };
  EXPECT_THAT(codes_when("1\n"), IsEmpty()) << "there is no seen set";
  std::filesystem::create_directories(shared_memory() + "/seen.d/clicks");
  EXPECT_THAT(codes_when("1\n"), ElementsAre("seen_missing", "seen_memory_may_go"));
  EXPECT_THAT(codes_when("0\n"), ElementsAre("seen_missing"));
  EXPECT_FALSE(is_shm_rmid_forced(path("none")));
}

TEST_F(DoctorOfSeenSets, LooksAtASeenSetThatIsConfiguredAndAtTheStoreThatOnlyItUses) {
  load(store());
  const auto with_seen_in = [&](const std::string& url) {
    std::ofstream(path("keysieve.toml"), std::ios::app)
        << "[[seen]]\nname = \"clicks\"\nkeys = 100\nwindow = \"1h\"\nstore = \"saved\"\n[store.saved]\nurl "
           "= \""
        << url << "\"\n";
  };
  with_seen_in("redis+unix://" + path("no.sock"));
  const Answer away = ask_with_config();
  EXPECT_THAT(away.fact("error", "seen set clicks", "seen_missing"), HasSubstr("configured, but not in "));
  EXPECT_THAT(away.fact("error", "store saved", "unavailable"), HasSubstr("no.sock"));
  configure(store());
  const RedisServer server;
  with_seen_in("redis://" + server.address());
  EXPECT_THAT(ask_with_config().fact("ok", "store saved", "ok"), HasSubstr(": no seed yet"));
}

}  // namespace
}  // namespace keysieve::test
