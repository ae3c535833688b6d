// The page that leads to the words: what of it is trusted, and what workers may do to it.
#include "core/worker/seen/seen_page.hpp"

#include <fcntl.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "core/worker/base/checksum.hpp"
#include "tests/core/seen/seen_sets.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::is_new;
using test::is_root;
using test::kOtherUser;
using test::kWorker;
using test::kWorkerGroup;
using test::numbered_hash;
using test::run_as;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Optional;

class SeenPageTest : public test::SeenSets {
 protected:
  void SetUp() override { static_cast<void>(started_writer()); }

  void open(std::optional<uid_t> trusted_owner = std::nullopt) const {
    open_seen_page<const SeenPage>(SetFolder::open(seen_directory(directory_.path()), kSet, trusted_owner));
  }
  // By those who open the page, and by workers.
  void expect_refused(ErrorKind kind, const std::string& path, const std::string& message,
                      std::optional<uid_t> trusted_owner = std::nullopt) const {
    EXPECT_THAT(test::message_of(kind, [&] { open(trusted_owner); }),
                AllOf(HasSubstr(path), HasSubstr(message)));
    SeenReader reader({.directory = directory_.path(), .trusted_owner = trusted_owner}, kSet);
    EXPECT_FALSE(reader.follow());
    EXPECT_THAT(reader.reason(), AllOf(HasSubstr(path), HasSubstr(message)));
    EXPECT_EQ(reader.availability(),
              kind == ErrorKind::Incompatible ? Availability::Incompatible : Availability::Missing);
  }
  // Whatever is wrong with it already.
  template <typename Change>
  void change_page(Change change) const {
    std::fstream file(page_path(), std::ios::in | std::ios::out | std::ios::binary);
    const auto page = std::make_unique<SeenPage>();
    file.read(reinterpret_cast<char*>(page.get()), sizeof *page);
    change(*page);
    file.seekp(0).write(reinterpret_cast<const char*>(page.get()), sizeof *page);
  }
  void change_byte(std::size_t offset) const {
    change_page([&](SeenPage& page) { reinterpret_cast<std::byte*>(&page)[offset] ^= std::byte{1}; });
  }
  // As another version would write it: the checksum is right.
  template <typename Change>
  void rewrite_header(Change change) const {
    change_page([&](SeenPage& page) {
      change(page);
      page.header_checksum = header_checksum(page);
    });
  }
  static void set_mode(const std::string& path, mode_t mode) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0) << path;
  }
  static void give_to(const std::string& path, uid_t user) {
    ASSERT_EQ(::chown(path.c_str(), user, kWorkerGroup), 0) << path;
  }
};

TEST_F(SeenPageTest, IsRefusedWithAnyOtherSize) {
  const std::string whole = directory_ / "whole";
  std::filesystem::copy_file(page_path(), whole);
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, kPageBytes, sizeof(SeenPage) - kPageBytes,
                                  sizeof(SeenPage) - 1, sizeof(SeenPage) + 1}) {
    std::filesystem::resize_file(page_path(), bytes);
    expect_refused(ErrorKind::Data, page_path(),
                   bytes < sizeof(SeenPage)
                       ? "is cut short: " + std::to_string(bytes) + " bytes"
                       : "has " + std::to_string(bytes) + " bytes, a page of a seen set has " +
                             std::to_string(sizeof(SeenPage)));
  }
  std::filesystem::copy_file(whole, page_path(), std::filesystem::copy_options::overwrite_existing);
  EXPECT_NO_THROW(open());
}

TEST_F(SeenPageTest, IsRefusedWhenAnyByteOfItsHeaderIsDamaged) {
  for (std::size_t offset = 0; offset < offsetof(SeenPage, header_checksum) + 8; ++offset) {
    change_byte(offset);
    EXPECT_THAT(test::failure_of([&] { open(); }), Optional(AnyOf(ErrorKind::Data, ErrorKind::Incompatible)))
        << offset;
    SeenReader reader = this->reader();
    EXPECT_FALSE(reader.follow()) << offset;
    change_byte(offset);
  }
  EXPECT_NO_THROW(open());
}

TEST_F(SeenPageTest, SaysHowItIsDamaged) {
  change_byte(0);
  expect_refused(ErrorKind::Data, page_path(), "is not a keysieve page of a seen set");
  change_byte(0);
  change_byte(offsetof(SeenPage, seed));
  expect_refused(ErrorKind::Data, page_path(), "its checksum does not match");
  change_byte(offsetof(SeenPage, seed));
}

// Bytes that nobody has written have it.
TEST_F(SeenPageTest, IsRefusedWithoutASeed) {
  rewrite_header([](SeenPage& page) { page.seed = {}; });
  expect_refused(ErrorKind::Data, page_path(), "seed is zero");
}

TEST_F(SeenPageTest, IsIncompatibleWithAnotherMajorAbi) {
  rewrite_header([](SeenPage& page) { ++page.abi_major; });
  expect_refused(ErrorKind::Incompatible, page_path(), "of ABI 2, this version knows 1");
  rewrite_header([](SeenPage& page) {
    --page.abi_major;
    page.endian_mark = 0x04030201;
  });
  expect_refused(ErrorKind::Incompatible, page_path(), "written by another version");
}

