// What the groups and the machine leave, from files as Linux writes them. Real groups:
// tests/tools/cli/running.transcript.
#include "tools/program/memory_left.hpp"

#include <gmock/gmock.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "tests/support/matchers.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

// "/" of a process, of which only the files are there that a case writes.
class MemoryLeft : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = root_.path() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  // The process is in `group`.
  void place_v2(const std::string& group) const { write("/proc/self/cgroup", "0::" + group + "\n"); }
  // "/web" or "", MiB; with page cache of `cache` that can be dropped.
  void level(const std::string& group, const std::string& limit, std::uint64_t used, std::uint64_t cache = 0,
             std::uint64_t active_cache = 0) const {
    const std::string folder = "/sys/fs/cgroup" + group;
    write(folder + "/memory.max", limit + "\n");
    write(folder + "/memory.current", std::to_string(used * kMiB) + "\n");
    write(folder + "/memory.stat", "file 123456789\ninactive_file " + std::to_string(cache * kMiB) +
                                       "\nactive_file " + std::to_string(active_cache * kMiB) + "\n");
  }
  [[nodiscard]] std::optional<std::uint64_t> left() const {
    const auto limit = tightest_memory_limit(root_.path());
    return limit ? std::optional(limit->left_bytes) : std::nullopt;
  }
  [[nodiscard]] std::string limit_file() const { return tightest_memory_limit(root_.path()).value().file; }
  [[nodiscard]] bool is_refused(std::uint64_t bytes) const {
    return failure_of([&] { check_memory_for(bytes, "clicks: a window", root_.path()); }) ==
           ErrorKind::CannotCreate;
  }

  TemporaryDirectory root_;
};

TEST_F(MemoryLeft, IsUnknownWithoutALimit) {
  EXPECT_EQ(left(), std::nullopt) << "not even /proc";
  place_v2("/web");
  EXPECT_EQ(left(), std::nullopt);
  level("/web", "max", 10);
  EXPECT_EQ(left(), std::nullopt);
  EXPECT_FALSE(is_refused(1 << 30));
}

TEST_F(MemoryLeft, IsThatOfTheTightestGroupAbove) {
  place_v2("/pod/web/loader");
  level("/pod/web/loader", std::to_string(100 * kMiB), 10);
  EXPECT_EQ(left(), 90 * kMiB);
  level("/pod", std::to_string(200 * kMiB), 150);
  EXPECT_EQ(left(), 50 * kMiB);
  EXPECT_EQ(limit_file(), "/sys/fs/cgroup/pod/memory.max");
  level("", std::to_string(300 * kMiB), 260);
  EXPECT_EQ(left(), 40 * kMiB);
  write("/sys/fs/cgroup/pod/web/memory.current", "104857600\n");
  write("/sys/fs/cgroup/pod/web/memory.high", "115343360\n");
  EXPECT_EQ(left(), 10 * kMiB);
  EXPECT_EQ(limit_file(), "/sys/fs/cgroup/pod/web/memory.high");
}

TEST_F(MemoryLeft, CountsPageCacheAsFree) {
  place_v2("/web");
  level("/web", std::to_string(60 * kMiB), 50, 20);
  EXPECT_EQ(left(), 30 * kMiB);
  level("/web", std::to_string(60 * kMiB), 50, 20, 10);
  EXPECT_EQ(left(), 40 * kMiB) << "what was read twice, too";
  level("/web", std::to_string(60 * kMiB), 50, 70);
  EXPECT_EQ(left(), 60 * kMiB) << "the two files are not of the same moment";
  level("/web", std::to_string(60 * kMiB), 70);
  EXPECT_EQ(left(), 0);
}

// v1 counts; the unified hierarchy of such a host has no memory controller.
TEST_F(MemoryLeft, ReadsVersion1NextToVersion2) {
  write("/proc/self/cgroup", "9:name=systemd:/a\n8:cpu,memory:/a/b:c\n0::/a\n");
  for (const char* group : {"/a/b:c", "/a", ""}) {
    const std::string folder = std::string("/sys/fs/cgroup/memory") + group;
    write(folder + "/memory.limit_in_bytes", "9223372036854771712\n");
    write(folder + "/memory.usage_in_bytes", "20971520\n");
    write(folder + "/memory.stat", "inactive_file 1\ntotal_inactive_file 1048570\ntotal_active_file 6\n");
  }
  EXPECT_EQ(left(), std::nullopt);
  write("/sys/fs/cgroup/memory/a/memory.limit_in_bytes", "62914560\n");
  EXPECT_EQ(left(), 41 * kMiB);
  EXPECT_EQ(limit_file(), "/sys/fs/cgroup/memory/a/memory.limit_in_bytes");
}

