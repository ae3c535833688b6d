#include "tools/keys/key_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <thread>

#include "core/worker/base/file_descriptor.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve::test {
namespace {

using namespace std::string_literals;
using Keys = std::vector<std::string>;

constexpr KeyFileFormat kNulSeparated{.nul_separated = true};
constexpr KeyFileFormat kAllowCr{.allow_cr = true};

class KeyFile : public ::testing::Test {
 protected:
  [[nodiscard]] std::string file_with(const std::string& text) const {
    const std::string path = directory_ / "keys.txt";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  // Also checks the number of keys that read_keys returns.
  static Keys read(const std::string& path, const KeyFileFormat& format = {}) {
    Keys keys;
    const KeysRead read = read_keys(path, format, [&](std::string_view key) { keys.emplace_back(key); });
    EXPECT_EQ(read.count, keys.size());
    return keys;
  }
  Keys keys_in(const std::string& text, const KeyFileFormat& format = {}) const {
    return read(file_with(text), format);
  }
  std::optional<ErrorKind> failure(const std::string& text, const KeyFileFormat& format = {}) const {
    return failure_of([&] { keys_in(text, format); });
  }

  TemporaryDirectory directory_;
};

TEST_F(KeyFile, HoldsAKeyPerLineOrUpToEachNul) {
  struct Row {
    std::string text;
    Keys keys;
    KeyFileFormat format{};
  };
  for (const auto& [text, keys, format] :
       std::vector<Row>{{"a\nb c\n 猫 \n", {"a", "b c", " 猫 "}},
                        {"a\nb", {"a", "b"}},
                        {"a", {"a"}},
                        {"\n\na\n\n\nb\n\n", {"a", "b"}},
                        {"", {}},
                        {"\n\n", {}},
                        {"b\na\nb\n", {"b", "a", "b"}},
                        {"a\rb\n\rc\n", {"a\rb", "\rc"}},
                        {"a\r\nb\n\r\nc\r\r\nd\r", {"a", "b", "c\r", "d"}, kAllowCr},
                        {"", {}, kNulSeparated},
                        {"a\0b\nc\0d\r\0"s, {"a", "b\nc", "d\r"}, kNulSeparated},
                        {"a\0b"s, {"a", "b"}, kNulSeparated},
                        {"\0a\0\0"s, {"", "a", ""}, kNulSeparated},
                        {"\0"s, {""}, kNulSeparated}}) {
    EXPECT_EQ(keys_in(text, format), keys) << text;
  }
}

TEST_F(KeyFile, MayHoldAnyByteButNulAndTheLineEnd) {
  std::string key;
  for (int byte = 1; byte < 256; ++byte) {
    if (byte != '\n') key += static_cast<char>(byte);
  }
  EXPECT_THAT(keys_in(key + "\n\xFF\n"), ElementsAre(key, "\xFF"));
}

// What is said, and which line is named: build.transcript.
TEST_F(KeyFile, IsRefusedIfItIsSomethingElse) {
  const std::vector<std::string> of_any_format{"\x1F\x8B\x08\x08\nmore\0"s,  // compressed
                                               "\x28\xB5\x2F\xFD\x04more\0"s, "\xFD"s + "7zXZ\0\0more\0"s,
                                               "\xFF\xFE"s + "a\0\n\0"s,  // UTF-16
                                               "\xFE\xFF"s + "\0a\0\n"s};
  for (const std::string& text : of_any_format) {
    for (const KeyFileFormat& format : {KeyFileFormat{}, kNulSeparated})
      EXPECT_EQ(failure(text, format), ErrorKind::Data) << text;
  }
  for (const std::string pointer :
       {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
        "/annex/objects/SHA256E-s12345--4d7a.txt\n"}) {
    for (const KeyFileFormat& format : {KeyFileFormat{}, KeyFileFormat{.has_columns = true}})
      EXPECT_EQ(failure(pointer, format), ErrorKind::Data) << pointer;
    EXPECT_EQ(failure("a\n" + pointer), std::nullopt);
  }
  for (const std::string& text : {"a\n\nb\0c\0\nd\n"s, "a\0b\0"s, "a\n\0"s, "a\n\nb\r\nc\r\n"s, "a\n\r\n"s,
                                  "a\nlast\r"s, "\xEF\xBB\xBFkey\n"s})
    EXPECT_EQ(failure(text), ErrorKind::Data) << text;
  for (const KeyFileFormat& format :
       {kNulSeparated, KeyFileFormat{.nul_separated = true, .max_key_bytes = 4}})
    EXPECT_EQ(failure("a\nb\nc\n", format), ErrorKind::Data) << format.max_key_bytes;
  EXPECT_THAT(keys_in("a\n\x1F\x8B\x08\x08\n"), SizeIs(2)) << "not at the beginning";
  EXPECT_THAT(keys_in("key\n\xEF\xBB\xBFkey\n"), SizeIs(2));
  EXPECT_THAT(keys_in("\xEF\xBB\xBF\0"s, kNulSeparated), SizeIs(1));
  EXPECT_THAT(keys_in("\xFF\xFE\xFF\xFE\0"s, kNulSeparated), SizeIs(1));
}

// One read takes 256 KiB.
TEST_F(KeyFile, MayHoldKeysLargerThanOneRead) {
  const std::string large = std::string(1'048'573, 'x') + "猫";
  EXPECT_THAT(keys_in("a\n" + large + "\nb\n" + large), ElementsAre("a", large, "b", large));
  EXPECT_THAT(keys_in(large + "\0\0"s + large, kNulSeparated), ElementsAre(large, "", large));
}

TEST_F(KeyFile, RefusesKeysBeyondTheLimit) {
  constexpr KeyFileFormat kFour{.max_key_bytes = 4};
  EXPECT_THAT(keys_in("four\n\n猫\nfour", kFour), ElementsAre("four", "猫", "four"));
  EXPECT_EQ(failure("four\n\nfive5\nsix\n", kFour), ErrorKind::Data);
  EXPECT_EQ(failure("a\nfive5", kFour), ErrorKind::Data);
  constexpr KeyFileFormat kFourWithCr{.allow_cr = true, .max_key_bytes = 4};
  EXPECT_THAT(keys_in("four\r\nfour\r", kFourWithCr), ElementsAre("four", "four"));
  EXPECT_EQ(failure("five5\r\n", kFourWithCr), ErrorKind::Data);
  constexpr KeyFileFormat kFourWithNul{.nul_separated = true, .max_key_bytes = 4};
  EXPECT_EQ(failure("a\0four\r\0"s, kFourWithNul), ErrorKind::Data);
  EXPECT_EQ(failure("a\0four\r"s, kFourWithNul), ErrorKind::Data);
}

// A pipe that never ends a line is refused at once, and not when memory is full.
TEST_F(KeyFile, RefusesAKeyWithoutEndBeforeAllOfItIsRead) {
  const std::string pipe = directory_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  for (const KeyFileFormat& format : {KeyFileFormat{}, kNulSeparated}) {
    std::thread writer([&pipe] {
      std::ofstream endless(pipe);
      const std::string some(65'536, 'x');
      for (int i = 0; i < 100'000 && endless; ++i) endless << some;
    });
    EXPECT_EQ(failure_of([&] { read(pipe, format); }), ErrorKind::Data);
    writer.join();
  }
  std::signal(SIGPIPE, before);
  EXPECT_EQ(failure_of([&] { read("/dev/full", {}); }), ErrorKind::Data);
}

// Keys, line ends and a CR are on every side of the boundary between two reads.
TEST_F(KeyFile, IsSplitCorrectlyWhereverAReadEnds) {
  constexpr std::size_t kBufferBytes = 256 * 1024;
  for (std::size_t before = kBufferBytes - 4; before <= kBufferBytes + 2; ++before) {
    const std::string first(before, 'x');
    EXPECT_EQ(keys_in(first + "\r\n\nb\r\n", kAllowCr), (Keys{first, "b"})) << before;
  }
}

TEST_F(KeyFile, CanBeStandardInput) {
  const FileDescriptor before(::dup(STDIN_FILENO));
  const FileDescriptor file(::open(file_with("a\nb\r\n").c_str(), O_RDONLY));
  ::dup2(file.get(), STDIN_FILENO);
  EXPECT_EQ(failure_of([] { read("-"); }), ErrorKind::Data);
  ::lseek(STDIN_FILENO, 0, SEEK_SET);
  EXPECT_THAT(read("-", kAllowCr), ElementsAre("a", "b"));
  ::dup2(before.get(), STDIN_FILENO);
}

TEST_F(KeyFile, IsReadWholeInAnyNumberOfThreads) {
  Keys expected;
  std::string text;
  for (int i = 0; i < 200'000; ++i) {
    expected.push_back("key " + std::to_string(i));
    text.append(expected.back()).append(i % 1000 == 0 ? "\n\n" : "\n");
  }
  std::sort(expected.begin(), expected.end());
  const std::string path = file_with(text);
  for (const unsigned threads : {1U, 2U, 5U}) {
    std::vector<Keys> keys(threads);
    const KeysRead read = read_keys_in_threads(path, {}, threads, [&](unsigned thread, auto some) {
      keys.at(thread).insert(keys.at(thread).end(), some.begin(), some.end());
    });
    Keys all;
    for (const Keys& some : keys) all.insert(all.end(), some.begin(), some.end());
    std::sort(all.begin(), all.end());
    EXPECT_EQ(read.count, expected.size());
    EXPECT_TRUE(all == expected) << threads;
  }
}

TEST_F(KeyFile, NamesTheFirstOfSeveralWrongLinesHoweverManyThreadsReadIt) {
  std::string text;
  for (int line = 1; line <= 500'000; ++line) text.append(line < 123'457 ? "ordinary key\n" : "with CR\r\n");
  const std::string path = file_with(text);
  for (const unsigned threads : {1U, 2U, 8U}) {
    EXPECT_THAT(
        message_of<ErrorKind::Data>([&] { read_keys_in_threads(path, {}, threads, [](auto, auto) {}); }),
        HasSubstr(": line 123457 ends in a CR"));
  }
}

TEST_F(KeyFile, PassesOnExceptionsOfAReceiverInAnyThread) {
  const std::string path = file_with(std::string(1'000'000, '\n') + "a\n");
  for (const unsigned threads : {1U, 2U, 8U}) {
    EXPECT_EQ(failure_of([&] {
                read_keys_in_threads(path, {}, threads,
                                     [](auto, auto) { throw Error(ErrorKind::Permission, "enough"); });
              }),
              ErrorKind::Permission);
  }
}

}  // namespace
}  // namespace keysieve::test
