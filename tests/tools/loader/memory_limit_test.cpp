// keysieved in a control group that has too little memory for all windows of a seen set, or for the next
// publication of a set. Without sanitizers, which need memory of their own.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/publisher/shm/trouble.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/mounts.hpp"
#include "tests/tools/loader/seen/keysieved_seen.hpp"

namespace keysieve::test {
namespace {

// A memory control group with a limit and without swap, for tests of what happens where memory is short. At
// the end, what still runs in it is killed and its folder removed. A test that is itself killed leaves an
// empty folder. Making a group needs a right that root has on most machines. A program runs in it by
//
//   sh -c 'echo 0 > "$0/cgroup.procs" && exec "$@"' PATH PROGRAM...
//
// Where the group is:
//   v1: below the group of this process, so that its limits stay in force.
//   v2: there too if that group hands out the memory controller. A group with processes cannot, except the
//       first one; then beside it. No other group is changed.
class TestCgroup {
 public:
  // Throws std::runtime_error when making it fails for another reason than is_there() names.
  explicit TestCgroup(std::uint64_t limit_bytes) {
    const std::string v1 = own_folder("memory");
    const std::string v2 = own_folder("");
    if (std::filesystem::exists(v1 + "/memory.limit_in_bytes")) {
      make(v1, {"memory.limit_in_bytes", limit_bytes}, {"memory.memsw.limit_in_bytes", limit_bytes});
    } else {
      const std::string parent = hands_out_memory(v2) ? v2 : v2.substr(0, v2.rfind('/'));
      if (hands_out_memory(parent)) make(parent, {"memory.max", limit_bytes}, {"memory.swap.max", 0});
    }
  }
  TestCgroup(const TestCgroup&) = delete;
  TestCgroup& operator=(const TestCgroup&) = delete;
  ~TestCgroup() {
    if (is_there()) remove();
  }

  // False if no group can be made here: no right to, a read-only mount, or no delegation.
  [[nodiscard]] bool is_there() const noexcept { return !path_.empty(); }
  // Its folder, with the files of its limits; empty if it is not there.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  // Moves the calling process, a child of the test, into the group. What it starts is in it as well.
  void enter() const {
    if (!write("cgroup.procs", 0)) throw std::runtime_error("cannot enter " + path_);
  }

 private:
  // The folder of this process's group; `controller` is empty for v2. As mounted on a host.
  static std::string own_folder(const std::string& controller) {
    std::string mount, group;
    std::ifstream mounts("/proc/self/mounts");
    for (std::string line, source, folder, type, options; std::getline(mounts, line);) {
      std::istringstream(line) >> source >> folder >> type >> options;
      const bool is_v1 =
          type == "cgroup" && (options + ",").find("," + controller + ",") != std::string::npos;
      if (controller.empty() ? type == "cgroup2" : is_v1) mount = folder;
    }
    std::ifstream groups("/proc/self/cgroup");
    for (std::string id, name, path; std::getline(groups, id, ':') && std::getline(groups, name, ':');) {
      if (std::getline(groups, path) && name == controller) group = path;
    }
    return mount + (group == "/" ? "" : group);
  }

  static bool hands_out_memory(const std::string& folder) {
    std::ifstream controllers(folder + "/cgroup.subtree_control");
    for (std::string name; controllers >> name;) {
      if (name == "memory") return true;
    }
    return false;
  }

  // A kernel that does not account for swap has no file for that limit.
  using Limit = std::pair<const char*, std::uint64_t>;
  void make(const std::string& parent, const Limit& memory, const Limit& swap) {
    static std::atomic<int> count{0};
    path_ = parent + "/keysieve-test-" + std::to_string(::getpid()) + "-" + std::to_string(++count);
    if (::mkdir(path_.c_str(), 0755) != 0) {
      if (errno == EACCES || errno == EPERM || errno == EROFS) return path_.clear();
      throw std::runtime_error("cannot create " + path_);
    }
    const bool has_swap = ::access((path_ + "/" + swap.first).c_str(), F_OK) == 0;
    if (write(memory.first, memory.second) && (!has_swap || write(swap.first, swap.second))) return;
    remove();
    throw std::runtime_error("cannot set the limits of " + path_);
  }

  [[nodiscard]] bool write(const char* file, std::uint64_t value) const {
    std::ofstream out(path_ + "/" + file);
    out << value << std::flush;
    return out.good();
  }

  void remove() const {
    eventually([&] {
      std::ifstream processes(path_ + "/cgroup.procs");
      // 0 would be a process of another PID namespace.
      for (pid_t pid = 0; processes >> pid && pid > 0;) ::kill(pid, SIGKILL);
      return ::rmdir(path_.c_str()) == 0 || errno != EBUSY;
    });
  }

  std::string path_;
};

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
    const auto control =
        open_control_page<const ControlPage>(SetFolder::open(site_.directory(), "tags", std::nullopt));
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
