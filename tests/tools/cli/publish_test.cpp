#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/publisher/shm/publisher.hpp"
#include "tests/support/live_keys.hpp"
#include "tests/support/mounted_tmpfs.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class Publish : public KeysieveProgram {
 protected:
  Publish() {
    build("old", numbered_lines(100) + "old\n");
    build("new", numbered_lines(100) + "new\n");
  }

  void publish_old() const { publish(path("old.ks")); }
  void expect_old_is_live() const {
    EXPECT_EQ(answer("old"), "maybe");
    EXPECT_EQ(answer("new"), "absent");
  }
};

TEST_F(Publish, MakesASnapshotCurrent) {
  EXPECT_THAT(said({"publish", path("old.ks")}),
              AllOf(ContainsRegex("set +tags\n"), ContainsRegex("publication +1\n"),
                    ContainsRegex("directory +" + shared_memory() + "\n"), ContainsRegex("keys +101\n")));
  expect_old_is_live();
  EXPECT_THAT(json({"publish", path("new.ks")}), has({{"set", "tags"},
                                                      {"publication", 2},
                                                      {"directory", shared_memory()},
                                                      {"key_count", 101},
                                                      {"bytes", read(path("new.ks")).size()}}));
  EXPECT_EQ(answer("new"), "maybe");
  EXPECT_EQ(answer("old"), "absent");
}

TEST_F(Publish, SaysHowManyKnownAbsentKeysThereAre) {
  const std::string known = build("known", "old\n", {"--known-absent", write("absent.txt", "a\nb\n")});
  EXPECT_THAT(said({"publish", known}), ContainsRegex("\nknown absent +2 keys\n"));
  EXPECT_EQ(json({"publish", known}).at("known_absent_count"), 2);
  EXPECT_THAT(said({"publish", path("old.ks")}), Not(HasSubstr("known absent")));
}

TEST_F(Publish, HidesNoAddedKeysUnlessToldTo) {
  publish_with_layer(shared_memory(), path("old.ks"));
  add_live_keys(shared_memory(), "tags", {"added"});
  EXPECT_EQ(refusal(65, {"publish", path("new.ks")}),
            "set \"tags\" has 1 added key, which would be absent until keysieved looks again; push the file "
            "instead, or lift this by --allow-hidden-adds");
  EXPECT_EQ(answer("added"), "maybe");
  run({"publish", "--allow-hidden-adds", path("new.ks")});
  EXPECT_EQ(answer("new"), "maybe");
}

// There may be no keysieved that would end it.
TEST_F(Publish, EndsTheMaybeForLostAddsIfToldTo) {
  publish_old();
  Publisher({.directory = shared_memory()}, "tags").mark_adds_lost(1);
  EXPECT_EQ(
      refusal(65, {"publish", path("old.ks")}),
      "set \"tags\" answers maybe, because the store has lost added keys, which would be absent; push a "
      "later build instead, or lift this by --allow-hidden-adds");
  EXPECT_THAT(
      keysieve({"query", "tags", "new"}),
      AllOf(::testing::Field(&ProgramResult::output, "maybe\n"),
            ::testing::Field(&ProgramResult::errors, HasSubstr("has lost keys that were added to it"))));
  run({"publish", "--allow-hidden-adds", path("old.ks")});
  expect_old_is_live();
}

TEST_F(Publish, RefusesAGroupThatIsNotThere) {
  EXPECT_EQ(refusal(64, {"publish", "--group", "no-such-group", path("old.ks")}),
            "group \"no-such-group\": no such group");
  EXPECT_THAT(names_in(shared_memory()), ElementsAre());
}

TEST_F(Publish, GivesFilesToTheGroup) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to any group";
  run({"publish", "--group", "www-data", path("old.ks")});
  struct stat status {};
  ASSERT_EQ(::stat((set_folder() + "/0000000000000001.ks").c_str(), &status), 0);
  EXPECT_EQ(status.st_gid, ::getgrnam("www-data")->gr_gid);
}

TEST_F(Publish, RefusesToPassTheLimitOfAllSets) {
  publish_old();
  EXPECT_THAT(refusal(73, {"publish", "--max-total-size", "16KiB", path("new.ks")}),
              AllOf(HasSubstr("limit of 16384 bytes"), HasSubstr("max_total_size")));
  expect_old_is_live();
}

TEST_F(Publish, NamesADirectoryThatIsReadOnly) {
  const MountedTmpfs mounted(shared_memory(), "256k");
  if (mounted.error() != 0) GTEST_SKIP() << "only root may mount a small tmpfs";
  publish_old();
  ASSERT_EQ(::mount(nullptr, shared_memory().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  EXPECT_THAT(refusal(73, {"publish", path("new.ks")}),
              AllOf(HasSubstr(set_folder()), HasSubstr("Read-only file system")));
  EXPECT_THAT(refusal(73, {"publish", build("shop", "a\n", {}, "shop")}),
              AllOf(HasSubstr(shared_memory() + "/shop"), HasSubstr("Read-only file system")));
  expect_old_is_live();
}

}  // namespace
}  // namespace keysieve::test
