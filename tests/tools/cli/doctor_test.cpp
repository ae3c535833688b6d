// Each code of the doctor, brought about for real, next to the same thing in order.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "core/publisher/seen/new_segment.hpp"
#include "core/publisher/seen/seen_sizing.hpp"
#include "core/publisher/seen/seen_writer.hpp"
#include "core/publisher/shm/bypass.hpp"
#include "core/publisher/shm/publisher.hpp"
#include "core/publisher/shm/trouble.hpp"
#include "core/worker/base/clock.hpp"
#include "core/worker/shm/control_file.hpp"
#include "core/worker/shm/set_reader.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/mounts.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class DoctorProgram : public KeysieveProgram {
 protected:
  DoctorProgram() { std::filesystem::create_directory(path("cache")); }

  // What one call of the doctor has found.
  struct Answer {
    int exit_status = 0;
    Json findings;

    // The fact of the one finding of that code about the subject; expects it to be there, as severe as that.
    [[nodiscard]] std::string fact(const std::string& severity, const std::string& subject,
                                   const std::string& code) const {
      for (const Json& finding : findings) {
        if (finding.at("subject") != subject || finding.at("code") != code) continue;
        EXPECT_EQ(finding.at("severity"), severity);
        if (severity != "ok") {
          EXPECT_EQ(finding.at("runbook"), "docs/runbook.md#" + code);
        }
        if (severity == "error") {
          EXPECT_EQ(exit_status, 1);
        }
        return finding.at("fact");
      }
      ADD_FAILURE() << "no " << code << " about " << subject << " in " << findings.dump(1);
      return "";
    }
    // The codes of what is not ok, but for not_tmpfs: the tests run where they are put.
    [[nodiscard]] Words codes() const {
      Words codes;
      for (const Json& finding : findings) {
        if (finding.at("severity") != "ok" && finding.at("code") != "not_tmpfs")
          codes.push_back(finding.at("code"));
      }
      return codes;
    }
  };
  [[nodiscard]] static Answer answer_to(const ProgramCall& call) {
    const ProgramResult result = run_program(call);
    EXPECT_EQ(result.errors, "");
    return {result.exit_status, Json::parse(result.output).at("findings")};
  }
  // The doctor's call, where that file says something else.
  [[nodiscard]] ProgramCall with_file_at(const std::string& file, const std::string& text) const {
    const std::string script = "mount --bind \"$0\" " + file + " && exec \"$@\"";
    ProgramCall call =
        call_of({"--mount", "sh", "-c", script, write("bound", text), KEYSIEVE_PROGRAM, "doctor", "--json"});
    call.program = "/usr/bin/unshare";
    return call;
  }
  [[nodiscard]] Answer ask(const Words& arguments = {}, std::optional<uid_t> user = std::nullopt) const {
    ProgramCall call = call_of(Words{"doctor", "--json"} + arguments);
    call.user = user;
    return answer_to(call);
  }
  [[nodiscard]] Answer ask_with_config() const { return ask({"--config", path("keysieve.toml")}); }

  void publish_keys(const Words& options = {}, int keys = 100) const {
    publish(build("tags", numbered_lines(keys), options));
  }
  void push_keys(const std::string& url, const Words& options = {}) const {
    push(build("tags", numbered_lines(100), options), url);
  }
  void configure(const std::string& url, const std::string& set_name = "tags") const {
    write("keysieve.toml", "directory = \"" + shared_memory() + "\"\ncache = \"" + path("cache") +
                               "\"\n[store.main]\nurl = \"" + url + "\"\n[[set]]\nname = \"" + set_name +
                               "\"\nstore = \"main\"\n");
  }
  void load_once() const {
    const ProgramCall call{.program = KEYSIEVED_PROGRAM,
                           .arguments = {"--once", "--config", path("keysieve.toml")}};
    EXPECT_EQ(run_program(call).exit_status, 0);
  }
  // A set that a loader has published, with all in order.
  void load(const std::string& url) const {
    push_keys(url);
    configure(url);
    load_once();
  }
  // So that another user can look into it.
  void open_to_all() const {
    for (const std::string& folder : {path(""), shared_memory()}) permit(folder, 0755);
  }
};

class Doctor : public DoctorProgram {
 protected:
  void change_control(const std::function<void(ControlPage&)>& change) const {
    const auto control =
        open_control_page<ControlPage>(SetFolder::open(shared_memory(), "tags", ::geteuid()));
    change(control.page());
  }
};

