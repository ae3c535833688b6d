// keysieved in a control group that has too little memory for all windows of a seen set, or for the next
// publication of a set. Without sanitizers, which need memory of their own.
#include <fcntl.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "core/publisher/shm/trouble.hpp"
#include "tests/support/mounted_tmpfs.hpp"
#include "tests/support/test_cgroup.hpp"
#include "tests/tools/loader/seen/keysieved_seen.hpp"

namespace keysieve::test {
namespace {

// Some windows fit, the last one does not.
TEST_F(KeysievedSeen, OutlivesAMemoryLimitAndKeepsTheLastWindowOpen) {
  const TestCgroup cgroup(60U << 20);
  if (!cgroup.is_there()) GTEST_SKIP() << "may not make a control group";
  site_.push("tags", kKeys);
  site_.configure(tags_set +
                  "[[seen]]\nname = \"clicks\"\nkeys = \"5M\"\nwindow = \"1s\"\nwindows = 9\nfpr = 0.001\n");
  keysieved_.emplace(std::vector<std::string>{"--config", site_.config_path()}, std::vector<std::string>{},
                     cgroup.path());
  ASSERT_TRUE(is_ready()) << worker().reason() << log();
  EXPECT_TRUE(says("a window needs ")) << log();
  EXPECT_THAT(log(), ::testing::AllOf(::testing::HasSubstr("raise MemoryMax= or the container's limit"),
                                      ::testing::HasSubstr("[seen_overdue]")));
  EXPECT_EQ(add_many(0, 100), 100);
  EXPECT_TRUE(follows("tags", 1)) << log();
  site_.push("tags", kMoreKeys);
  EXPECT_TRUE(follows("tags", 2)) << log();
  EXPECT_EQ(worker().page()->deaths_taking_memory, 0U);
  EXPECT_EQ(keysieved_->stop(), 0);
}

// Of 40 MB.
SnapshotBytes large_snapshot(int generation) {
  SnapshotBuilder builder({.set_name = "tags", .growth = 100.0, .as_of = 1'700'000'000 + generation});
  for (int i = 0; i < 320'000; ++i) builder.add(key_number(i));
  return builder.finish();
}

class KeysievedInACgroup : public Keysieved {
 protected:
  // Keeps the sets in memory, which counts as that of the group.
  bool begin_in(const TestCgroup& cgroup) {
    if (!cgroup.is_there() || !memory_.is_there()) return false;
    site_.configure(tags_set);
    keysieved_.emplace(std::vector<std::string>{"--config", site_.config_path()}, std::vector<std::string>{},
                       cgroup.path());
    return true;
  }
  [[nodiscard]] bool has_trouble(Trouble trouble) const {
    const ControlFile control =
        ControlFile::open_read_only(SetFolder::open(site_.directory(), "tags", std::nullopt));
    return Troubles(control.page().troubles.load()).has(trouble);
  }
  // As /tmp is in Debian 13: what keysieved saves there counts as its memory.
  [[nodiscard]] bool is_cache_in_memory() const {
    const FileDescriptor folder(::open(site_.cache().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return is_in_memory(folder, site_.cache());
  }
  static void raise_limit(const TestCgroup& cgroup) {
    for (const char* name : {"/memory.memsw.limit_in_bytes", "/memory.limit_in_bytes", "/memory.max"}) {
      if (std::filesystem::exists(cgroup.path() + name)) std::ofstream(cgroup.path() + name) << (400 << 20);
    }
  }

  MountedTmpfs memory_{site_.directory(), "512m"};
};

TEST_F(KeysievedInACgroup, KeepsThePublicationWhileTheNextOneHasNoRoom) {
  site_.push(large_snapshot(1));
  const TestCgroup cgroup((115U << 20) + (is_cache_in_memory() ? 41U << 20 : 0));
  if (!begin_in(cgroup)) GTEST_SKIP() << "may not make a control group, or not mount";
  ASSERT_TRUE(follows("tags", 1)) << log();
  site_.push(large_snapshot(2));
  ASSERT_TRUE(eventually([&] { return keysieved_->has_ended() || has_trouble(Trouble::CannotPublish); }))
      << log();
  ASSERT_FALSE(keysieved_->has_ended()) << "killed: " << keysieved_->exit_status();
  EXPECT_THAT(log(), ::testing::AllOf(::testing::HasSubstr("the publication needs "),
                                      ::testing::HasSubstr("raise MemoryMax= or the container's limit")));
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  raise_limit(cgroup);
  EXPECT_TRUE(follows("tags", 2)) << log();
  EXPECT_TRUE(eventually([&] { return !has_trouble(Trouble::CannotPublish); })) << log();
  EXPECT_EQ(keysieved_->stop(), 0);
}

TEST_F(KeysievedInACgroup, DoesNotFetchWhatItCannotHold) {
  site_.push(large_snapshot(1));
  const TestCgroup cgroup(45U << 20);
  if (!begin_in(cgroup)) GTEST_SKIP() << "may not make a control group, or not mount";
  ASSERT_TRUE(says("a copy of the snapshot needs ")) << log();
  ASSERT_FALSE(keysieved_->has_ended());
  raise_limit(cgroup);
  EXPECT_TRUE(follows("tags", 1)) << log();
  EXPECT_EQ(keysieved_->stop(), 0);
}

}  // namespace
}  // namespace keysieve::test