TEST_F(SeenPageTest, IsNotTrustedWhenItsGroupOrOthersMayWriteToItOrItsFolder) {
  for (const mode_t mode : {0660U, 0642U}) {
    set_mode(page_path(), mode);
    expect_refused(ErrorKind::NotTrusted, page_path(), "its group or others may write to it");
  }
  set_mode(page_path(), 0640);
  for (const mode_t mode : {02770U, 02752U, 0777U}) {
    set_mode(folder(), mode);
    expect_refused(ErrorKind::NotTrusted, folder(), "its group or others may write to it");
  }
}

// The page is the trusted user's, but its words were made by another one.
TEST_F(SeenPageTest, LeadsToNoMemoryThatAnotherUserHasMade) {
  if (!is_root()) GTEST_SKIP() << "only root can give files to another user";
  give_to(page_path(), kOtherUser);
  give_to(folder(), kOtherUser);
  set_mode(folder(), 02750);
  SeenReader reader({.directory = directory_.path(), .trusted_owner = kOtherUser}, kSet);
  EXPECT_FALSE(reader.follow());
  EXPECT_THAT(reader.reason(),
              AllOf(HasSubstr(page_path()), HasSubstr("by uid 0, not of 4352 bytes by uid 54321")));
}

class SeenPageOfWorkers : public test::SeenSets {
 protected:
  void SetUp() override {
    if (!is_root()) GTEST_SKIP() << "only root can become another user";
    static_cast<void>(started_writer(kWorkerGroup));
  }
};

TEST_F(SeenPageOfWorkers, IsClosedToAllOthers) {
  EXPECT_EQ(run_as(kWorker, kWorkerGroup + 1,
                   [&] {
                     SeenReader reader = this->reader();
                     expect_missing(reader, AllOf(HasSubstr(folder()), HasSubstr("Permission denied")));
                     return HasFailure() ? 1 : 0;
                   }),
            0);
}

TEST_F(SeenPageOfWorkers, CanBeChangedInNoWayByAWorker) {
  const std::string page = page_path();
  const auto attack = [&]() -> int {
    SeenReader reader = this->reader();
    if (!reader.follow()) return 1;
    if (::open(page.c_str(), O_RDWR | O_CLOEXEC) >= 0 || ::open(page.c_str(), O_WRONLY | O_CLOEXEC) >= 0)
      return 2;
    if (::truncate(page.c_str(), 0) == 0) return 3;
    if (::unlink(page.c_str()) == 0) return 4;
    if (::rename(page.c_str(), (folder() + "/other").c_str()) == 0) return 5;
    if (::open((folder() + "/new").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600) >= 0) return 6;
    if (::mkdir((seen_directory(directory_.path()) + "/new").c_str(), 0700) == 0) return 7;
    if (::rename(folder().c_str(), (folder() + "-moved").c_str()) == 0) return 8;
    if (::chmod(page.c_str(), 0666) == 0 || ::chmod(folder().c_str(), 0777) == 0) return 9;
    if (::open((folder() + "/lock").c_str(), O_RDONLY | O_CLOEXEC) >= 0) return 10;
    const int id =
        ::shmget(static_cast<key_t>(reader.page()->entry(reader.attached().first).segment_key), 0, 0);
    shmid_ds status{};
    if (::shmctl(id, IPC_STAT, &status) != 0) return 11;
    if (::shmctl(id, IPC_SET, &status) == 0 || ::shmctl(id, IPC_RMID, nullptr) == 0) return 12;
    return 0;
  };
  EXPECT_EQ(run_as(kWorker, kWorkerGroup, attack), 0);
  SeenReader reader = this->reader();
  EXPECT_TRUE(is_new(reader, numbered_hash(1)));
}

TEST_F(SeenPageOfWorkers, IsMappedReadOnly) {
  const auto write = [&]() -> int {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would report it
    SeenReader reader = this->reader();
    if (!reader.follow()) return 1;
    const_cast<SeenPage*>(reader.page())->on_unavailable = 1;
    return 0;
  };
  EXPECT_EQ(run_as(kWorker, kWorkerGroup, write), -SIGSEGV);
}

TEST_F(SeenPageOfWorkers, IsGivenToAnotherGroupWithAllItsMemory) {
  EXPECT_TRUE(writer(kWorkerGroup + 1).adopt());
  struct stat status {};
  ASSERT_EQ(::stat(page_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_gid, kWorkerGroup + 1);
  const auto adds = [&] {
    SeenReader reader = this->reader();
    return is_new(reader, numbered_hash(1)) ? 0 : 1;
  };
  EXPECT_EQ(run_as(kWorker, kWorkerGroup, adds), 1);
  EXPECT_EQ(run_as(kWorker, kWorkerGroup + 1, adds), 0);
}

TEST_F(SeenPageOfWorkers, HasTheSameModesWithAnyUmask) {
  const auto mode_of = [](const std::string& path) {
    struct stat status {};
    return ::stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
  };
  for (const mode_t mask : {0U, 022U, 077U}) {
    const mode_t before = ::umask(mask);
    SeenWriter writer(directory_.path(), "views", kWorkerGroup);
    writer.create(kSeed, OnUnavailable::New);
    ::umask(before);
    const std::string views = seen_directory(directory_.path()) + "/views";
    EXPECT_EQ(mode_of(seen_directory(directory_.path())), 0755U);
    EXPECT_EQ(mode_of(views), 02750U);
    EXPECT_EQ(mode_of(views + "/page"), 0640U);
    EXPECT_EQ(mode_of(views + "/lock"), 0600U);
    std::filesystem::remove_all(views);
  }
}

}  // namespace
}  // namespace keysieve