TEST_F(Doctor, StatesFactsOfWhatIsInOrder) {
  load(store());
  const Answer answer = ask_with_config();
  EXPECT_EQ(answer.codes(), Words{});
  EXPECT_EQ(answer.exit_status, 0);
  EXPECT_THAT(answer.fact("ok", "program", "ok"),
              AllOf(HasSubstr("snapshot format 1"), HasSubstr("run by ")));
  EXPECT_THAT(answer.fact("ok", "configuration", "ok"), HasSubstr("1 set, 1 store"));
  EXPECT_THAT(
      answer.fact("ok", "set tags", "ok"),
      ContainsRegex("ready: generation 1, keys 100, added 0, keys as of .* ago, store checked .* ago"));
  EXPECT_THAT(answer.fact("ok", "room", "ok"), HasSubstr(" free of "));
  EXPECT_THAT(answer.fact("ok", "memory", "ok"), HasSubstr("enough is left"));
  EXPECT_THAT(answer.fact("ok", "cache", "ok"),
              ContainsRegex(path("cache") + ": [^ ]+ 07[05]+: .* free of "));
  EXPECT_EQ(answer.fact("ok", "store main", "ok"), store() + ": generation 1 of tags, as here");
}

TEST_F(Doctor, PrintsALineForEachFinding) {
  const ProgramResult result = keysieve({"doctor"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.output,
              AllOf(ContainsRegex("\nok +program +ok "),
                    ContainsRegex("\nerror +directory +not_published +" + shared_memory() +
                                  ": no set is published here \\(docs/runbook.md#not_published\\)\n")));
}

TEST_F(Doctor, NamesTheFirstPartOfThePathThatIsMissing) {
  EXPECT_EQ(ask({"--directory", path("none/deeper")}).fact("error", "directory", "missing"),
            "directory " + path("none") + ": No such file or directory");
}

TEST_F(Doctor, NamesTheFolderThatThisUserMayNotEnter) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  publish_keys();
  permit(path(""), 0700);
  EXPECT_THAT(ask({}, kNobody).fact("error", "directory", "permission"), HasSubstr(": root:root 0700: "));
  EXPECT_EQ(ask().exit_status, 0) << "as root";
}

TEST_F(Doctor, NamesTheSetThatThisUserMayNotRead) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  publish_keys();
  open_to_all();
  permit(set_folder(), 0750);
  EXPECT_THAT(
      ask({}, kNobody).fact("error", "set tags", "permission"),
      AllOf(HasSubstr("/tags: Permission denied"), HasSubstr("; " + set_folder() + ": root:root 0750")));
  permit(set_folder(), 0755);
  for (const auto& file : std::filesystem::directory_iterator(set_folder())) {
    permit(file.path(), 0644);
  }
  EXPECT_EQ(ask({}, kNobody).codes(), Words{});
}

TEST_F(Doctor, WarnsOfAFolderThatOthersMayWriteTo) {
  publish_keys();
  permit(shared_memory(), 0777);
  EXPECT_THAT(ask().fact("warning", "directory", "not_trusted"), HasSubstr(" 0777: others may put"));
  permit(shared_memory(), 01777);
  EXPECT_EQ(ask().codes(), Words{});
}

TEST_F(Doctor, SaysWhoOwnsASetThatIsNotTrusted) {
  publish_keys();
  permit(set_folder(), 02770);
  EXPECT_THAT(ask().fact("error", "set tags", "not_trusted"),
              AllOf(HasSubstr("may write to it"), HasSubstr(" 2770")));
}

TEST_F(Doctor, TellsADiskFromMemory) {
  const Answer on_disk = ask({"--directory", "/proc"});
  EXPECT_THAT(on_disk.fact("warning", "directory", "not_tmpfs"),
              HasSubstr("/proc: root:root 0555, on a disk"));
  const MountedTmpfs memory(shared_memory(), "1m");
  if (memory.error() != 0) GTEST_SKIP() << "only root may mount";
  EXPECT_THAT(ask().fact("ok", "directory", "ok"), HasSubstr(", a tmpfs"));
}

