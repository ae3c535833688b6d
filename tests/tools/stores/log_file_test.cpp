#include "tools/stores/log_file.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "core/builder/base/log_positions.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kAllBytes = 1'000'000;

class LogFileTest : public ::testing::Test {
 protected:
  // Entries at 1-0, 1-1, …
  static std::vector<LogEntry> entries(const std::vector<std::string>& keys, std::uint64_t milliseconds = 1) {
    std::vector<LogEntry> entries;
    for (const std::string& key : keys) entries.push_back({log_position(milliseconds, entries.size()), key});
    return entries;
  }
  static std::vector<std::string> keys_in(LogFile& file) {
    std::vector<std::string> keys;
    for (const LogEntry& entry : file.read_after(kBeforeAll, kAllBytes)) keys.push_back(entry.key);
    return keys;
  }
  std::vector<std::string> keys_in_file() const {
    LogFile file(path_);
    return keys_in(file);
  }

  [[nodiscard]] std::string bytes() const {
    std::ostringstream text;
    text << std::ifstream(path_, std::ios::binary).rdbuf();
    return text.str();
  }
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  TemporaryDirectory directory_;
  std::string path_ = directory_ / "log";
  LogFile file_{path_};
};

TEST_F(LogFileTest, RefusesPositionsThatDoNotRise) {
  file_.append(entries({"a", "b"}));
  for (const LogPosition& position : {log_position(1, 1), log_position(1, 0), log_position(0, 9)}) {
    const LogEntry entry{position, "c"};
    EXPECT_EQ(failure_of([&] { file_.append(std::span(&entry, 1)); }), ErrorKind::Usage);
  }
  EXPECT_THAT(keys_in_file(), ElementsAre("a", "b"));
}

// The kernel's count of the bytes that this process has read.
std::uint64_t bytes_read_so_far() {
  std::ifstream io("/proc/self/io");
  std::string name;
  std::uint64_t bytes = 0;
  io >> name >> bytes;
  return bytes;
}

