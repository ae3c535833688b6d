#include "tools/loader/config/listen_address.hpp"

#include <gmock/gmock.h>

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "core/worker/base/error.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/loader/http/status_fixture.hpp"

namespace keysieve::test {
namespace {

using ::testing::HasSubstr;

TEST(ListenAddress, TakesAddressesWithPortAndAbsolutePaths) {
  for (const char* address :
       {"127.0.0.1:9427", "0.0.0.0:1", "[::1]:9427", "[::]:65535", "unix:/run/x.sock"}) {
    EXPECT_EQ(checked_listen_address(address), address);
  }
}

TEST(ListenAddress, SaysWhatIsAccepted) {
  for (const char* address :
       {"", "9427", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:http", "example.com:9427",
        "::1:9427", "[127.0.0.1]:9427", "unix:", "unix:x.sock", ":1"}) {
    EXPECT_THAT(message_of<ErrorKind::Usage>([&] { checked_listen_address(address); }), HasSubstr("\""))
        << address;
  }
  EXPECT_THAT(message_of<ErrorKind::Usage>([] { checked_listen_address("unix:/" + std::string(200, 'x')); }),
              HasSubstr("longer than a socket's path can be"));
}

class SocketPath : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return folder_ / "status.sock"; }
  [[nodiscard]] std::string address() const { return "unix:" + path(); }

  TemporaryDirectory folder_;
};

TEST_F(SocketPath, IsForItsGroupAndGoesWithTheListener) {
  {
    const ListeningSocket socket(address(), gid_t{4242});
    struct stat status {};
    ASSERT_EQ(::lstat(path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0660U);
    EXPECT_EQ(status.st_gid, 4242U);
    EXPECT_NO_THROW(HttpConnection{path()});
  }
  EXPECT_FALSE(std::filesystem::exists(path()));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(SocketPath, CannotBeGivenToAGroupThatTheLoaderIsNotIn) {
  if (!is_root()) GTEST_SKIP() << "needs root";
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::all);
  const std::string refusal =
      path() + ": cannot change its group (the loader's user must be a member): Operation not permitted";
  const auto listen = [&](gid_t group) { return ListeningSocket(address(), group), 0; };
  const auto is_refused = [&] {
    return message_of<ErrorKind::Permission>([&] { listen(4242); }) == refusal ? 0 : 1;
  };
  EXPECT_EQ(run_as(54'321, 54'322, is_refused), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  EXPECT_EQ(run_as(54'321, 54'322, [&] { return listen(54'322); }), 0);
}

TEST_F(SocketPath, ReplacesASocketThatWasLeftBehind) {
  {
    const FileDescriptor left(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un where{};
    where.sun_family = AF_UNIX;
    path().copy(where.sun_path, sizeof(where.sun_path) - 1);
    ASSERT_EQ(::bind(left.get(), reinterpret_cast<const sockaddr*>(&where), sizeof(where)), 0);
  }
  const ListeningSocket socket(address(), std::nullopt);
  EXPECT_NO_THROW(HttpConnection{path()});
}

TEST_F(SocketPath, IsNotTakenFromAnotherProcess) {
  const ListeningSocket first(address(), std::nullopt);
  EXPECT_EQ(message_of<ErrorKind::Locked>([&] { ListeningSocket(address(), std::nullopt); }),
            path() + ": another process answers there");
  EXPECT_NO_THROW(HttpConnection{path()});
}

TEST_F(SocketPath, NamesThePathThatCannotBe) {
  const std::string wrong = folder_ / "none/status.sock";
  EXPECT_EQ(message_of<ErrorKind::CannotCreate>([&] { ListeningSocket("unix:" + wrong, std::nullopt); }),
            wrong + ": No such file or directory");
}

TEST_F(SocketPath, DoesNotReplaceAFileOfAnotherKind) {
  std::filesystem::create_directory(path());
  std::filesystem::create_symlink("/nowhere", folder_ / "link");
  for (const char* name : {"file", "other.new"}) std::ofstream(folder_ / name) << "precious\n";
  const std::map<std::string, std::string> is_there_at{{"unix:" + path(), path()},
                                                       {"unix:" + folder_ / "link", folder_ / "link"},
                                                       {"unix:" + folder_ / "file", folder_ / "file"},
                                                       {"unix:" + folder_ / "other", folder_ / "other.new"}};
  for (const auto& one : is_there_at) {
    EXPECT_EQ(message_of<ErrorKind::CannotCreate>([&] { ListeningSocket(one.first, std::nullopt); }),
              one.second + ": exists and is not a socket");
  }
  EXPECT_TRUE(std::filesystem::is_directory(path()));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  for (const char* name : {"file", "other.new"}) {
    EXPECT_EQ(std::filesystem::file_size(folder_ / name), 9U) << name;
  }
}

TEST(ListeningPort, NamesAnAddressThatIsTaken) {
  const ListeningSocket any("127.0.0.1:0", std::nullopt);
  sockaddr_in bound{};
  socklen_t size = sizeof(bound);
  ASSERT_EQ(::getsockname(any.descriptor(), reinterpret_cast<sockaddr*>(&bound), &size), 0);
  const std::string address = "127.0.0.1:" + std::to_string(ntohs(bound.sin_port));
  EXPECT_EQ(message_of<ErrorKind::CannotCreate>([&] { ListeningSocket(address, std::nullopt); }),
            address + ": Address already in use");
}

}  // namespace
}  // namespace keysieve::test