TEST_F(MemoryLeft, IsFoundInAContainer) {
  level("", std::to_string(60 * kMiB), 10);
  level("/loader", std::to_string(30 * kMiB), 10);
  using Place = std::pair<const char*, std::uint64_t>;
  for (const auto& [group, left_mib] :
       {Place{"/", 50}, Place{"/docker/a1", 50}, Place{"/docker/a1/loader", 20}, Place{"/../loader", 50}}) {
    place_v2(group);
    EXPECT_EQ(left(), left_mib * kMiB) << group;
  }
}

TEST_F(MemoryLeft, IsUnknownWhereFilesHoldSomethingElse) {
  place_v2("/web");
  for (const char* limit : {"", "-1", "12k", "0x10", "99999999999999999999999", "\xff"}) {
    level("/web", limit, 1);
    EXPECT_EQ(left(), std::nullopt) << limit;
  }
  level("/web", "62914560", 1);
  write("/sys/fs/cgroup/web/memory.stat", "inactive_file\ninactive_file many\n\n");
  EXPECT_EQ(left(), 59 * kMiB);
  std::filesystem::remove(root_ / "sys/fs/cgroup/web/memory.current");
  std::filesystem::create_directory(root_ / "sys/fs/cgroup/web/memory.current");
  EXPECT_EQ(left(), std::nullopt);
  for (const char* groups : {"", ":", "0:", "0::", "0::web\n", "::/web\n", "1:memory:/web\n", "\n\n0::/"}) {
    write("/proc/self/cgroup", groups);
    EXPECT_EQ(left(), std::nullopt) << groups;
  }
}

TEST_F(MemoryLeft, IsAtMostWhatTheMachineHas) {
  write("/proc/meminfo", "MemTotal:  102400 kB\nMemFree:  1 kB\nMemAvailable:   30720 kB\n");
  EXPECT_EQ(left(), 30 * kMiB);
  EXPECT_TRUE(is_refused(23 * kMiB));
  place_v2("/web");
  level("/web", std::to_string(60 * kMiB), 40);
  EXPECT_EQ(left(), 20 * kMiB);
  write("/proc/meminfo", "MemTotal: many kB\nMemAvailable: 1 kB\n");
  EXPECT_EQ(left(), 20 * kMiB);
}

// As a service with ProcSubset=pid sees it.
TEST_F(MemoryLeft, IsAtMostWhatTheNodesOfTheMachineHave) {
  for (const char* node : {"0", "1"}) {
    write(std::string("/sys/devices/system/node/node") + node + "/meminfo",
          std::string("Node ") + node + " MemTotal: 51200 kB\nNode " + node + " MemFree: 10240 kB\nNode " +
              node + " Active(file): 1024 kB\nNode " + node + " Inactive(file): 3072 kB\nNode " + node +
              " SReclaimable: 1024 kB\n");
  }
  EXPECT_EQ(left(), 30 * kMiB);
  write("/proc/meminfo", "MemTotal:  102400 kB\nMemAvailable:   40960 kB\n");
  EXPECT_EQ(left(), 40 * kMiB) << "which knows better";
}

// The margin is 8 MiB, or a fiftieth of what is needed. What is said of a group: running.transcript; no
// transcript has a machine with less memory.
TEST_F(MemoryLeft, IsCheckedWithAMargin) {
  write("/proc/meminfo", "MemTotal:  102400 kB\nMemAvailable:   30720 kB\n");
  EXPECT_THAT(
      message_of<ErrorKind::CannotCreate>(
          [&] { check_memory_for(23 * kMiB, "clicks: a window", root_.path()); }),
      EndsWith("but this machine has 30.0 MiB left of 100.0 MiB (/proc/meminfo): free memory or add some"));
  place_v2("/web");
  level("/web", std::to_string(60 * kMiB), 40);
  EXPECT_FALSE(is_refused(12 * kMiB));
  EXPECT_TRUE(is_refused(12 * kMiB + 1));
  std::filesystem::remove(root_ / "proc/meminfo");
  level("/web", std::to_string(1020 * kMiB), 0);
  EXPECT_FALSE(is_refused(1000 * kMiB));
  EXPECT_TRUE(is_refused(1001 * kMiB));
  EXPECT_TRUE(is_refused(UINT64_MAX));
}

}  // namespace
}  // namespace keysieve::test
