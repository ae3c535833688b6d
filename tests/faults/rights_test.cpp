// Another Unix user, in the workers' group or in no group at all, cannot change, replace, create in advance
// or stall anything that readers and the loader use. Runs as root, which can become other users.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <atomic>
#include <functional>
#include <iostream>

#include "core/builder/base/log_positions.hpp"
#include "core/publisher/seen/seen_writer.hpp"
#include "tests/core/shm/live_layer.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/shared_page.hpp"
#include "tests/support/soak.hpp"
#include "tools/loader/adds/adds_mirror.hpp"
#include "tools/loader/refresh/set_cache.hpp"

namespace keysieve::test {
namespace {

constexpr uid_t kLoader = 54'321;
constexpr gid_t kLoaderGroup = 54'325;
constexpr uid_t kOther = 54'323;

struct Attempt {
  const char* name;
  std::function<bool(const std::string& path)> succeeds;
};

bool opens(const std::string& path, int flags) {
  return FileDescriptor(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0666)).is_open();
}

// A readable file must not become writable in another way.
bool writes_through_a_reader(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return false;
  void* const mapped = ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  const bool is_writable = opens("/proc/self/fd/" + std::to_string(file.get()), O_RDWR);
  return mapped != MAP_FAILED || is_writable || ::fcntl(file.get(), F_SETLEASE, F_RDLCK) == 0 ||
         ::fchmod(file.get(), 0777) == 0 || ::ftruncate(file.get(), 0) == 0;
}

// Attempts on an existing file or folder.
const std::vector<Attempt> kOnWhatIsThere{
    {"open for writing", [](const auto& path) { return opens(path, O_WRONLY); }},
    {"open for both", [](const auto& path) { return opens(path, O_RDWR); }},
    {"open cut", [](const auto& path) { return opens(path, O_RDONLY | O_TRUNC); }},
    {"append", [](const auto& path) { return opens(path, O_WRONLY | O_APPEND); }},
    {"truncate", [](const auto& path) { return ::truncate(path.c_str(), 0) == 0; }},
    {"unlink", [](const auto& path) { return ::unlink(path.c_str()) == 0; }},
    {"rmdir", [](const auto& path) { return ::rmdir(path.c_str()) == 0; }},
    {"rename", [](const auto& path) { return ::rename(path.c_str(), (path + ".away").c_str()) == 0; }},
    {"chmod", [](const auto& path) { return ::chmod(path.c_str(), 0777) == 0; }},
    {"chown", [](const auto& path) { return ::chown(path.c_str(), kOther, kWorkerGroup) == 0; }},
    {"utimes", [](const auto& path) { return ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0) == 0; }},
    {"setxattr", [](const auto& path) { return ::setxattr(path.c_str(), "user.keysieve", "x", 1, 0) == 0; }},
    {"write through a reader", writes_through_a_reader},
};

// Attempts to create a name that does not exist yet.
const std::vector<Attempt> kOnWhatIsNot{
    {"create", [](const auto& path) { return opens(path, O_WRONLY | O_CREAT | O_EXCL); }},
    {"mkdir", [](const auto& path) { return ::mkdir(path.c_str(), 0777) == 0; }},
    {"symlink", [](const auto& path) { return ::symlink("/etc/passwd", path.c_str()) == 0; }},
    {"mkfifo", [](const auto& path) { return ::mkfifo(path.c_str(), 0666) == 0; }},
    {"link", [](const auto& path) { return ::link("/etc/passwd", path.c_str()) == 0; }},
    {"nameless",
     [](const auto& path) {
       return opens(std::filesystem::path(path).parent_path().string(), O_TMPFILE | O_RDWR);
     }},
};

class OtherUser : public LiveLayers {
 protected:
  OtherUser() : LiveLayers(fast_folder()) {}

  void SetUp() override {
    if (!is_root()) GTEST_SKIP() << "only root can become another user";
    // The folders are as systemd makes them: 0755 and 0750, owned by the loader.
    ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
    ASSERT_EQ(::mkdir(cache().c_str(), 0750), 0);
    for (const std::string& path : {directory_.path(), cache()}) {
      ASSERT_EQ(::chown(path.c_str(), kLoader, kLoaderGroup), 0);
    }
    ASSERT_EQ(as_loader([this] { return publish_as_loader(); }), 1);
    ASSERT_EQ(as_loader([this] { return publish_as_loader(); }), 2);
    ASSERT_EQ(as_loader([this] {
                fill_cache();
                SeenWriter writer(directory_.path(), "clicks", kWorkerGroup);
                writer.create({42}, OnUnavailable::New);
                return 0;
              }),
              0);
  }

