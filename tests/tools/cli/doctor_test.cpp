// Each code of the doctor, brought about for real, next to the same thing in order.
#include "tools/doctor/findings.hpp"

#include <unistd.h>

#include <filesystem>
#include <functional>

#include "core/publisher/shm/bypass.hpp"
#include "core/publisher/shm/publisher.hpp"
#include "core/publisher/shm/trouble.hpp"
#include "core/publisher/shm/writable_pages.hpp"
#include "core/worker/base/clock.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/mounted_tmpfs.hpp"
#include "tests/tools/cli/doctor_program.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tools/doctor/doctor.hpp"

namespace keysieve::test {
namespace {

class Doctor : public DoctorProgram {
 protected:
  void change_control(const std::function<void(ControlPage&)>& change) const {
    const WritableControlFile control(SetFolder::open(shared_memory(), "tags", ::geteuid()));
    change(control.writable_page());
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
      ContainsRegex("ready: publication 1, generation 1, 100 keys, format 1, keys from .* ago, loader seen"));
  EXPECT_THAT(answer.fact("ok", "room", "ok"), HasSubstr(" free of "));
  EXPECT_THAT(answer.fact("ok", "memory", "ok"), HasSubstr("available on this host"));
  EXPECT_THAT(answer.fact("ok", "cache", "ok"), ContainsRegex(path("cache") + ": [^ ]+ 0755: .* free of "));
  EXPECT_EQ(answer.fact("ok", "store main", "ok"), store() + ": generation 1 of tags, as here");
}

TEST_F(Doctor, PrintsALineForEachFinding) {
  const ProgramResult result = keysieve({"doctor"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_THAT(result.output,
              AllOf(ContainsRegex("^ok       program +ok "),
                    ContainsRegex("\nerror    directory +not_published +" + shared_memory() +
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
  EXPECT_THAT(ask({}, kNobody).fact("error", "set tags", "permission"),
              AllOf(HasSubstr("/tags: Permission denied"), HasSubstr("the folder is root:root 0750")));
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
              AllOf(HasSubstr("may write to it"), HasSubstr("the folder is "), HasSubstr(" 2770")));
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
  publish_keys();
  damage(set_folder() + "/control", 0);
  EXPECT_THAT(ask().fact("error", "set tags", "damaged"), HasSubstr("/control"));
  damage(set_folder() + "/control", 0);
  damage(set_folder() + "/control", 8);  // the endian mark
  EXPECT_THAT(ask().fact("error", "set tags", "incompatible"), HasSubstr("/control"));
  std::filesystem::remove(set_folder() + "/control");
  EXPECT_THAT(ask().fact("error", "set tags", "missing"), HasSubstr("No such file or directory"));
}

TEST_F(Doctor, SaysThatASetHasExpired) {
  publish_keys({"--as-of", "@1700000000", "--valid-for", "1h"});
  EXPECT_THAT(ask().fact("error", "set tags", "expired"),
              AllOf(HasSubstr("past valid_for"), HasSubstr("publication 1")));
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

TEST_F(Doctor, WatchesTheLoadersSignsOfLife) {
  load(store());
  change_control([](ControlPage& page) { page.last_confirmed -= 600; });
  EXPECT_THAT(ask_with_config().fact("warning", "set tags", "unconfirmed"), HasSubstr("more than 2m"));
  change_control([](ControlPage& page) { page.heartbeat -= 600; });
  EXPECT_THAT(ask_with_config().fact("error", "set tags", "loader_silent"), HasSubstr("10m"));
  static_cast<void>(ask().fact("warning", "set tags", "loader_silent"));
  change_control([](ControlPage& page) { page.heartbeat += 4'200; });
  EXPECT_THAT(ask().fact("error", "set tags", "clock"), HasSubstr("sign of life at 20"));
}

TEST_F(Doctor, NamesWhatIsOfTheFuture) {
  const auto snapshot = build_snapshot({.as_of = unix_now() + 432'000});
  publish(write("future.ks", std::string(as_text(snapshot.get()))));
  EXPECT_THAT(ask().fact("error", "set tags", "clock"),
              AllOf(HasSubstr("its keys are as of 20"), HasSubstr("which is in the future: now is 20")));
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
  const std::string script = "mount --bind \"$0\" /proc/meminfo && exec \"$@\"";
  ProgramCall call = call_of({"--mount", "sh", "-c", script, write("meminfo", "MemAvailable: 10 kB\n"),
                              KEYSIEVE_PROGRAM, "doctor", "--json"});
  call.program = "/usr/bin/unshare";
  EXPECT_THAT(answer_to(call).fact("error", "memory", "no_memory"), HasSubstr("10.0 KiB available"));
}

TEST_F(Doctor, HasASectionInTheRunbookForEveryCodeOfItsOwnAndOfTheLoader) {
  const std::string runbook = read(KEYSIEVE_RUNBOOK);
  Words codes(kFactCodeNames.begin() + 1, kFactCodeNames.end());  // but "ok"
  codes.insert(codes.end(), kErrorKindNames.begin(), kErrorKindNames.end());
  codes.insert(codes.end(), kTroubleNames.begin() + 2, kTroubleNames.end());  // but "none" and "not_asked"
  EXPECT_GT(codes.size(), 40U);
  for (const std::string& code : codes) {
    EXPECT_NE(runbook.find("\n### " + code + "\n"), std::string::npos) << code;
  }
}

}  // namespace
}  // namespace keysieve::test
