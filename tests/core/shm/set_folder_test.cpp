#include "core/publisher/shm/publisher_folder.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "core/worker/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_directory.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

TEST(PublicationFile, IsNotRecognisedInOtherNames) {
  for (const std::string name : {"", "lock", "control", "control.tmp", "0000000000000001",
                                 "000000000000001.ks", "00000000000000001.ks", "000000000000000g.ks",
                                 "-000000000000001.ks", "0x00000000000001.ks", " 000000000000001.ks"}) {
    EXPECT_EQ(publication_of_file(name), std::nullopt) << name;
  }
}

class SetFolderTest : public ::testing::Test {
 protected:
  [[nodiscard]] SetFolder created() const {
    return open_or_create_folder(directory_.path(), "tags", std::nullopt);
  }

  test::TemporaryDirectory directory_;
};

TEST_F(SetFolderTest, IsOpenedOnlyIfItExists) {
  EXPECT_THAT(test::message_of<ErrorKind::MissingInput>(
                  [&] { SetFolder::open(directory_.path(), "tags", std::nullopt); }),
              HasSubstr(directory_ / "tags"));
  const SetFolder folder = created();
  EXPECT_EQ(folder.path(), directory_ / "tags");
  EXPECT_NO_THROW(SetFolder::open(directory_.path(), "tags", std::nullopt));
}

TEST_F(SetFolderTest, RefusesNamesThatAreNoSetNames) {
  for (const std::string name : {"", ".", "..", "-x", "A", "a/b", "../tags"}) {
    EXPECT_EQ(test::failure_of([&] { SetFolder::open(directory_.path(), name, std::nullopt); }),
              ErrorKind::Usage)
        << name;
    EXPECT_EQ(test::failure_of([&] { open_or_create_folder(directory_.path(), name, std::nullopt); }),
              ErrorKind::Usage)
        << name;
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_.path()));
}

TEST_F(SetFolderTest, CreatesAFileOnlyOnce) {
  const SetFolder folder = created();
  const auto create = [&] { return create_file(folder, "new", 0640); };
  EXPECT_TRUE(create().is_open());
  EXPECT_THAT(test::message_of<ErrorKind::CannotCreate>(create),
              AllOf(HasSubstr(folder.path_of("new")), HasSubstr("File exists")));
}

TEST_F(SetFolderTest, NeverRenamesOverAnotherFile) {
  const SetFolder folder = created();
  std::ofstream(folder.path_of("a")) << "a";
  std::ofstream(folder.path_of("b")) << "b";
  EXPECT_EQ(test::failure_of([&] { rename_file(folder, "a", "b"); }), ErrorKind::CannotCreate);
  rename_file(folder, "a", "c");
  EXPECT_THAT(file_names(folder), UnorderedElementsAre("b", "c"));
}

TEST_F(SetFolderTest, RemovesAFileAndIgnoresAMissingOne) {
  const SetFolder folder = created();
  std::ofstream(folder.path_of("a")) << "a";
  remove_file(folder, "a");
  EXPECT_NO_THROW(remove_file(folder, "a"));
  EXPECT_TRUE(file_names(folder).empty());
}

TEST_F(SetFolderTest, KeepsUsingTheFolderItOpened) {
  const SetFolder folder = created();
  std::filesystem::rename(directory_ / "tags", directory_ / "moved");
  std::filesystem::create_directory(directory_ / "tags");
  const FileDescriptor file = create_file(folder, "new", 0640);
  EXPECT_TRUE(std::filesystem::exists(directory_ / "moved/new"));
  EXPECT_TRUE(std::filesystem::is_empty(directory_ / "tags"));
}

TEST_F(SetFolderTest, ClosesItsFilesOnExec) {
  const SetFolder folder = created();
  const FileDescriptor file = create_file(folder, "new", 0640);
  EXPECT_NE(::fcntl(folder.descriptor().get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_NE(::fcntl(file.get(), F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_NE(::fcntl(folder.open_file("new", O_RDONLY).get(), F_GETFD) & FD_CLOEXEC, 0);
}

}  // namespace
}  // namespace keysieve