  // The loader is a member of the workers' group and gives its publications to that group.
  template <typename Work>
  static int as_loader(Work work) {
    return run_in_process([&] {
      const gid_t group = kWorkerGroup;
      if (::setgroups(1, &group) != 0 || ::setgid(kLoaderGroup) != 0 || ::setuid(kLoader) != 0)
        return kUnexpected;
      ::umask(0027);
      return work();
    });
  }
  [[nodiscard]] int publish_as_loader() const {
    Publisher publisher({.directory = directory_.path(), .group = kWorkerGroup}, kSet);
    const auto publication = publisher.publish(base().get(), 1, empty_layer(100));
    publisher.open_layer()->add(hash("live" + std::to_string(publication)));
    return static_cast<int>(publication);
  }
  void fill_cache() const {
    SetCache(cache(), kSet).save(7, base().get());
    AddsMirror mirror(cache() + "/tags.adds");
    const std::vector<LogEntry> entries{{log_position(1, 0), "live1"}};
    mirror.merge(entries);
    mirror.save();
  }

  [[nodiscard]] std::string cache() const { return directory_ / "cache"; }

  // Everything in the directory, folders included.
  [[nodiscard]] std::vector<std::string> all_paths() const {
    std::vector<std::string> paths{directory_.path()};
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory_.path())) {
      paths.push_back(entry.path().string());
    }
    return paths;
  }
  // Names that publisher and loader will use.
  [[nodiscard]] std::vector<std::string> coming_paths() const {
    return {file(snapshot_file_name(3)), file(snapshot_file_name(3) + ".tmp"),
            file(live_file_name(3)),     file(live_file_name(3) + ".tmp"),
            file("control.tmp"),         directory_ / "shop",
            directory_ / "seen/views",   directory_ / "seen/clicks/new",
            cache() + "/shop.ks",        cache() + "/.put-1"};
  }

  // Does the work as each other user; a failure names the attempts that succeeded.
  void for_each_other(const std::function<int()>& work) {
    for (const gid_t group : {kWorkerGroup, kLoaderGroup + 1})
      EXPECT_EQ(run_as(kOther, group, work), 0) << group;
  }
};

int count_successes(const std::vector<std::string>& paths, const std::vector<Attempt>& attempts) {
  int successes = 0;
  for (const std::string& path : paths) {
    for (const Attempt& attempt : attempts) {
      if (!attempt.succeeds(path)) continue;
      std::cerr << attempt.name << " " << path << "\n";
      ++successes;
    }
  }
  return successes;
}

TEST_F(OtherUser, CannotChangeAnyExistingFile) {
  const std::vector<std::string> paths = all_paths();
  ASSERT_GE(paths.size(), 16U)
      << "directory, set, lock, control, 2 publications, cache, a seen set, their files";
  for_each_other([&] { return count_successes(paths, kOnWhatIsThere); });
  soak_report(2 * paths.size() * kOnWhatIsThere.size(), "attempts");
}

TEST_F(OtherUser, CannotTakeTheNameOfAnyFutureFile) {
  for_each_other([this] { return count_successes(coming_paths(), kOnWhatIsNot); });
  ASSERT_EQ(as_loader([this] { return publish_as_loader(); }), 3);
  soak_report(2 * coming_paths().size() * kOnWhatIsNot.size(), "attempts");
}

// Shows that nothing above fails for another reason.
TEST_F(OtherUser, MakesAttemptsThatSucceedForTheOwner) {
  EXPECT_EQ(as_loader([this] { return count_successes({file(kControlName)}, kOnWhatIsThere) > 5 ? 1 : 0; }),
            1);
  EXPECT_EQ(as_loader([this] { return count_successes({file("new")}, kOnWhatIsNot) > 1 ? 1 : 0; }), 1);
}

// Another user holds both kinds of lock on every file that it can open, while the loader publishes, saves and
// adopts a seen set.
TEST_F(OtherUser, CannotStallByHoldingLocks) {
  const std::vector<std::string> paths = all_paths();
  int publication = 2;
  for (const gid_t group : {kWorkerGroup, kLoaderGroup + 1}) {
    SharedPage<std::atomic<int>> held;
    const pid_t holder = start_process([&] {
      if (::setgroups(0, nullptr) != 0 || ::setgid(group) != 0 || ::setuid(kOther) != 0) return kUnexpected;
      int locks = 0;
      for (const std::string& path : paths) {
        const int opened = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);  // closed by the end of the process
        if (opened < 0) continue;
        struct flock range {};
        range.l_type = F_RDLCK;
        if (::flock(opened, LOCK_EX | LOCK_NB) == 0) ++locks;
        if (::fcntl(opened, F_SETLK, &range) == 0) ++locks;
      }
      held->store(1 + locks);
      ::pause();
      return 0;
    });
    EXPECT_TRUE(eventually([&] { return held->load() != 0; }));
    EXPECT_GT(held->load(), 1) << "the directory can be locked at least";
    EXPECT_EQ(as_loader([this] {
                fill_cache();
                if (!SeenWriter(directory_.path(), "clicks", kWorkerGroup).adopt()) return kUnexpected;
                return publish_as_loader();
              }),
              ++publication);
    SetReader reader({.directory = directory_.path(), .trusted_owner = kLoader}, kSet);
    EXPECT_EQ(publication_seen_by(reader), static_cast<std::uint64_t>(publication)) << reader.reason();
    ::kill(holder, SIGKILL);
    wait_for(holder);
  }
  soak_report(2, "users");
}

}  // namespace
}  // namespace keysieve::test