TEST_F(Doctor, ComparesChecksumsOfAllThatIsPublished) {
  publish_keys();
  damage(set_folder() + "/" + snapshot_file_name(1), 9'000);
  EXPECT_THAT(ask().fact("error", "set tags", "damaged"), HasSubstr("checksum"));
}

TEST_F(Doctor, SaysWhyASetDoesNotAnswer) {
  publish_keys({"--as-of", "@1700000000", "--valid-for", "1h"});
  EXPECT_THAT(ask().fact("error", "set tags", "expired"),
              AllOf(HasSubstr("past valid_for"), HasSubstr("keys 100")));
  damage(set_folder() + "/control", 8);  // the endian mark
  EXPECT_THAT(ask().fact("error", "set tags", "incompatible"), HasSubstr("/control"));
}

TEST_F(Doctor, OnlyWarnsOfABypass) {
  publish_keys();
  set_bypass(shared_memory(), "tags", 0);
  const Answer answer = ask();
  EXPECT_THAT(answer.fact("warning", "set tags", "bypassed"), HasSubstr("by an operator of this host"));
  EXPECT_EQ(answer.exit_status, 0);
}

TEST_F(Doctor, FailsForLostAddsWhateverIsBypassed) {
  publish_keys();
  Publisher({.directory = shared_memory()}, "tags").mark_adds_lost(1);
  for (int i = 0; i < 2; ++i) {
    const Answer answer = ask();
    EXPECT_THAT(answer.fact("error", "set tags", "adds_lost"), HasSubstr("has lost keys that were added"));
    EXPECT_NE(answer.exit_status, 0);
    set_bypass(shared_memory(), "tags", 0);
  }
}

TEST_F(Doctor, WarnsOfOldKeysThatNeverExpire) {
  const std::string three_days_ago = "@" + std::to_string(unix_now() - 3 * 86'400);
  publish_keys({"--as-of", three_days_ago});
  EXPECT_THAT(ask().fact("warning", "set tags", "old_keys"), HasSubstr("3d"));
  publish_keys({"--as-of", three_days_ago, "--valid-for", "7d"});
  EXPECT_EQ(ask().codes(), Words{});
}

TEST_F(Doctor, WarnsOfALoaderThatHasNotLookedAgainAsPromised) {
  load(store());
  change_control([](ControlPage& page) { page.next_look = unix_now() - 100; });
  EXPECT_THAT(ask().fact("warning", "set tags", "loader_silent"), HasSubstr("ready: "));
}

TEST_F(Doctor, NamesWhatIsOfTheFuture) {
  load(store());
  change_control([](ControlPage& page) { page.heartbeat += 4'200; });
  EXPECT_THAT(ask().fact("error", "set tags", "clock"), ContainsRegex("in the future, 20[^ ]*Z: now is 20"));
}

TEST_F(Doctor, SeesThatTheNextPublicationDoesNotFit) {
  const MountedTmpfs memory(shared_memory(), "400k");
  if (memory.error() != 0) GTEST_SKIP() << "only root may mount";
  publish_keys({}, 100'000);  // 140 KiB
  const Answer answer = ask();
  EXPECT_THAT(answer.fact("warning", "room", "no_room"),
              HasSubstr("three publications of every set take 420.0 KiB"));
  EXPECT_EQ(answer.exit_status, 0);
  write("shm/ballast", std::string(200'000, 'x'));
  EXPECT_THAT(ask().fact("error", "room", "no_room"), HasSubstr("the next snapshot may need 140.0 KiB"));
}

TEST_F(Doctor, SeesThatMemoryIsShort) {
  if (!can_unshare_mounts()) GTEST_SKIP() << "may not have mounts of its own";
  publish_keys();
  EXPECT_THAT(answer_to(with_file_at("/proc/meminfo", "MemTotal: 20 kB\nMemAvailable: 10 kB\n"))
                  .fact("error", "memory", "no_memory"),
              HasSubstr("10.0 KiB left"));
}

TEST_F(Doctor, HasASectionInTheRunbookForEveryCode) {
  const std::string runbook = read(KEYSIEVE_RUNBOOK);
  Words codes(kErrorKindNames.begin(), kErrorKindNames.end());
  codes.insert(codes.end(), kTroubleNames.begin() + 2, kTroubleNames.end());  // but "none" and "not_asked"
  for (const Availability availability : kAvailabilities) codes.emplace_back(to_string(availability));
  std::erase(codes, "ready");
  EXPECT_GT(codes.size(), 40U);
  for (const std::string& code : codes) {
    EXPECT_NE(runbook.find("\n### " + code + "\n"), std::string::npos) << code;
  }
}

// What the doctor finds with a configuration: its sets and seen sets, its stores and its cache.

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
                  .fact("error", "configuration", "configuration"),
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
  EXPECT_EQ(ask_with_config().fact("warning", "store main", "not_published"),
            store() + ": generation 2 of tags, 1 here");
  load_once();
  EXPECT_EQ(ask_with_config().codes(), Words{});
  const std::string wiped = "dir:" + path("wiped");
  push_keys(wiped);
  configure(wiped);
  EXPECT_EQ(ask_with_config().fact("warning", "store main", "older"),
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
  EXPECT_THAT(ask_with_config().fact("warning", "store main", "permission"), HasSubstr("lock file"));
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
              HasSubstr("ready: keys of window ≈ 0, made for 100, windows 1"));
  EXPECT_EQ(ask_with_config().codes(), Words{"not_configured"});
  run({"bypass", "clicks"});
  EXPECT_EQ(ask().exit_status, 0);
  EXPECT_THAT(ask().fact("warning", "seen set clicks", "bypassed"),
              HasSubstr("bypassed by an operator: keys of window"));
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
  if (!can_unshare_mounts()) GTEST_SKIP() << "may not have mounts of its own";
  const auto codes_when = [&](const std::string& forced) {
    return answer_to(with_file_at("/proc/sys/kernel/shm_rmid_forced", forced)).codes();
  };
  EXPECT_EQ(codes_when("1\n"), Words{"not_published"}) << "there is no seen set";
  std::filesystem::create_directories(shared_memory() + "/seen.d/clicks");
  EXPECT_EQ(codes_when("1\n"), (Words{"seen_missing", "seen_memory_may_go"}));
  EXPECT_EQ(codes_when("0\n"), Words{"seen_missing"});
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
