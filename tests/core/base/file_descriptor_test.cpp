#include "core/worker/base/file_descriptor.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "core/builder/base/file_io.hpp"
#include "core/worker/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;

bool is_open_in_process(int fd) {
  return ::fcntl(fd, F_GETFD) != -1;
}

FileDescriptor open_null() {
  return FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

// As in a program that was started without a standard input.
TEST(FileDescriptor, ClosesNumber0Too) {
  const auto closes_it = [] {
    ::close(0);
    {
      const FileDescriptor file = open_null();
      if (file.get() != 0 || !file.is_open()) ::_exit(1);
    }
    ::_exit(is_open_in_process(0) ? 2 : 0);
  };
  EXPECT_EXIT(closes_it(), ::testing::ExitedWithCode(0), "");
}

TEST(FileDescriptor, ClosesItsOldFileWhenAnotherIsMovedIn) {
  FileDescriptor file = open_null();
  const int first = file.get();
  file = open_null();
  EXPECT_FALSE(is_open_in_process(first));
  EXPECT_TRUE(file.is_open());
}

TEST(FileDescriptor, StaysOpenWhenItIsMovedIntoItself) {
  FileDescriptor file = open_null();
  FileDescriptor& same = file;
  file = std::move(same);
  EXPECT_TRUE(file.is_open());
  EXPECT_TRUE(is_open_in_process(file.get()));
}

TEST(FileDescriptor, ReadsFromAnOffsetAndNoMoreThanThereIs) {
  const test::TemporaryDirectory directory;
  const FileDescriptor file(::open((directory / "file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  write_all(file, as_bytes("the bytes"), "the-file");
  std::array<std::byte, 5> bytes{};
  read_all_at(file, 4, bytes, "the-file");
  EXPECT_EQ(as_text(bytes), "bytes");
  EXPECT_THAT(test::message_of<ErrorKind::Data>([&] { read_all_at(file, 5, bytes, "the-file"); }),
              AllOf(HasSubstr("the-file"), HasSubstr("shorter")));
}

TEST(FileDescriptor, ReportsAFullDevice) {
  const FileDescriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(full.is_open());
  const auto names_the_reason = AllOf(HasSubstr("the-file"), HasSubstr("No space left"));
  EXPECT_THAT(test::message_of<ErrorKind::CannotCreate>([&] { write_all(full, as_bytes("x"), "the-file"); }),
              names_the_reason);
  EXPECT_THAT(
      test::message_of<ErrorKind::CannotCreate>([&] { write_all_at(full, 1, as_bytes("x"), "the-file"); }),
      names_the_reason);
}

TEST(FileDescriptor, ReportsWhatCannotBeRead) {
  const test::TemporaryDirectory directory;
  const FileDescriptor folder(::open(directory.path().c_str(), O_RDONLY | O_CLOEXEC));
  std::array<std::byte, 5> bytes{};
  EXPECT_EQ(read_up_to(folder, 0, bytes), std::nullopt);
  EXPECT_THAT(test::message_of<ErrorKind::MissingInput>([&] { read_all_at(folder, 0, bytes, "the-folder"); }),
              AllOf(HasSubstr("the-folder"), HasSubstr("directory")));
}

}  // namespace
}  // namespace keysieve
