#include "tools/program/durable_file.hpp"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <new>
#include <optional>

#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/mounts.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {
namespace {

class DurableFile : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    write_durable_file(directory_ / name, as_bytes(text));
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream file(directory_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path())) {
      found.push_back(entry.path().filename().string());
    }
    return found;
  }

  // Runs it in a process without /proc, in which a file in the making has a name: with 0 if it returns true.
  // Nothing if this user may not mount.
  static std::optional<int> status_without_proc(const std::function<bool()>& work) {
    constexpr int kMayNotMount = 2;
    const int status = run_in_process([&] {
      if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
          ::mount("none", "/proc", "tmpfs", 0, nullptr) != 0) {
        return kMayNotMount;
      }
      return work() ? 0 : 1;
    });
    return status == kMayNotMount ? std::nullopt : std::optional(status);
  }
  // Whether a new file that replaces nothing comes to be once, and not a second time, nor over a link.
  [[nodiscard]] bool is_made_once(const std::string& name) const {
    const auto make = [this](const std::string& path, const std::string& text) {
      keysieve::DurableFile file(directory_ / path, {.replaces = Replaces::Nothing});
      file.append(as_bytes(text));
      file.commit();
    };
    std::filesystem::create_symlink("nowhere", directory_ / "link");
    make(name, "first");
    return failure_of([&] { make(name, "second"); }) == ErrorKind::CannotCreate &&
           failure_of([&] { make("link", "third"); }) == ErrorKind::CannotCreate &&
           text_of(name) == "first" && names().size() == 2 && std::filesystem::remove(directory_ / "link");
  }

  TemporaryDirectory directory_;
};

TEST_F(DurableFile, IsWrittenWholeAndMayBeEmpty) {
  for (const std::string& text : {std::string(1'000'000, '\0'), std::string()}) {
    write("a.ks", text);
    EXPECT_EQ(text_of("a.ks"), text);
    EXPECT_THAT(names(), ElementsAre("a.ks"));
  }
}

TEST_F(DurableFile, IsWrittenInPartsAndHasNoNameBeforeItIsDone) {
  write("a.ks", "old");
  {
    keysieve::DurableFile file(directory_ / "a.ks");
    file.append(as_bytes("given up"));
  }
  keysieve::DurableFile file(directory_ / "a.ks");
  for (const char* part : {"one ", "", "two"}) file.append(as_bytes(part));
  EXPECT_THAT(names(), ElementsAre("a.ks"));
  EXPECT_EQ(text_of("a.ks"), "old");
  file.commit();
  EXPECT_EQ(text_of("a.ks"), "one two");
  EXPECT_THAT(names(), ElementsAre("a.ks"));
}

TEST_F(DurableFile, ReplacesAnOlderFile) {
  write("a.ks", "a long old text");
  std::ifstream reader(directory_ / "a.ks");
  write("a.ks", "new");
  EXPECT_EQ(text_of("a.ks"), "new");
  // A reader that has the old file open keeps reading the old one.
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(reader), {}), "a long old text");
}

TEST_F(DurableFile, IsForItsOwnerAndGroupWithinTheUmask) {
  const mode_t before = ::umask(0);
  write("a.ks", "text");
  ::umask(077);
  write("b.ks", "text");
  ::umask(before);
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(directory_ / "a.ks").permissions(), perms(0640));
  EXPECT_EQ(std::filesystem::status(directory_ / "b.ks").permissions(), perms(0600));
}

TEST_F(DurableFile, LeavesWhatIsRemovedByAge) {
  for (const char* name : {".put-1", ".put-22", ".put-x", ".put", "a.put-1", "a"})
    std::ofstream(directory_ / name) << "something";
  remove_unfinished(directory_.path(), std::chrono::hours(1));
  EXPECT_EQ(names().size(), 6U) << "its writer may be at work";
  remove_unfinished(directory_.path(), std::chrono::seconds(0));
  EXPECT_THAT(names(), ::testing::UnorderedElementsAre(".put", ".put-x", "a", "a.put-1"));
}

TEST_F(DurableFile, IsGoneWhenItsStyleFails) {
  const auto status = status_without_proc([&] {
    try {
      keysieve::DurableFile(directory_ / "a.ks", {.made = [](auto&, auto&) { throw std::bad_alloc(); }});
    } catch (const std::bad_alloc&) {
      return true;
    }
    return false;
  });
  if (!status) GTEST_SKIP() << "this user may not mount";
  EXPECT_EQ(status, 0);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(DurableFile, ReplacesNothingIfItsStyleSaysSo) {
  EXPECT_TRUE(is_made_once("a.key"));
  EXPECT_THAT(names(), ElementsAre("a.key"));
}

TEST_F(DurableFile, ReplacesNothingOnAFileSystemWithoutNamelessFiles) {
  const auto status = status_without_proc([this] { return is_made_once("b.key"); });
  if (!status) GTEST_SKIP() << "this user may not mount";
  EXPECT_EQ(status, 0);
  EXPECT_EQ(text_of("b.key"), "first");
  EXPECT_THAT(names(), ElementsAre("b.key"));
}

TEST_F(DurableFile, NeverReplacesAFolderOrADevice) {
  std::filesystem::create_directory(directory_ / "folder");
  EXPECT_EQ(failure_of([&] { write("folder", "text"); }), ErrorKind::CannotCreate);
  ASSERT_EQ(::mkfifo((directory_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(failure_of([&] { write("pipe", "text"); }), ErrorKind::CannotCreate);
  EXPECT_TRUE(std::filesystem::is_fifo(directory_ / "pipe"));
  std::filesystem::create_symlink("/dev/null", directory_ / "null");
  EXPECT_EQ(failure_of([&] { write("null", "text"); }), ErrorKind::CannotCreate);
  EXPECT_TRUE(std::filesystem::is_symlink(directory_ / "null"));
  EXPECT_EQ(names().size(), 3U);
}

TEST_F(DurableFile, CannotBeMadeWithoutItsFolderOrOnAReadOnlyFileSystem) {
  EXPECT_EQ(failure_of([&] { write("nowhere/a.ks", "text"); }), ErrorKind::CannotCreate);
  const MountedTmpfs mounted(directory_.path(), "64k", MS_RDONLY);
  if (!mounted.is_there()) GTEST_SKIP() << "this user may not mount";
  EXPECT_EQ(failure_of([&] { write("a.ks", "text"); }), ErrorKind::CannotCreate);
  EXPECT_THAT(names(), IsEmpty());
}

}  // namespace
}  // namespace keysieve::test