TEST_F(LogFileTest, ReadsOnlyWhatIsNewSinceTheLastRead) {
  file_.append(entries({std::string(8'000'000, 'x')}));
  LogFile reader(path_);
  ASSERT_THAT(reader.read_after(kBeforeAll, kAllBytes), SizeIs(1));
  reader.end();
  file_.append(entries({"b"}, 2));
  const std::uint64_t before = bytes_read_so_far();
  EXPECT_THAT(reader.read_after(log_position(1, 0), kAllBytes), SizeIs(1));
  EXPECT_EQ(reader.end(), log_position(2, 0));
  EXPECT_LT(bytes_read_so_far() - before, 10'000U);
}

TEST_F(LogFileTest, IgnoresATornEntryAndAppendsInItsPlaceWhereverItIsCut) {
  file_.append(entries({"a", "b"}));
  const std::size_t whole = bytes().size();
  file_.append(entries({"c", "d"}, 2));
  const std::string all = bytes();
  for (std::size_t size = whole; size < all.size(); ++size) {
    write(all.substr(0, size));
    LogFile file(path_);
    EXPECT_EQ(file.end(), log_position(1, 1)) << size;
    EXPECT_THAT(keys_in(file), ElementsAre("a", "b")) << size;
    LogFile(path_).append(entries({"e"}, 3));
    EXPECT_THAT(keys_in_file(), ElementsAre("a", "b", "e")) << size;
    EXPECT_EQ(bytes().size(), whole + 64) << "nothing of it is left";
  }
}

// A power loss may leave this: the file has grown, but a sector of the new bytes is zero.
TEST_F(LogFileTest, AppendsInPlaceOfAnEntryThatHasLostASector) {
  file_.append(entries({"a"}));
  const std::size_t whole = bytes().size();
  file_.append(entries({std::string(20'000, 'b')}, 2));
  const std::string all = bytes();
  constexpr std::size_t kSectorBytes = 512;
  for (std::size_t sector = 0; sector < all.size(); sector += kSectorBytes) {
    std::string lost = all;
    for (std::size_t i = std::max(sector, whole); i < std::min(sector + kSectorBytes, all.size()); ++i)
      lost[i] = '\0';
    write(lost);
    EXPECT_EQ(LogFile(path_).end(), log_position(1, 0)) << sector;
    LogFile(path_).append(entries({"c"}, 3));
    EXPECT_THAT(keys_in_file(), ElementsAre("a", "c")) << sector;
  }
}

TEST_F(LogFileTest, SaysWhereAByteIsWrong) {
  file_.append(entries({"a", "b"}));
  const std::size_t second = bytes().size();
  file_.append(entries({std::string(70, 'c')}, 2));
  const std::size_t third = bytes().size();
  file_.append(entries({"d"}, 3));
  const std::string all = bytes();
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::string damaged = all;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    write(damaged);
    const std::size_t frame = i < second ? 0 : i < third ? second : third;
    const std::string expected = path_ + ": is damaged at byte " + std::to_string(frame);
    LogFile file(path_);
    EXPECT_EQ(message_of<ErrorKind::Data>([&] { keys_in(file); }), expected) << i;
    EXPECT_EQ(message_of<ErrorKind::Data>([&] { file.end(); }), expected) << i;
    EXPECT_EQ(failure_of([&] { file.append(entries({"e"}, 4)); }), ErrorKind::Data) << i;
    EXPECT_EQ(failure_of([&] { file.trim(log_position(3, 0)); }), ErrorKind::Data) << i;
    ASSERT_TRUE(bytes() == damaged) << "it is left as it is";
  }
}

TEST_F(LogFileTest, DoesNotMistakeAZeroedEntryInTheMiddleForATornOne) {
  file_.append(entries({"a"}));
  const std::size_t second = bytes().size();
  file_.append(entries({"b"}, 2));
  const std::size_t third = bytes().size();
  file_.append(entries({"c"}, 3));
  write(bytes().replace(second, third - second, third - second, '\0'));
  EXPECT_EQ(message_of<ErrorKind::Data>([&] { keys_in_file(); }),
            path_ + ": is damaged at byte " + std::to_string(second));
}

TEST_F(LogFileTest, FollowsNoSymbolicLink) {
  LogFile(directory_ / "elsewhere").append(entries({"a"}));
  fs::create_symlink(directory_ / "elsewhere", path_);
  EXPECT_EQ(failure_of([&] { keys_in_file(); }), ErrorKind::Data);
  EXPECT_EQ(failure_of([&] { file_.append(entries({"b"}, 2)); }), ErrorKind::Data);
}

// As of a client that reads it by NFS, which the server first tells that it changes.
TEST_F(LogFileTest, WaitsForAReaderWithALease) {
  LogFile(path_).append(entries({"a"}));
  const FileDescriptor reader(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::fcntl(reader.get(), F_SETSIG, SIGURG), 0);  // which is ignored
  ASSERT_EQ(::fcntl(reader.get(), F_SETLEASE, F_RDLCK), 0);
  std::thread writer([&] { file_.append(entries({"b"}, 2)); });
  while (::fcntl(reader.get(), F_GETLEASE) == F_RDLCK) std::this_thread::yield();
  EXPECT_EQ(::fcntl(reader.get(), F_SETLEASE, F_UNLCK), 0);
  writer.join();
  EXPECT_THAT(keys_in_file(), ElementsAre("a", "b"));
}

TEST_F(LogFileTest, TakesBackAnAppendThatAFullDiskCutShort) {
  file_.append(entries({"a"}));
  const std::size_t whole = bytes().size();
  EXPECT_EQ(run_in_process([&] {
              std::signal(SIGXFSZ, SIG_IGN);
              const rlimit limit{whole + 1000, whole + 1000};
              if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return kUnexpected;
              file_.append(entries({std::string(5000, 'b')}, 2));
              return 0;
            }),
            exit_status_of(ErrorKind::CannotCreate));
  EXPECT_EQ(bytes().size(), whole);
  file_.append(entries({"c"}, 3));
  EXPECT_THAT(keys_in_file(), ElementsAre("a", "c"));
}

TEST_F(LogFileTest, ReadsOnAfterAWriterHasTakenBackWhatWasReadAndAnotherHasWrittenAsMuchOrMore) {
  for (const std::size_t bytes_of_key : {1U, 500U}) {
    write("");
    file_.append(entries({"a"}));
    const std::size_t before = bytes().size();
    file_.append(entries({"b"}, 2));
    LogFile reader(path_);
    ASSERT_THAT(keys_in(reader), ElementsAre("a", "b"));
    ASSERT_EQ(reader.end(), log_position(2, 0));
    fs::resize_file(path_, before);
    LogFile(path_).append(entries({std::string(bytes_of_key, 'c')}, 3));
    EXPECT_THAT(reader.read_after(log_position(2, 0), kAllBytes), SizeIs(1)) << bytes_of_key;
    EXPECT_EQ(reader.end(), log_position(3, 0)) << bytes_of_key;
  }
}

TEST_F(LogFileTest, LeavesTheFileAloneWhenThereIsNothingToTrim) {
  file_.append(entries({"a"}, 5));
  const auto inode = [this] {
    struct stat status {};
    return ::stat(path_.c_str(), &status) == 0 ? status.st_ino : 0;
  };
  const ino_t before = inode();
  file_.trim(log_position(4, 9));
  EXPECT_EQ(inode(), before);
  file_.trim(log_position(5, 0));
  const ino_t trimmed = inode();
  EXPECT_NE(trimmed, before);
  file_.trim(log_position(6, 0));
  EXPECT_EQ(inode(), trimmed);
  LogFile(directory_ / "missing").trim(log_position(5, 0));
  EXPECT_FALSE(fs::exists(directory_ / "missing"));
}

TEST_F(LogFileTest, ShrinksWhenItIsTrimmed) {
  for (std::uint64_t i = 1; i <= 100; ++i) file_.append(entries({std::string(1000, 'x')}, i));
  file_.trim(log_position(99, 0));
  EXPECT_LT(bytes().size(), 1'200U);
  file_.trim(log_position(100, 0));
  EXPECT_EQ(bytes().size(), 96U);
  EXPECT_EQ(LogFile(path_).end(), log_position(100, 0));
}

TEST_F(LogFileTest, SaysHowFarItWasTrimmed) {
  LogFile reader(path_);
  const auto trimmed_to = [&reader] { return reader.facts().trimmed_to; };
  EXPECT_EQ(trimmed_to(), kBeforeAll) << "no file";
  file_.append(entries({"a", "b", "c"}));
  EXPECT_EQ(trimmed_to(), kBeforeAll);
  file_.trim(log_position(0, 9));
  EXPECT_EQ(trimmed_to(), kBeforeAll) << "nothing was removed";
  file_.trim(log_position(1, 1));
  EXPECT_EQ(trimmed_to(), log_position(1, 1));
  EXPECT_THAT(keys_in(reader), ElementsAre("c"));
  file_.append(entries({"d"}, 4));
  EXPECT_THAT(keys_in(file_), ElementsAre("c", "d"));
  file_.trim(log_position(3, 0));
  EXPECT_EQ(file_.facts().trimmed_to, log_position(3, 0));
  EXPECT_EQ(trimmed_to(), log_position(3, 0)) << "between two entries";
  file_.trim(log_position(9, 0));
  EXPECT_EQ(trimmed_to(), log_position(4, 0))
      << "the last entry: later ones will get lower positions than 9-0";
  EXPECT_EQ(reader.end(), log_position(4, 0));
}

TEST_F(LogFileTest, SaysHowFarItWasTrimmedAfterATornEntryWasReplaced) {
  file_.append(entries({"a", "b"}));
  file_.trim(log_position(1, 0));
  file_.append(entries({"c"}, 2));
  write(bytes().substr(0, bytes().size() - 1));
  LogFile(path_).append(entries({"d"}, 3));
  EXPECT_THAT(keys_in_file(), ElementsAre("b", "d"));
  EXPECT_EQ(LogFile(path_).facts().trimmed_to, log_position(1, 0));
}

TEST_F(LogFileTest, LosesATornEntryWhenItIsTrimmedThoughNothingElseIs) {
  file_.append(entries({"a", "b"}));
  const std::string whole = bytes();
  file_.append(entries({"c"}, 2));
  write(bytes().substr(0, bytes().size() - 1));
  LogFile(path_).trim(kBeforeAll);
  EXPECT_TRUE(bytes() == whole);
}

TEST_F(LogFileTest, IsWholeUnlessItsLastEntryIsTorn) {
  EXPECT_FALSE(file_.facts().is_cut) << "no file";
  file_.append(entries({"a", "b"}));
  const std::size_t first = bytes().size();
  file_.append(entries({"c"}, 2));
  const std::string all = bytes();
  for (std::size_t size = 0; size <= all.size(); ++size) {
    write(all.substr(0, size));
    EXPECT_NE(LogFile(path_).facts().is_cut, size == 0 || size == first || size == all.size()) << size;
  }
}

TEST_F(LogFileTest, CountsWhatItEverHeldHoweverItWasTrimmed) {
  file_.begin(1);
  file_.append(entries({"a", "b", "c"}, 2));
  file_.append(entries({"d"}, 3));
  for (const LogPosition& up_to : {kBeforeAll, log_position(2, 1), log_position(9, 0)}) {
    file_.trim(up_to);
    for (const LogEntry& entry : LogFile(path_).read_after(kBeforeAll, kAllBytes))
      EXPECT_EQ(entry.key[0], std::string_view("-abcd").at(entry.ordinal));
    for (const LogFacts& facts : {file_.facts(), LogFile(path_).facts()}) {
      EXPECT_EQ(facts.begun, log_position(1, 0));
      EXPECT_EQ(facts.count, 4U);
      EXPECT_EQ(facts.end, log_position(3, 0));
    }
  }
  file_.move_end(7);
  file_.append(entries({"e"}, 8));
  file_.trim(log_position(7, 0));
  EXPECT_EQ(LogFile(path_).facts().count, 5U);
  EXPECT_EQ(LogFile(path_).read_after(log_position(7, 0), kAllBytes).at(0).ordinal, 5U);
  file_.trim(log_position(8, 0));
  file_.move_end(9);
  write(bytes() + "torn");
  LogFile(path_).trim(kBeforeAll);
  EXPECT_EQ(LogFile(path_).facts().count, 5U);
  EXPECT_EQ(LogFile(path_).facts().end, log_position(9, 0));
}

TEST_F(LogFileTest, KeepsTheLastNoteAndNoneIsAnEntry) {
  file_.append(std::vector<LogEntry>{{{}, "first"}});
  std::vector<LogEntry> some = entries({"a", "b"});
  some.push_back({{}, "second"});
  file_.append(some);
  file_.append(entries({"c"}, 2));
  EXPECT_THAT(keys_in_file(), ElementsAre("a", "b", "c"));
  EXPECT_EQ(LogFile(path_).note(), "second");
  EXPECT_EQ(LogFile(path_).end(), log_position(2, 0));
  write(bytes() + "torn");
  LogFile(path_).append(entries({"d"}, 3));
  EXPECT_THAT(keys_in_file(), ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(LogFile(path_).note(), "second");
}

}  // namespace
}  // namespace keysieve::test
