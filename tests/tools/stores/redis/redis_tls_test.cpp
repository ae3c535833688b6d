// TLS: real servers with certificates that openssl makes. Built where hiredis has TLS.
#include "tests/support/certificates.hpp"
#include "tests/support/free_port.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/store_calls.hpp"

namespace keysieve::test {
namespace {

class RedisTls : public ::testing::Test {
 protected:
  [[nodiscard]] RedisServer server_with(const std::string& name, const std::string& asks_clients) const {
    return RedisServer({"--tls-port", std::to_string(tls_port_), "--tls-cert-file",
                        certificates_.path(name + ".crt"), "--tls-key-file",
                        certificates_.path(name + ".key"), "--tls-ca-cert-file", certificates_.path("ca.crt"),
                        "--tls-auth-clients", asks_clients});
  }
  [[nodiscard]] std::string name_of(const std::string& host) const {
    return "rediss://" + host + ":" + std::to_string(tls_port_);
  }
  [[nodiscard]] std::string url_of(const std::string& host) const {
    return name_of(host) + "?ca_file=" + certificates_.path("ca.crt");
  }

  Certificates certificates_;
  const int tls_port_ = free_port();
};

TEST_F(RedisTls, CarriesRecordsLogsAndWatches) {
  const RedisServer server = server_with("server", "no");
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    const auto store = open_store(url_of(host));
    const std::string large(kMaxValueBytes, 'x');
    put(*store, host, large);
    EXPECT_EQ(store->get(host), large);
  }
  EXPECT_EQ(server.command("STRLEN localhost"), ":" + std::to_string(kMaxValueBytes));
  const auto store = open_store(url_of("127.0.0.1"));
  const auto watch = store->watch();
  arm(*watch, {{"log", {}}});
  EXPECT_THAT(watch->take(), IsEmpty());
  append(*store, {std::string(kMaxLoggedKeyBytes, 'x')}, "log");
  EXPECT_THAT(wait(*watch), ElementsAre("log"));
}

TEST_F(RedisTls, KeepsItsConnection) {
  const RedisServer server = server_with("server", "no");
  const auto store = open_store(url_of("127.0.0.1"));
  for (int i = 0; i < 10; ++i) put(*store, "a", std::to_string(i));
  const std::string stats = server.text("INFO stats");
  // The first is the check that the server has started, the last is this question.
  EXPECT_THAT(stats, HasSubstr("total_connections_received:3")) << stats;
}

TEST_F(RedisTls, SignsIn) {
  const RedisServer server = server_with("server", "no");
  EXPECT_EQ(server.command("CONFIG SET requirepass s3cret"), "+OK");
  const std::string signed_in = "rediss://:s3cret@127.0.0.1:" + std::to_string(tls_port_);
  put(*open_store(signed_in + "?ca_file=" + certificates_.path("ca.crt")), "a", "1");
  EXPECT_THAT(message_of<ErrorKind::Login>([&] { open_store(url_of("127.0.0.1"))->get("a"); }),
              HasSubstr("NOAUTH"));
}

TEST_F(RedisTls, RefusesACertificateOfAnotherHost) {
  const RedisServer server = server_with("other", "no");
  EXPECT_EQ(refusal_to_open<ErrorKind::Unavailable>(url_of("127.0.0.1")),
            name_of("127.0.0.1") + ": no TLS: the certificate of 127.0.0.1 is refused: IP address mismatch");
  EXPECT_EQ(refusal_to_open<ErrorKind::Unavailable>(url_of("localhost")),
            name_of("localhost") + ": no TLS: the certificate of localhost is refused: hostname mismatch");
}

TEST_F(RedisTls, RefusesACertificateOfAnUnknownAuthority) {
  const RedisServer server = server_with("server", "no");
  EXPECT_THAT(refusal_to_open<ErrorKind::Unavailable>(name_of("127.0.0.1")),
              HasSubstr("the certificate of 127.0.0.1 is refused: "));
}

TEST_F(RedisTls, ShowsACertificateWhenTheServerAsksForOne) {
  const RedisServer server = server_with("server", "yes");
  put(*open_store(url_of("127.0.0.1") + "&cert_file=" + certificates_.path("other.crt") +
                  "&key_file=" + certificates_.path("other.key")),
      "a", "1");
  EXPECT_THAT(refusal_to_open<ErrorKind::Unavailable>(url_of("127.0.0.1")),
              HasSubstr(name_of("127.0.0.1") + ": "));
}

TEST_F(RedisTls, IsNeverReplacedByPlainText) {
  const RedisServer server;
  EXPECT_THAT(refusal_to_open<ErrorKind::Unavailable>("rediss://" + server.address() + "?timeout=2m"),
              HasSubstr(": no TLS: "));
}

TEST_F(RedisTls, NamesAnUnusableFile) {
  const std::string url = "rediss://127.0.0.1:1";
  const std::string certificate = certificates_.path("server.crt");
  const std::vector<std::pair<std::string, std::string>> refusals{
      {"?ca_file=/nowhere", "ca_file /nowhere: "},
      {"?cert_file=/nowhere&key_file=/nowhere", "cert_file /nowhere: "},
      {"?cert_file=" + certificate + "&key_file=/nowhere", "key_file /nowhere: "},
      {"?cert_file=" + certificate + "&key_file=" + certificates_.path("other.key"), "key_file "},
      {"?cert_file=" + certificate, "cert_file and key_file must be given together"}};
  for (const auto& [query, reason] : refusals) {
    EXPECT_THAT(refusal_to_open<ErrorKind::Usage>(url + query), HasSubstr(url + ": " + reason));
  }
}

}  // namespace
}  // namespace keysieve::test
