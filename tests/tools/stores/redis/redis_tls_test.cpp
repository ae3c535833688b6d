// TLS: real servers with certificates that openssl makes. Where hiredis has TLS, the suites that run over
// every store run over TLS too.

#include <filesystem>

#include "tests/support/canned_server.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/relay.hpp"
#include "tests/support/server_process.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/support/web_server.hpp"

namespace keysieve::test {
namespace {

#ifdef KEYSIEVE_REDIS_TLS

std::string path(const std::string& file) {
  return shared_certificates().path(file);
}
std::string showing(const std::string& url, const std::string& name, const std::string& key = "") {
  return with_parameter(
      url, "cert_file=" + path(name + ".crt") + "&key_file=" + path((key.empty() ? name : key) + ".key"));
}

// Does not wait for a failover.
std::unique_ptr<Store> open_at_once(const std::string& url) {
  return open_store(url, IfMissing::Create, Patience::None);
}
template <ErrorKind Kind>
std::string refusal(const std::string& url) {
  return message_of<Kind>([&] { open_at_once(url)->get("a"); });
}

// A Redis in one of its forms, all of whose masters have one certificate.
struct RedisForm {
  const char* name;
  std::string (*url)();
  std::vector<RedisServer*> (*masters)();

  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest calls it by this name
  friend void PrintTo(const RedisForm& form, std::ostream* out) { *out << form.name; }
};

const RedisForm kSingle{"single", [] { return shared_redis_over_tls().tcp_url(); },
                        [] { return std::vector{&shared_redis_over_tls()}; }};
const RedisForm kSentinel{"sentinel", [] { return shared_redis_sentinels_over_tls().url(); },
                          [] { return std::vector{&shared_redis_sentinels_over_tls().master()}; }};
const RedisForm kCluster{"cluster", [] { return shared_redis_cluster_over_tls().url(); },
                         [] {
                           std::vector<RedisServer*> nodes;
                           for (std::size_t i = 0; i < 2 * RedisCluster::kMasters; ++i)
                             nodes.push_back(&shared_redis_cluster_over_tls().node(i));
                           return nodes;
                         }};

class RedisCertificates : public ::testing::TestWithParam<RedisForm> {
 protected:
  ~RedisCertificates() override { show("server"); }

  static void show(const std::string& name, bool asks_clients = false) {
    for (const RedisServer* server : GetParam().masters()) server->show_certificate(name, asks_clients);
  }

  const std::string name_ = GetParam().url();
  const std::string url_ = patient(of_our_authority(name_));
};

INSTANTIATE_TEST_SUITE_P(Forms, RedisCertificates, ::testing::Values(kSingle, kSentinel, kCluster),
                         [](const auto& form) { return form.param.name; });

// What a server shows, what a client brings, and how that ends; nothing: well.
TEST_P(RedisCertificates, AreTakenAndShownByTheRightOnesAlone) {
  struct Case {
    const char* server;
    bool asks_clients;
    std::string url;
    std::optional<ErrorKind> refusal;
  };
  const std::vector<Case> cases{
      {"server", false, url_, {}},
      {"other", false, url_, ErrorKind::Unavailable},
      {"expired", false, url_, ErrorKind::Unavailable},
      {"server", false, patient(name_), ErrorKind::Unavailable},
      {"server", false, with_parameter(patient(name_), "ca_file=" + path("stranger.crt")),
       ErrorKind::Unavailable},
      {"server", true, showing(url_, "other"), {}},
      {"server", true, url_, ErrorKind::Login},
      {"server", true, showing(url_, "stranger"), ErrorKind::Login},
      {"server", true, showing(url_, "expired"), ErrorKind::Login}};
  for (const Case& one : cases) {
    show(one.server, one.asks_clients);
    std::optional<ErrorKind> refusal;
    try {
      const auto store = open_at_once(one.url);
      EXPECT_EQ(store->name(), name_);
      put(*store, "a", one.server);
      EXPECT_EQ(store->get("a"), one.server);
    } catch (const Error& error) {
      refusal = error.kind();
      EXPECT_THAT(error.what(), StartsWith(name_ + ": "));
    }
    EXPECT_EQ(refusal, one.refusal) << one.server << " by " << one.url;
  }
}

// Its connections end, and it shows an expired certificate from then on.
TEST_P(RedisCertificates, AreLookedAtByEveryConnection) {
  const auto store = open_at_once(url_);
  const auto watch = store->watch();
  put(*store, "a", "1");
  show("expired");
  EXPECT_EQ(store->get("a"), "1") << "the connection is as good as it was";
  for (const RedisServer* server : GetParam().masters())
    for (const char* type : {"normal", "pubsub"})
      server->command(std::string("CLIENT KILL TYPE ") + type + " SKIPME yes");
  EXPECT_EQ(failure_of([&] { store->get("a"); }), ErrorKind::Unavailable);
  EXPECT_EQ(failure_of([&] { watch->take(); }), ErrorKind::Unavailable);
  EXPECT_EQ(failure_of([&] { store->watch(); }), ErrorKind::Unavailable);
  show("server");
  EXPECT_EQ(store->get("a"), "1");
  EXPECT_NO_THROW(store->watch());
}

TEST(RedisSentinelCertificate, IsLookedAtAsThatOfTheMaster) {
  const RedisServer& master = shared_redis_sentinels_over_tls().master();
  const auto sentinel = start_sentinel(master, 1, with_tls());
  const std::string name = "rediss-sentinel://" + sentinel->address() + "/" + kMasterName;
  const std::string url = patient(of_our_authority(name));
  EXPECT_EQ(open_at_once(url)->get("a"), std::nullopt);
  sentinel->kill();
  const auto expired = start_sentinel(master, 1, with_tls("expired"));
  const std::string name_of_expired = "rediss-sentinel://" + expired->address() + "/" + kMasterName;
  EXPECT_NE(refusal<ErrorKind::Unavailable>(patient(of_our_authority(name_of_expired))), "");
}

// A cluster announces addresses unless it is told names.
TEST(RedisClusterCertificate, IsForTheNameThatANodeAnnounces) {
  std::vector<std::string> options = with_tls("name");
  options.insert(options.end(), {"--cluster-announce-hostname", "localhost"});
  RedisCluster cluster(options);
  const std::string url =
      patient(of_our_authority("rediss-cluster://localhost:" + std::to_string(cluster.node(0).port())));
  const std::vector<std::string> keys = numbered("key", 100);
  EXPECT_EQ(failure_of([&] { open_at_once(url)->get_many(keys); }), ErrorKind::Unavailable);
  for (std::size_t i = 0; i < 2 * RedisCluster::kMasters; ++i) {
    ASSERT_EQ(cluster.node(i).command("CONFIG SET cluster-preferred-endpoint-type hostname"), "+OK");
  }
  const auto store = open_at_once(url);
  store->put_many(records_of(keys, "x"));
  EXPECT_THAT(store->get_many(keys), Each(Optional(std::string("x"))));
}

class RedisTls : public ::testing::Test {
 protected:
  RedisTls() { server_.command("FLUSHALL"); }

