// keysieved at a Redis with TLS, while certificates are replaced. Built where hiredis has TLS.
#include <filesystem>

#include "tests/support/certificates.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"

namespace keysieve::test {
namespace {

namespace fs = std::filesystem;

class KeysievedOverTls : public Keysieved {
 protected:
  KeysievedOverTls() { push(kKeys); }

  // Without TLS, whatever the server shows to others.
  void push(KeyRange keys) { site_.push("tags", keys, server_.unix_url()); }
  void follow(const std::string& query = "", const std::string& poll_interval = "20ms") {
    site_.configure(tags_set, url_ + query, poll_interval);
    start();
    ASSERT_TRUE(follows("tags", 1)) << log();
  }
  // Ends its connections as well.
  void show(const std::string& certificate, bool asks_clients = false) const {
    server_.show_certificate(certificate, asks_clients);
    server_.command("CLIENT KILL TYPE normal SKIPME yes");
  }
  // Generation 1 is live, for that reason, although generation 2 was pushed.
  void expect_stays_live(const std::string& reason) const {
    EXPECT_TRUE(says(reason)) << log();
    EXPECT_TRUE(looks_again(3)) << log();
    EXPECT_EQ(site_.live_generation("tags"), 1U);
    EXPECT_TRUE(site_.knows("tags", kKeys));
    EXPECT_FALSE(site_.knows("tags", kMoreKeys));
  }
  void expect_it_follows_again() const {
    keysieved_->send(SIGUSR1);
    EXPECT_TRUE(follows("tags", 2)) << log();
  }

  RedisServer server_{with_tls()};
  const std::string name_ = server_.tcp_url();
  const std::string url_ = name_ + "?timeout=2m&ca_file=" + shared_certificates().path("ca.crt");
};

TEST_F(KeysievedOverTls, KeepsWhatIsLiveWhileTheServersCertificateHasExpired) {
  follow();
  show("expired");
  push(kMoreKeys);
  expect_stays_live("warning: tags: the store is unreachable: " + name_ +
                    ": no TLS: the certificate of 127.0.0.1 is refused: certificate has expired");
  show("server");
  expect_it_follows_again();
}

TEST_F(KeysievedOverTls, KeepsWhatIsLiveWhileItsOwnCertificateHasExpired) {
  const auto put_own = [this](const std::string& name) {
    for (const std::string suffix : {".crt", ".key"}) {
      fs::copy_file(shared_certificates().path(name + suffix), site_.root() / ("own" + suffix),
                    fs::copy_options::overwrite_existing);
    }
  };
  show("server", /*asks_clients=*/true);
  put_own("other");
  follow("&cert_file=" + site_.root() / "own.crt" + "&key_file=" + site_.root() / "own.key");
  put_own("expired");
  push(kMoreKeys);
  show("server", /*asks_clients=*/true);
  expect_stays_live("warning: tags: cannot log in to " + name_ + ": ");
  EXPECT_TRUE(says("the server refuses the certificate of cert_file: ")) << log();
  put_own("other");
  expect_it_follows_again();
}

// It looks by itself once an hour: what it sees before, the server has told.
TEST_F(KeysievedOverTls, IsToldAgainAfterTheServerHasRestarted) {
  follow("", "1h");
  server_.command("SAVE");
  server_.kill();
  ASSERT_TRUE(says("tags: the store is unreachable: ")) << log();
  server_.start();
  keysieved_->send(SIGUSR1);
  ASSERT_TRUE(says("tags: all is well again")) << log();
  push(kMoreKeys);
  ASSERT_TRUE(follows("tags", 2)) << log();
  site_.add("tags", kAdded, url_);
  EXPECT_TRUE(eventually([&] { return site_.knows("tags", kAdded); })) << log();
}

}  // namespace
}  // namespace keysieve::test
