// After a fault at any system call, the snapshot that a host caches and the one that a build writes are the
// old one or the new one, a seen set has all its keys, and the next attempt goes on.

#include "core/builder/base/file_io.hpp"
#include "core/worker/base/mapped_region.hpp"
#include "tests/support/call_faults.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"
#include "tests/tools/transfer/snapshots.hpp"
#include "tools/loader/refresh/set_cache.hpp"
#include "tools/program/durable_file.hpp"

namespace keysieve::test {
namespace {

class KeptFilesCallFaults : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_trace()) GTEST_SKIP() << "may not trace a process";
  }

  // `replace`: writes the file with that number, in a process of its own. `number`: of the file that is
  // there.
  void expect_old_or_new(const std::string& what, const std::function<void(std::uint64_t)>& replace,
                         const std::function<std::uint64_t()>& number) {
    SCOPED_TRACE(what);
    std::uint64_t last = 1;
    EXPECT_EQ(run_in_process([&] { return replace(last), 0; }), 0);
    const std::size_t files = count_files();
    int done = 0;
    int failed = 0;
    const int calls = for_each_call_fault([&](const CallFault& fault, int at) {
      const std::uint64_t before = last++;
      const FaultyEnd end = faults_.meet(fault, at, [&] { replace(last); });
      if (!end.has_met_fault) return false;
      SCOPED_TRACE("which is " + std::to_string(end.call));
      const std::uint64_t found = number();
      EXPECT_TRUE(found == last || (found == before && !end.is_done)) << found << ": " << end.message;
      EXPECT_EQ(count_files(), files) << end.message;
      ++(end.is_done ? done : failed);
      EXPECT_EQ(run_in_process([&] { return replace(++last), 0; }), 0) << "the next attempt does not go on";
      last = number();
      return true;
    });
    EXPECT_GT(done, 0);
    EXPECT_GT(failed, 0);
    soak_report(static_cast<std::uint64_t>(calls), "system calls");
  }

  [[nodiscard]] std::size_t count_files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_.path()), {}));
  }

  TemporaryDirectory folder_;
  CallFaults faults_;
};

// The number is the generation.
TEST_F(KeptFilesCallFaults, LeaveTheOldSnapshotInTheCacheOrTheNewOne) {
  const std::array snapshots{build_snapshot(), build_snapshot()};
  expect_old_or_new(
      "save to the cache",
      [&](std::uint64_t number) {
        SetCache(folder_.path(), "tags").save(number, snapshots[number % 2].get());
      },
      [&] { return SetCache(folder_.path(), "tags").load().value().generation; });
}

// As `keysieve build` writes it. The number is when the keys were read.
TEST_F(KeptFilesCallFaults, LeaveTheOldSnapshotOfABuildOrTheNewOne) {
  const std::string path = folder_ / "tags.ks";
  expect_old_or_new(
      "build",
      [&](std::uint64_t number) {
        SnapshotBuilder builder(settings_of({.as_of = static_cast<UnixSeconds>(number)}));
        add_keys(builder, 100);
        DurableFile file(path);
        builder.size();
        builder.write([&](std::uint64_t offset, Bytes part) { file.write_at(offset, part); });
        const MappedRegion region = file.map();
        SnapshotView::decode(bytes_of(region), path, Check::Tables);
        file.commit();
      },
      [&] {
        const MappedRegion region = map_file(path);
        const SnapshotView view = SnapshotView::decode(bytes_of(region), path, Check::Everything);
        return static_cast<std::uint64_t>(view.header().as_of);
      });
}

// A keeper's first look in a new window meets the fault: it takes over what is there, begins the window, and
// sends the keys.
TEST_F(KeptFilesCallFaults, LeaveAllKeysInASeenSet) {
  SeenHost host(clicks_config(), kDir.empty_store(folder_));
  UnixSeconds now = kNoon;
  std::uint64_t key = 0;
  host.look(now);
  const int calls = for_each_call_fault([&](const CallFault& fault, int at) {
    EXPECT_TRUE(host.add(++key)) << "the keeper does not go on: " << host.report().reason;
    host.stop();
    now += 10 * kMinute;
    const FaultyEnd end = faults_.meet(fault, at, [&] {
      host.start();
      host.look(now);
    });
    SCOPED_TRACE("which is " + std::to_string(end.call));
    EXPECT_TRUE(end.is_done) << end.message;
    EXPECT_TRUE(host.has(key)) << "it was lost";
    host.start();
    host.look(now);
    EXPECT_FALSE(host.add(key)) << "it was lost";
    return end.has_met_fault;
  });
  EXPECT_GT(calls, 50);
  soak_report(static_cast<std::uint64_t>(calls), "system calls");
}

}  // namespace
}  // namespace keysieve::test