  // The server by that name, or what is at another port.
  [[nodiscard]] std::string url_of(const std::string& host, int port = 0) const {
    return "rediss://" + host + ":" + std::to_string(port == 0 ? server_.port() : port);
  }

  RedisServer& server_ = shared_redis_over_tls();
  const std::string url_ = of_our_authority(patient(server_.tcp_url()));
};

TEST_F(RedisTls, KnowsTheServerByNameAndByAddress) {
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    put(*open_store(patient(of_our_authority(url_of(host)))), host, "1");
    EXPECT_EQ(server_.command("STRLEN " + host), ":1");
  }
  server_.show_certificate("name");
  EXPECT_EQ(open_store(patient(of_our_authority(url_of("localhost"))))->get("localhost"), "1");
  EXPECT_NE(refusal<ErrorKind::Unavailable>(url_), "");
  server_.show_certificate("other");
  EXPECT_NE(refusal<ErrorKind::Unavailable>(patient(of_our_authority(url_of("localhost")))), "");
  server_.show_certificate("server");
}

// It is replaced while keysieved runs, which opens its store again for each look.
TEST_F(RedisTls, ReadsItsOwnCertificateWheneverItIsOpened) {
  const TemporaryDirectory own;
  const StoreOpener open = opener_of(url_ + "&cert_file=" + own / "own.crt" + "&key_file=" + own / "own.key");
  const auto get_as = [&](const std::string& name) {
    for (const std::string suffix : {".crt", ".key"}) {
      std::filesystem::copy_file(path(name + suffix), own / ("own" + suffix),
                                 std::filesystem::copy_options::overwrite_existing);
    }
    open(IfMissing::Create, Patience::None)->get("a");
  };
  server_.show_certificate("server", /*asks_clients=*/true);
  get_as("other");
  EXPECT_EQ(failure_of([&] { get_as("expired"); }), ErrorKind::Login);
  get_as("other");
  server_.show_certificate("server");
}

// A server for several names chooses its certificate by it; RFC 6066 wants no address there.
TEST_F(RedisTls, TellsTheServerWhichNameItIsAskedBy) {
  const CannedServer for_name("localhost", "");
  const int port = std::stoi(for_name.address().substr(for_name.address().find(':') + 1));
  EXPECT_NE(refusal<ErrorKind::Unavailable>(patient(url_of("localhost", port))), "");
  EXPECT_THAT(for_name.last_request(), HasSubstr("localhost"));
  const CannedServer for_address("\x16", "");
  EXPECT_NE(refusal<ErrorKind::Unavailable>(patient("rediss://" + for_address.address())), "");
  EXPECT_THAT(for_address.last_request(), Not(HasSubstr("127.0.0.1")));
}

TEST_F(RedisTls, KeepsItsConnection) {
  const RedisServer server(with_tls());
  const auto store = open_store(patient(of_our_authority(server.tcp_url())));
  put(*store, "a", "0");
  const std::uint64_t before = info_of(server, "stats", "total_connections_received:");
  for (int i = 0; i < 10; ++i) put(*store, "a", std::to_string(i));
  EXPECT_EQ(info_of(server, "stats", "total_connections_received:"), before + 1) << "by this question";
}

TEST_F(RedisTls, SpeaksTheVersionBeforeToo) {
  std::vector<std::string> options = with_tls();
  options.insert(options.end(), {"--tls-protocols", "TLSv1.2"});
  const RedisServer server(options);
  const std::string url = patient(of_our_authority(server.tcp_url()));
  const auto store = open_store(url);
  put(*store, "a", std::string(kMaxValueBytes, 'x'));
  EXPECT_THAT(store->get("a"), Optional(SizeIs(kMaxValueBytes)));
  server.show_certificate("server", /*asks_clients=*/true);
  EXPECT_EQ(open_at_once(showing(url, "other"))->get("b"), std::nullopt);
  EXPECT_NE(refusal<ErrorKind::Login>(showing(url, "expired")), "");
  EXPECT_NE(refusal<ErrorKind::Unavailable>(url), "")
      << "its alert does not say that a certificate is missing";
}

// Redis waits for the rest of what looks like a command; other servers answer at once.
TEST_F(RedisTls, IsNeverReplacedByPlainText) {
  const RedisServer server;
  EXPECT_NE(refusal<ErrorKind::Unavailable>("rediss://" + server.address() + "?timeout=100ms"), "");
  const CannedServer talkative("\x16", "-ERR unknown command\r\n");
  EXPECT_NE(refusal<ErrorKind::Unavailable>(patient("rediss://" + talkative.address())), "");
  EXPECT_NE(refusal<ErrorKind::Unavailable>(patient("redis://" + server_.address())), "")
      << "nor the other way";
}

TEST_F(RedisTls, IsNotWaitedForLongerThanTheTimeout) {
  for (const auto how : {RelayCut::How::Stall, RelayCut::How::Drip}) {
    for (const std::uint64_t bytes : {1U, 600U, 1'200U}) {
      const int port = free_port();
      const Relay relay(std::to_string(port), std::to_string(server_.port()), RelayCut{bytes, how});
      EXPECT_NE(
          refusal<ErrorKind::Unavailable>(of_our_authority(url_of("127.0.0.1", port) + "?timeout=100ms")), "")
          << bytes;
    }
  }
}

// The socket is readable when half of a record has come, and the other half may be late.
TEST_F(RedisTls, KeepsNoWatchWaiting) {
  const int port = free_port();
  const Relay relay(std::to_string(port), std::to_string(server_.port()),
                    RelayCut{std::uint64_t{16} * 1024, RelayCut::How::Stall});
  const auto watch = open_store(patient(of_our_authority(url_of("127.0.0.1", port))))->watch();
  const auto store = open_store(url_);
  ASSERT_TRUE(eventually([&] {
    append(*store, {"a"});
    return relay.was_cut();
  }));
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_THAT(watch->take(), ElementsAre(kLog));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::minutes(1));
}

// OpenSSL keeps the errors of a thread until they are taken; libcurl takes one.
TEST_F(RedisTls, IsNotBlamedForTheErrorsOfAnotherStore) {
  WebServer web({"ssl", "ssl_certificate " + path("server.crt") + ";\nssl_certificate_key " +
                            path("server.key") + ";\n"});
  const auto store = open_store(url_);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NE(refusal<ErrorKind::Unavailable>(web.url("", "https") + "?ca_file=" + path("stranger.crt")), "");
    put(*store, "a", std::string(kMaxValueBytes, 'x'));
    EXPECT_THAT(store->get("a"), Optional(SizeIs(kMaxValueBytes)));
  }
}

TEST_F(RedisTls, RefusesAnUnusableFile) {
  const std::string certificate = "?cert_file=" + path("server.crt");
  for (const std::string& query :
       {std::string("?ca_file=/nowhere"), "?ca_file=" + path("server.key"),
        std::string("?cert_file=/nowhere&key_file=/nowhere"), certificate + "&key_file=/nowhere",
        certificate + "&key_file=" + path("other.key"), certificate + "&key_file=" + path("locked.key"),
        certificate}) {
    EXPECT_NE(refusal_to_open<ErrorKind::Usage>("rediss://127.0.0.1:1" + query), "") << query;
  }
}

#else

TEST(RedisTls, IsRefusedByABuildWithoutIt) {
  for (const std::string url :
       {"rediss://127.0.0.1:1", "rediss-cluster://127.0.0.1:1", "rediss-sentinel://127.0.0.1:1/mymaster"}) {
    EXPECT_THAT(
        refusal_to_open<ErrorKind::Usage>(url + "?ca_file=/ca.crt"),
        AllOf(StartsWith(url + ": this build has no TLS, since hiredis "), HasSubstr("redis+unix://")));
  }
}

#endif

}  // namespace
}  // namespace keysieve::test
