#include "tools/loader/http/http_server.hpp"

#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <list>
#include <optional>
#include <stdexcept>

#include "core/worker/base/error.hpp"
#include "tests/support/forked.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/loader/http/status_fixture.hpp"
#include "tools/loader/config/listening_socket.hpp"

namespace keysieve::test {
namespace {

using ::testing::HasSubstr;

class Server : public ::testing::Test {
 protected:
  static HttpAnswer answer(std::string_view path) {
    if (path == "/wrong") throw std::runtime_error("it went wrong");
    if (path == "/large") return {.body = std::string(1'000'000, 'x')};
    return {.body = fmt::format("asked for {}", path), .headers = {{"X-Test", "yes"}}};
  }
  [[nodiscard]] HttpReply get(const std::string& path) const { return ask(path_, path); }

  TemporaryDirectory folder_;
  std::string path_ = folder_ / "server.sock";
  std::optional<HttpServer> server_{std::in_place, "unix:" + path_, std::nullopt, answer};
};

TEST_F(Server, PassesThePathOnWithoutTheQuery) {
  EXPECT_EQ(get("/status.json?some=1&other=2").body, "asked for /status.json");
  EXPECT_EQ(get("/status.json%3Fsome=1").body, "asked for /status.json?some=1");
}

TEST_F(Server, AnswersGetAndHeadAlone) {
  const HttpReply got = get("/some?query=1");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "asked for /some");
  EXPECT_THAT(got.head, HasSubstr("X-Test: yes\r\n"));
  EXPECT_THAT(got.head, HasSubstr("Cache-Control: no-store\r\n"));
  EXPECT_THAT(got.head, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
  const HttpReply head = ask(path_, "/some", "HEAD");
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.body, "");
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "BREW"}) {
    const HttpReply refused = ask(path_, "/some", method);
    EXPECT_EQ(refused.status, 405) << method;
    EXPECT_THAT(refused.head, HasSubstr("Allow: GET, HEAD\r\n")) << method;
  }
}

TEST_F(Server, SaysWhatWentWrong) {
  const HttpReply reply = get("/wrong");
  EXPECT_EQ(reply.status, 500);
  EXPECT_EQ(reply.body, "it went wrong\n");
}

TEST_F(Server, TakesNoHeadersWithoutEnd) {
  const HttpConnection connection(path_);
  connection.send("GET / HTTP/1.1\r\n");
  std::size_t sent = 0;
  while (connection.send("X-Long: " + std::string(1000, 'x') + "\r\n")) {
    sent += 1000;
    ASSERT_LT(sent, 100 * HttpServer::kMostBytesPerConnection);
  }
  EXPECT_EQ(get("/").status, 200);
}

TEST_F(Server, AnswersThoughSlowClientsHoldAllConnections) {
  for (const char* request : {"GET / HT", "GET /large HTTP/1.1\r\nHost: x\r\n\r\n"}) {
    std::list<HttpConnection> slow;
    for (unsigned i = 0; i < 2 * HttpServer::kMostConnections; ++i) slow.emplace_back(path_).send(request);
    static_cast<void>(slow.front().read_all());
    EXPECT_EQ(get("/").status, 200) << request;
  }
}

TEST_F(Server, EndsAtOnceWhateverItsClientsDo) {
  const HttpConnection silent(path_);
  const HttpConnection slow(path_);
  slow.send("GET / HT");
  const HttpConnection unread(path_);
  unread.send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  const auto begin = std::chrono::steady_clock::now();
  server_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kDeadline);
  EXPECT_EQ(slow.read_all(), "");
  EXPECT_THROW(HttpConnection{path_}, std::runtime_error);
}

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
  const gid_t group = is_root() ? 4242 : ::getegid();
  {
    const ListeningSocket socket(address(), group);
    struct stat status {};
    ASSERT_EQ(::lstat(path().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0660U);
    EXPECT_EQ(status.st_gid, group);
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

TEST_F(SocketPath, IsNotMadeInPlaceOfAFileOfAnotherKindOrInNoFolder) {
  std::filesystem::create_directory(path());
  std::filesystem::create_symlink("/nowhere", folder_ / "link");
  std::ofstream(folder_ / "file") << "precious\n";
  for (const std::string& taken :
       {path(), folder_ / "link", folder_ / "file", folder_ / "none/status.sock"}) {
    EXPECT_EQ(failure_of([&] { ListeningSocket("unix:" + taken, std::nullopt); }), ErrorKind::CannotCreate)
        << taken;
  }
  EXPECT_TRUE(std::filesystem::is_directory(path()));
  EXPECT_TRUE(std::filesystem::is_symlink(folder_ / "link"));
  EXPECT_EQ(std::filesystem::file_size(folder_ / "file"), 9U);
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
