#include "core/worker/base/mapped_region.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>

#include <fstream>
#include <string>

#include "core/builder/base/file_io.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/file_descriptor.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;

// mincore(2) fails for a page that is not mapped.
bool is_mapped_in_process(std::byte* address) {
  unsigned char is_resident = 0;
  return ::mincore(address, 1, &is_resident) == 0;
}

class MappedRegionTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path_of(const std::string& name) const { return directory_ / name; }

  [[nodiscard]] MappedRegion map_text(const std::string& text) const {
    std::ofstream(path_of("file")) << text;
    return map_file(path_of("file"));
  }

 private:
  test::TemporaryDirectory directory_;
};

TEST_F(MappedRegionTest, MapsAnEmptyFileAsNoBytes) {
  EXPECT_TRUE(bytes_of(map_text("")).empty());
}

TEST_F(MappedRegionTest, UnmapsItsOldFileWhenAnotherIsMovedIn) {
  MappedRegion region = map_text("the bytes");
  std::byte* address = region.address();
  region = MappedRegion();
  EXPECT_TRUE(region.flush()) << "there is nothing to write";
  EXPECT_FALSE(is_mapped_in_process(address));
  EXPECT_TRUE(bytes_of(region).empty());
}

TEST_F(MappedRegionTest, WritesThroughToTheFile) {
  std::ofstream(path_of("file")) << "the bytes";
  const FileDescriptor file(::open(path_of("file").c_str(), O_RDWR | O_CLOEXEC));
  MappedRegion region = map_region(file, MapAccess::ReadWrite, "the-file");
  region.address()[0] = std::byte{'T'};
  EXPECT_TRUE(region.flush());
  EXPECT_EQ(as_text(bytes_of(map_file(path_of("file")))), "The bytes");
}

TEST_F(MappedRegionTest, NamesTheFileThatCannotBeRead) {
  EXPECT_THAT(test::message_of<ErrorKind::MissingInput>([&] { map_file(path_of("gone")); }),
              AllOf(HasSubstr("gone"), HasSubstr("No such file")));
  EXPECT_THAT(test::message_of<ErrorKind::MissingInput>([&] { map_file(path_of("")); }),
              AllOf(HasSubstr(path_of("")), HasSubstr("directory")));
}

TEST_F(MappedRegionTest, NamesTheFileThatCannotBeMapped) {
  std::ofstream(path_of("file")) << "the bytes";
  const FileDescriptor file(::open(path_of("file").c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_THAT(
      test::message_of<ErrorKind::Permission>([&] { map_region(file, MapAccess::ReadWrite, "the-file"); }),
      AllOf(HasSubstr("the-file"), HasSubstr("Permission denied")));
}

}  // namespace
}  // namespace keysieve
