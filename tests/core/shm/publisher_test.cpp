#include "core/shm/publisher.hpp"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "core/base/error.hpp"
#include "core/shm/bypass.hpp"
#include "tests/core/shm/forked.hpp"
#include "tests/core/shm/shared_memory.hpp"
#include "tests/support/mounted_tmpfs.hpp"

namespace keysieve {
namespace {

using test::change_byte;
using test::exit_status_of;
using test::is_root;
using test::may_contain;
using test::publication_seen_by;
using test::run_as;
using test::run_in_process;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using ::testing::UnorderedElementsAre;

constexpr uid_t kOtherUser = 54'321;
constexpr gid_t kWorkerGroup = 54'322;

class PublisherTest : public test::SharedMemory {
 protected:
  [[nodiscard]] static mode_t mode_of(const std::string& path) { return stat_of_path(path).st_mode & 07777; }
  [[nodiscard]] static gid_t group_of(const std::string& path) { return stat_of_path(path).st_gid; }

  // The old publication is live, and nothing of a failed one is left.
  void expect_only_the_first_publication() {
    SetReader reader = this->reader();
    EXPECT_EQ(publication_seen_by(reader), 1U) << reader.reason();
    EXPECT_THAT(file_names(),
                UnorderedElementsAre("lock", "control", snapshot_file_name(1), live_file_name(1)));
  }

