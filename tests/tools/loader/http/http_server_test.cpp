#include "tools/loader/http/http_server.hpp"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <optional>
#include <stdexcept>

#include "tests/support/forked.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/loader/http/status_fixture.hpp"

namespace keysieve::test {
namespace {

using ::testing::HasSubstr;

class Server : public ::testing::Test {
 protected:
  Server() { start(); }

  static HttpAnswer answer(std::string_view path) {
    if (path == "/wrong") throw std::runtime_error("it went wrong");
    if (path == "/large") return {.body = std::string(10'000'000, 'x')};
    return {.body = fmt::format("asked for {}", path), .headers = {{"X-Test", "yes"}}};
  }
  [[nodiscard]] HttpReply get(const std::string& path) const { return ask(path_, path); }

  TemporaryDirectory folder_;
  std::string path_ = folder_ / "server.sock";
  // As long as the slowest machine needs for an answer, where a case is not about it.
  void start(std::chrono::milliseconds longest_connection = std::chrono::hours(1)) {
    server_.reset();
    server_.emplace("unix:" + path_, std::nullopt, answer, longest_connection);
  }

  std::optional<HttpServer> server_;
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

// They send a byte now and then, so that no idle time ends them.
TEST_F(Server, EndsSlowClientsThatHoldAllConnections) {
  start(std::chrono::milliseconds(500));
  std::list<HttpConnection> slow;
  for (unsigned i = 0; i < HttpServer::kMostConnections; ++i) slow.emplace_back(path_).send("GET / HT");
  EXPECT_TRUE(eventually([&] {
    for (const HttpConnection& connection : slow) static_cast<void>(connection.send("x"));
    return std::all_of(slow.begin(), slow.end(),
                       [](const HttpConnection& connection) { return connection.is_closed(); });
  }));
  EXPECT_TRUE(eventually([&] { return get("/").status == 200; }));
}

TEST_F(Server, EndsClientsThatDoNotReadTheirAnswers) {
  start(std::chrono::milliseconds(500));
  std::list<HttpConnection> unread;
  for (unsigned i = 0; i < HttpServer::kMostConnections; ++i)
    unread.emplace_back(path_).send("GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(eventually([&] { return get("/").status == 200; }));
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

}  // namespace
}  // namespace keysieve::test