 private:
  [[nodiscard]] static struct stat stat_of_path(const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    return status;
  }
};

TEST_F(PublisherTest, NumbersPublicationsFromOne) {
  Publisher publisher = this->publisher();
  for (std::uint64_t expected = 1; expected <= 5; ++expected) {
    EXPECT_EQ(publisher.publish(snapshot_of("key").get(), 10 + expected), expected);
  }
}

TEST_F(PublisherTest, GoesOnCountingWhereTheLastOneStopped) {
  publish("key");
  publish("key");
  EXPECT_EQ(publish("key"), 3U);
}

TEST_F(PublisherTest, PublishesTheBytesThatItWasGiven) {
  const SnapshotBytes snapshot = snapshot_of("key");
  publish(snapshot, 7);
  SetReader reader = this->reader();
  const SetReader::Pin pin = reader.pin();
  ASSERT_TRUE(pin);
  EXPECT_TRUE(as_text(pin->snapshot().bytes()) == as_text(snapshot.get()));
  EXPECT_EQ(pin->live().generation, 7U);
  EXPECT_EQ(pin->live().layer_bytes, 0U);
}

TEST_F(PublisherTest, KeepsThePreviousPublicationAndRemovesOlderOnes) {
  for (int i = 0; i < 5; ++i) publish("key");
  EXPECT_THAT(file_names(), UnorderedElementsAre("lock", "control", snapshot_file_name(4), live_file_name(4),
                                                 snapshot_file_name(5), live_file_name(5)));
}

TEST_F(PublisherTest, EndsABypassWhoseTimeIsOver) {
  publish("key");
  set_bypass(directory_.path(), kSet, unix_now() - 1);
  publisher().clear_expired_bypass(unix_now());
  EXPECT_FALSE(is_bypassed(writable_control().page().current.load()));
}

TEST_F(PublisherTest, LeavesABypassWhoseTimeIsNotOver) {
  publish("key");
  for (const UnixSeconds until : {UnixSeconds{0}, unix_now() + 100}) {
    set_bypass(directory_.path(), kSet, until);
    publisher().clear_expired_bypass(unix_now());
    EXPECT_TRUE(is_bypassed(writable_control().page().current.load())) << until;
  }
}

TEST_F(PublisherTest, CreatesNoFolderThatTheOwnerOfTheDirectoryCouldNotPublishIn) {
  if (!is_root()) GTEST_SKIP() << "only root can give a directory to another user";
  ASSERT_EQ(::chown(directory_.path().c_str(), 12345, static_cast<gid_t>(-1)), 0);
  EXPECT_THAT([this] { publisher(); }, ThrowsMessage<PermissionError>(HasSubstr("belongs to uid 12345")));
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

TEST_F(PublisherTest, RemovesWhatACrashHasLeft) {
  publish("key");
  for (const std::string& name : {snapshot_file_name(2), live_file_name(2), snapshot_file_name(3) + ".tmp",
                                  live_file_name(3) + ".tmp"}) {
    std::ofstream(file(name)) << "half a file";
  }
  EXPECT_EQ(publish("key"), 4U);
  EXPECT_THAT(file_names(), UnorderedElementsAre("lock", "control", snapshot_file_name(1), live_file_name(1),
                                                 snapshot_file_name(4), live_file_name(4)));
}

TEST_F(PublisherTest, LeavesFilesOfOthersAlone) {
  publish("key");
  std::ofstream(file("note")) << "text";
  std::ofstream(file("000000000000000g.ks")) << "text";
  publish("key");
  EXPECT_TRUE(std::filesystem::exists(file("note")));
  EXPECT_TRUE(std::filesystem::exists(file("000000000000000g.ks")));
}

TEST_F(PublisherTest, NeverUsesANumberTwiceAfterACrash) {
  publish("key");
  std::ofstream(file(snapshot_file_name(0xff))) << "of a publisher that died before the last step";
  EXPECT_EQ(publish("key"), 0x100U);
  EXPECT_EQ(publish("key"), 0x101U);
}

TEST_F(PublisherTest, RefusesASecondPublisherInTheSameProcess) {
  const Publisher first = publisher();
  EXPECT_THAT([&] { publisher(); },
              ThrowsMessage<LockedError>(AllOf(HasSubstr(file("lock")), HasSubstr("locked"))));
}

TEST_F(PublisherTest, RefusesASecondPublisherInAnotherProcess) {
  const Publisher first = publisher();
  EXPECT_EQ(run_in_process([&] {
              publisher();
              return 0;
            }),
            exit_status_of(ErrorKind::Locked));
}

TEST_F(PublisherTest, LetsTheNextOneInWhenItEnds) {
  { const Publisher first = publisher(); }
  EXPECT_NO_THROW(publisher());
}

TEST_F(PublisherTest, LetsOtherSetsBePublishedMeanwhile) {
  const Publisher tags = publisher();
  EXPECT_NO_THROW(Publisher({.directory = directory_.path()}, "shop"));
}

TEST_F(PublisherTest, KeepsTheOldPublicationWhenTheSnapshotIsCorrupt) {
  publish("old");
  SnapshotBytes corrupt = snapshot_of("new");
  corrupt.get().back() ^= std::byte{1};  // in a shard: only the look at everything finds it
  EXPECT_THAT([&] { publish(corrupt); },
              ThrowsMessage<DataError>(AllOf(HasSubstr(folder()), HasSubstr("shards are damaged"))));
  expect_only_the_first_publication();
}

TEST_F(PublisherTest, KeepsTheOldPublicationWhenTheSnapshotIsCutShort) {
  publish("old");
  const SnapshotBytes snapshot = snapshot_of("new");
  for (const std::size_t size : {std::size_t{0}, std::size_t{100}, kPageBytes, snapshot.get().size() - 1}) {
    EXPECT_THROW(publisher().publish(snapshot.get().first(size), 1), DataError) << size;
  }
  expect_only_the_first_publication();
}

TEST_F(PublisherTest, KeepsTheOldPublicationWhenTheSnapshotIsOfAnotherSet) {
  publish("old");
  EXPECT_THAT([&] { publish(snapshot_of("new", {.set_name = "shop"})); },
              ThrowsMessage<DataError>(AllOf(HasSubstr(folder()), HasSubstr("is of set shop"))));
  expect_only_the_first_publication();
}

TEST_F(PublisherTest, PublishesAgainAfterAFailure) {
  publish("old");
  Publisher publisher = this->publisher();
  EXPECT_THROW(publisher.publish({}, 1), DataError);
  publisher.publish(snapshot_of("new").get(), 1);
  SetReader reader = this->reader();
  EXPECT_TRUE(may_contain(reader, "new1"));
  EXPECT_FALSE(may_contain(reader, "old1"));
}

TEST_F(PublisherTest, CarriesTheBypassOver) {
  publish("old");
  set_bypass(directory_.path(), kSet, 0);
  publish("new");
  EXPECT_EQ(writable_control().page().current, kBypassBit | 2U);
}

TEST_F(PublisherTest, CountsOnWhileBypassed) {
  publish("old");
  set_bypass(directory_.path(), kSet, 0);
  EXPECT_EQ(publish("new"), 2U);
  EXPECT_EQ(publish("newer"), 3U);
}

TEST_F(PublisherTest, NoticesThatItsLockFileWasReplaced) {
  publish("old");
  Publisher first = publisher();
  std::filesystem::remove(file("lock"));
  Publisher second = publisher();
  EXPECT_THAT([&] { first.publish(snapshot_of("new").get(), 1); },
              ThrowsMessage<LockedError>(AllOf(HasSubstr(file("lock")), HasSubstr("removed or replaced"))));
  expect_only_the_first_publication();
  EXPECT_EQ(second.publish(snapshot_of("new").get(), 1), 2U);
}

TEST_F(PublisherTest, NoticesThatItsLockFileWasRemoved) {
  publish("old");
  Publisher publisher = this->publisher();
  std::filesystem::remove(file("lock"));
  EXPECT_THROW(publisher.publish(snapshot_of("new").get(), 1), LockedError);
}

TEST_F(PublisherTest, ReplacesADamagedControlPage) {
  for (const std::streamoff offset : {0, 16, 24}) {
    publish("old");
    SetReader reader = this->reader();
    EXPECT_TRUE(reader.pin());
    const std::uint64_t instance = reader.control()->instance;
    // A damaged page under the same name, while the reader still maps the good one.
    std::filesystem::copy_file(file(kControlName), file("copy"));
    std::filesystem::rename(file("copy"), file(kControlName));
    change_byte(file(kControlName), offset);
    publish("new");
    reader.check_soon();
    EXPECT_TRUE(may_contain(reader, "new1")) << offset;
    EXPECT_FALSE(may_contain(reader, "old1")) << offset;
    EXPECT_NE(reader.control()->instance, instance) << offset;
    std::filesystem::remove_all(folder());
  }
}

TEST_F(PublisherTest, ReplacesAControlFileOfAnotherSize) {
  publish("old");
  std::filesystem::resize_file(file(kControlName), 10);
  EXPECT_GT(publish("new"), 1U);
  SetReader reader = this->reader();
  EXPECT_TRUE(reader.pin());
}

TEST_F(PublisherTest, MakesTheControlFileAnewWhenItWasRemovedMeanwhile) {
  publish("old");
  SetReader running = this->reader();
  EXPECT_TRUE(running.pin());
  Publisher publisher = this->publisher();
  std::filesystem::remove(file(kControlName));
  publisher.publish(snapshot_of("new").get(), 1);
  running.check_soon();
  SetReader fresh = this->reader();
  for (SetReader* reader : {&running, &fresh}) {
    EXPECT_TRUE(may_contain(*reader, "new1"));
    EXPECT_FALSE(may_contain(*reader, "old1"));
  }
}

TEST_F(PublisherTest, LeavesAControlPageOfAnotherAbiAlone) {
  publish("old");
  {
    const ControlFile control = writable_control();
    control.writable_page().abi_major = 2;
  }
  EXPECT_THAT([&] { publisher(); },
              ThrowsMessage<IncompatibleError>(AllOf(HasSubstr(file(kControlName)), HasSubstr("ABI 2"))));
  std::array<std::byte, kPageBytes> bytes{};
  std::ifstream(file(kControlName)).read(reinterpret_cast<char*>(bytes.data()), kPageBytes);
  EXPECT_EQ(load<std::uint16_t>(bytes.data() + offsetof(ControlPage, abi_major)), 2U);
}

TEST_F(PublisherTest, SetsModesWhateverTheUmask) {
  for (const mode_t mask : {0U, 022U, 077U}) {
    const mode_t before = ::umask(mask);
    publish("key");
    ::umask(before);
    EXPECT_EQ(mode_of(folder()), 02750U) << mask;
    EXPECT_EQ(mode_of(file("lock")), 0600U) << mask;
    EXPECT_EQ(mode_of(file("control")), 0640U) << mask;
    EXPECT_EQ(mode_of(file(snapshot_file_name(1))), 0440U) << mask;
    EXPECT_EQ(mode_of(file(live_file_name(1))), 0640U) << mask;
    std::filesystem::remove_all(folder());
  }
}

TEST_F(PublisherTest, GivesFolderAndFilesToTheGroup) {
  if (!is_root()) GTEST_SKIP() << "only root can give files to any group";
  Publisher({.directory = directory_.path(), .group = kWorkerGroup}, kSet)
      .publish(snapshot_of("key").get(), 1);
  EXPECT_EQ(group_of(folder()), kWorkerGroup);
  for (const std::string& name : file_names()) EXPECT_EQ(group_of(file(name)), kWorkerGroup) << name;
}

TEST_F(PublisherTest, GivesWhatIsThereToAnotherGroup) {
  if (!is_root()) GTEST_SKIP() << "only root can give files to any group";
  publish("key");
  { const Publisher publisher({.directory = directory_.path(), .group = kWorkerGroup}, kSet); }
  EXPECT_EQ(group_of(folder()), kWorkerGroup);
  EXPECT_EQ(mode_of(folder()), 02750U);
  for (const std::string& name : file_names()) EXPECT_EQ(group_of(file(name)), kWorkerGroup) << name;
}

TEST_F(PublisherTest, RefusesToPassTheLimitOfAllSets) {
  publish("old");
  PublisherSettings settings{.directory = directory_.path(), .max_total_bytes = 25'000};
  EXPECT_THAT([&] { Publisher(settings, kSet).publish(snapshot_of("new").get(), 1); },
              ThrowsMessage<CannotCreateError>(
                  AllOf(HasSubstr(directory_.path()), HasSubstr("set tags"), HasSubstr("25000 bytes"),
                        HasSubstr("restart idle PHP workers"), HasSubstr("raise max_total_size"))));
  expect_only_the_first_publication();
  settings.max_total_bytes = 1'000'000;
  EXPECT_EQ(Publisher(settings, kSet).publish(snapshot_of("new").get(), 1), 2U);
}

TEST_F(PublisherTest, KeepsTheOldPublicationWhenTheFileSystemIsFull) {
  if (!is_root()) GTEST_SKIP() << "only root can mount a small tmpfs";
  const test::MountedTmpfs mounted(directory_.path(), "256k");
  if (mounted.error() == EPERM) GTEST_SKIP() << "this root may not mount";
  ASSERT_EQ(mounted.error(), 0);
  publish("old");
  const SnapshotBytes large = test::build_snapshot({.set_name = kSet}, test::numbered_keys("new", 250'000));
  EXPECT_THAT([&] { publish(large); }, ThrowsMessage<CannotCreateError>(
                                           AllOf(HasSubstr(folder()), HasSubstr("No space left on device"))));
  expect_only_the_first_publication();
  EXPECT_EQ(publish("small"), 2U);
}

// SIGXFSZ ignored, a file over the limit fails in the middle of write(2), as on a full disk.
TEST_F(PublisherTest, KeepsTheOldPublicationWhenAFileCannotBeWrittenInFull) {
  publish("old");
  const SnapshotBytes large = test::build_snapshot({.set_name = kSet}, test::numbered_keys("new", 20'000));
  EXPECT_EQ(run_in_process([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{16'384, 16'384};
              if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return test::kUnexpected;
              publish(large);
              return 0;
            }),
            exit_status_of(ErrorKind::CannotCreate));
  expect_only_the_first_publication();
}

TEST_F(PublisherTest, NamesADirectoryThatIsNotThere) {
  EXPECT_THAT(
      [&] { Publisher({.directory = directory_ / "gone"}, kSet); },
      ThrowsMessage<MissingInputError>(AllOf(HasSubstr(directory_ / "gone"), HasSubstr("No such file"))));
  std::ofstream(directory_ / "file") << "text";
  EXPECT_THAT(
      [&] { Publisher({.directory = directory_ / "file"}, kSet); },
      ThrowsMessage<MissingInputError>(AllOf(HasSubstr(directory_ / "file"), HasSubstr("Not a directory"))));
}

TEST_F(PublisherTest, RefusesNamesThatAreNoSetNames) {
  for (const std::string name : {"", ".", "..", "-x", "A", "../tags"}) {
    EXPECT_THROW(Publisher({.directory = directory_.path()}, name), UsageError) << name;
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(PublisherTest, NeedsADirectoryItMayWrite) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  EXPECT_EQ(run_as(kOtherUser, kWorkerGroup,
                   [&] {
                     publisher();
                     return 0;
                   }),
            exit_status_of(ErrorKind::Permission));
}

TEST_F(PublisherTest, RefusesAFolderOfAnotherUser) {
  if (!is_root()) GTEST_SKIP() << "only root can give files to another user";
  publish("old");
  std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  ASSERT_EQ(::chown(folder().c_str(), kOtherUser, kWorkerGroup), 0);
  EXPECT_THAT([&] { publisher(); },
              ThrowsMessage<PermissionError>(AllOf(HasSubstr(folder()), HasSubstr("uid 54321"))));
}

// Root's folder is trusted for reading, yet only root may publish into it.
TEST_F(PublisherTest, MustRunAsTheOwnerOfTheFolder) {
  if (!is_root()) GTEST_SKIP() << "only root can become another user";
  Publisher({.directory = directory_.path(), .group = kWorkerGroup}, kSet)
      .publish(snapshot_of("old").get(), 1);
  std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  EXPECT_EQ(run_as(kOtherUser, kWorkerGroup,
                   [&] {
                     publisher();
                     return 0;
                   }),
            exit_status_of(ErrorKind::Permission));
  EXPECT_EQ(run_as(kOtherUser, kWorkerGroup,
                   [&] {
                     set_bypass(directory_.path(), kSet, 0);
                     return 0;
                   }),
            exit_status_of(ErrorKind::Permission));
  SetReader reader = this->reader();
  EXPECT_TRUE(reader.pin());
}

TEST_F(PublisherTest, FollowsNoSymbolicLinkToItsFolder) {
  const test::TemporaryDirectory elsewhere;
  std::filesystem::create_symlink(elsewhere.path(), folder());
  EXPECT_THROW(publisher(), CannotCreateError);
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path()));
}

TEST_F(PublisherTest, FollowsNoSymbolicLinkFromItsLock) {
  publish("old");
  const std::string victim = directory_ / "victim";
  std::filesystem::remove(file("lock"));
  std::filesystem::create_symlink(victim, file("lock"));
  EXPECT_THAT([&] { publisher(); }, ThrowsMessage<CannotCreateError>(HasSubstr(file("lock"))));
  EXPECT_FALSE(std::filesystem::exists(victim));
}

TEST_F(PublisherTest, RefusesAPipeAsItsLockWithoutWaiting) {
  publish("old");
  std::filesystem::remove(file("lock"));
  ASSERT_EQ(::mkfifo(file("lock").c_str(), 0600), 0);
  EXPECT_THAT([&] { publisher(); }, ThrowsMessage<PermissionError>(HasSubstr("not a regular file")));
}

}  // namespace
}  // namespace keysieve
