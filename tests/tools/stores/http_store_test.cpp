// What is particular to a store behind a web server: what a poll costs, and faults of servers and networks.
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/canned_server.hpp"
#include "tests/support/certificates.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/support/web_server.hpp"

namespace keysieve::test {
namespace {

// A dir: store behind a web server of the case's own: a folder "tags" with a record.
class HttpStore : public ::testing::Test {
 protected:
  void serve(WebServerSettings settings = {}) {
    server_.emplace(std::move(settings));
    folder_ = server_->make_folder("tags");
    put(*open_store("dir:" + folder_), "keysieve:seed", "x");
  }
  [[nodiscard]] std::string url(const std::string& query = "?timeout=2m",
                                const std::string& scheme = "http") const {
    return server_->url("tags", scheme) + query;
  }
  static std::optional<std::string> seed(const std::string& url) {
    return open_store(url)->get("keysieve:seed");
  }
  template <ErrorKind Kind>
  static std::string refusal(const std::string& url) {
    return message_of<Kind>([&] { seed(url); });
  }
  // The answers since the last call.
  std::vector<std::string> new_answers(std::size_t count) {
    EXPECT_TRUE(eventually([&] { return server_->answers().size() >= seen_ + count; }));
    std::vector<std::string> all = server_->answers();
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(seen_));
    seen_ += all.size();
    return all;
  }

  std::optional<WebServer> server_;
  std::string folder_;
  std::size_t seen_ = 0;
};

namespace fs = std::filesystem;

constexpr std::string_view kShortTimeout = "?timeout=300ms";

TEST_F(HttpStore, IsReadOnly) {
  serve();
  const auto store = open_store(url());
  EXPECT_EQ(store->abilities(), (StoreAbilities{.log = true, .durable = true}));
  EXPECT_EQ(failure_of([&] { put(*store, "a", "b"); }), ErrorKind::Usage);
  EXPECT_EQ(failure_of([&] { store->put_if_absent({"a", "b"}); }), ErrorKind::Usage);
  EXPECT_EQ(failure_of([&] { remove_record(*store, "a"); }), ErrorKind::Usage);
  EXPECT_EQ(failure_of([&] { append(*store, {"a"}); }), ErrorKind::Usage);
  EXPECT_EQ(failure_of([&] { store->keys_with_prefix(""); }), ErrorKind::Usage);
}

TEST_F(HttpStore, ReadsAFolderWhateverItsNameAndWithOrWithoutASlash) {
  serve();
  const std::string name = "a b%c?d#e+猫";
  put(*open_store("dir:" + server_->make_folder("odd")), "keysieve:seed", "y");
  fs::rename(server_->folder("odd"), server_->folder(name));
  for (const std::string end : {"", "/"}) {
    EXPECT_EQ(seed(server_->url("a%20b%25c%3Fd%23e+猫" + end)), "y");
    EXPECT_EQ(seed(server_->url("tags" + end)), "x");
  }
}

// A poll of keysieved when nothing has changed: records, log and its end, on a new connection.
TEST_F(HttpStore, AnswersAPollFromOneSmallFile) {
  serve();
  const auto writer = open_store("dir:" + folder_);
  append(*writer, {"a"});
  const StoreOpener open = opener_of(url());
  const std::vector<std::string> records{"keysieve:seed", "keysieve:tags:bypass", "keysieve:bypass"};
  const auto poll = [&] {
    const auto store = open(IfMissing::Refuse, Patience::None);
    EXPECT_THAT(store->get_many(records), ElementsAre("x", std::nullopt, std::nullopt));
    EXPECT_THAT(keys_in(*store), ElementsAre("a"));
    EXPECT_NE(store->end_of(kLog), kBeforeAll);
  };
  poll();
  EXPECT_THAT(new_answers(6), SizeIs(6)) << "one for a file that no store has";
  for (int i = 0; i < 3; ++i) {
    poll();
    EXPECT_THAT(new_answers(1), ElementsAre("200 /tags/.changes"));
  }
  put(*writer, "keysieve:tags:bypass", "{}");
  const auto store = open(IfMissing::Refuse, Patience::None);
  EXPECT_EQ(store->get("keysieve:tags:bypass"), "{}");
  EXPECT_THAT(keys_in(*store), ElementsAre("a"));
  EXPECT_THAT(new_answers(3), ElementsAre("200 /tags/.changes", "200 /tags/keysieve:tags:bypass",
                                          "200 /tags/.log-keysieve:tags:adds"));
}

// Once no other version can have the same ETag.
TEST_F(HttpStore, ReadsALogThatHasNotChangedNoMoreThanItMust) {
  serve();
  const auto writer = open_store("dir:" + folder_);
  append(*writer, {"a"});
  const StoreOpener open = opener_of(url());
  EXPECT_TRUE(eventually([&] {
    put(*writer, "keysieve:tags:bypass", "{}");
    EXPECT_THAT(keys_in(*open(IfMissing::Refuse, Patience::None)), ElementsAre("a"));
    return new_answers(2).back() == "304 /tags/.log-keysieve:tags:adds";
  }));
}

// Files of one size and one second have one ETag, whatever their age: a copy keeps their times.
TEST_F(HttpStore, SeesEachChangeThoughAllFilesAreOfOneSecond) {
  serve();
  const auto writer = open_store("dir:" + folder_);
  const StoreOpener open = opener_of(url());
  for (int i = 0; i < 12; ++i) {
    const std::string value = std::to_string(10 + i);
    put(*writer, "keysieve:tags:current", value);
    append(*writer, {value});
    for (const auto& file : fs::directory_iterator(folder_))
      fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
    const auto store = open(IfMissing::Refuse, Patience::None);
    EXPECT_EQ(store->get("keysieve:tags:current"), value);
    EXPECT_EQ(keys_in(*store).back(), value);
  }
}

TEST_F(HttpStore, WorksWithAServerThatHasNoETags) {
  serve({.directives = "etag off; if_modified_since off;"});
  const StoreOpener open = opener_of(url());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(open(IfMissing::Refuse, Patience::None)->get("keysieve:seed"), "x");
  EXPECT_THAT(new_answers(4), ElementsAre("200 /tags/.changes", "404 /tags/no-such-file",
                                          "200 /tags/keysieve:seed", "200 /tags/.changes"));
}

TEST_F(HttpStore, KeepsNoConnectionOpenPerRecord) {
  serve({.directives = "location = /status { stub_status; }"});
  const auto writer = open_store("dir:" + folder_);
  const auto keys = numbered("keysieve:tags:", 200);
  writer->put_many(records_of(keys, "x"));
  EXPECT_THAT(open_store(url())->get_immutable(keys), Each(Optional(std::string("x"))));
  const ProgramResult status = run_program({"/usr/bin/curl", {"-s", server_->url("status")}});
  int handled = 0;
  std::istringstream words(status.output.substr(status.output.find("requests") + 8));
  words >> handled;
  EXPECT_LE(handled, 1 + 8 + 1) << "the probe, eight connections, this question";
}

// Status, or a page in place of the file of changes, and the kind of error that it is.
TEST_F(HttpStore, TakesNothingElseForAStore) {
  serve({.directives =
             "location /401/ { return 401; } location /403/ { return 403; } location /500/ { return 500; }"
             "location /503/ { return 503; } location /204/ { return 204; }"
             "location /page/ { return 200 \"<html>sign in</html>\"; }"});
  server_->make_folder("empty");
  const std::vector<std::pair<std::string, ErrorKind>> answers{
      {"401", ErrorKind::Login},         {"403", ErrorKind::Permission},     {"500", ErrorKind::Unavailable},
      {"503", ErrorKind::Unavailable},   {"204", ErrorKind::Unavailable},    {"page", ErrorKind::Unavailable},
      {"empty", ErrorKind::Unavailable}, {"nowhere", ErrorKind::Unavailable}};
  for (const auto& answer : answers) {
    const std::string url = server_->url(answer.first);
    EXPECT_THAT(message_of(answer.second, [&] { seed(url); }), StartsWith(url + "/.changes"));
  }
  for (const char* nobody :
       {"http://127.0.0.1:1/tags?timeout=2m", "http://no-such-host.invalid/tags?timeout=2m"})
    EXPECT_NE(refusal<ErrorKind::Unavailable>(nobody), "");
}

// As servers of applications in a browser do. A page is no bypass.
TEST_F(HttpStore, TakesNoPageForARecordThatIsMissing) {
  serve({.directives = "location / { try_files $uri /tags/index.html; }"});
  std::ofstream(folder_ + "/index.html") << "<html>shop</html>";
  const auto store = open_store(url());
  EXPECT_EQ(failure_of([&] { store->get("keysieve:bypass"); }), ErrorKind::Unavailable);
}

TEST_F(HttpStore, ReadsEverythingAgainWhenItsCopiesAreDistrusted) {
  serve();
  const StoreOpener open = opener_of(url());
  const auto get = [&] { return open(IfMissing::Refuse, Patience::None)->get("keysieve:tags:current"); };
  EXPECT_EQ(get(), std::nullopt);
  std::ofstream(folder_ + "/keysieve:tags:current") << "y";  // copied after the file of changes
  EXPECT_EQ(get(), std::nullopt) << "nothing says that it has changed";
  open(IfMissing::Refuse, Patience::None)->distrust_copies();
  EXPECT_EQ(get(), "y");
}

TEST_F(HttpStore, TakesNoTruncatedBodyForARecord) {
  const std::string head = "HTTP/1.1 200 OK\r\nETag: \"1\"\r\n";
  for (const std::string& answer :
       {head + "Content-Length: 100\r\n\r\nshort", head + "Transfer-Encoding: chunked\r\n\r\n64\r\nshort",
        head + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", head + "\r\nkeysieve changes 1",
        head + "Transfer-Encoding: identity\r\n\r\nkeysieve changes 1",
        head + "Content-Length: 18\r\nTransfer-Encoding: chunked, identity\r\n\r\nkeysieve changes 1",
        head + "Content-Length: -1\r\n\r\nx", std::string("HTTP/1.1 200"), std::string("not HTTP at all"),
        std::string()}) {
    const CannedServer server("\r\n\r\n", answer);
    EXPECT_NE(refusal<ErrorKind::Unavailable>("http://" + server.address() + "/tags?timeout=2m"), "")
        << answer;
  }
}

TEST_F(HttpStore, TakesABodyInChunksHoweverTheirCodingIsWritten) {
  for (const std::string coding : {"chunked", "Chunked"}) {
    const CannedServer server("\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + coding +
                                              "\r\n\r\n12\r\nkeysieve changes 1\r\n0\r\n\r\n");
    const auto store = open_store("http://" + server.address() + "/tags?timeout=2m");
    EXPECT_THAT(store->get_immutable(std::array{std::string("chunk")}),
                ElementsAre(Optional(std::string("keysieve changes 1"))))
        << coding;
  }
}

TEST_F(HttpStore, TakesNoFileThatIsTruncatedWhileItIsSentForARecord) {
  serve({.directives = "location ~ :seed$ { limit_rate 16k; sendfile off; output_buffers 1 4k; }"});
  const std::string file = folder_ + "/keysieve:seed";
  std::ofstream(file) << std::string(kMaxValueBytes, 'x');
  std::thread truncating([&] {
    EXPECT_TRUE(eventually([&] { return server_->has_open(file); }));
    fs::resize_file(file, 100);
  });
  EXPECT_NE(refusal<ErrorKind::Unavailable>(url()), "");
  truncating.join();
}

// A bypass would end that way.
TEST_F(HttpStore, DoesNotBelieveThatAFileIsGoneWhileNothingHasChanged) {
  serve();
  const StoreOpener open = opener_of(url());
  const auto get = [&] { return open(IfMissing::Refuse, Patience::None)->get("keysieve:seed"); };
  EXPECT_EQ(get(), "x");
  open(IfMissing::Refuse, Patience::None)->distrust_copies();
  fs::rename(folder_ + "/keysieve:seed", folder_ + "/away");
  EXPECT_EQ(failure_of(get), ErrorKind::Unavailable);
  fs::rename(folder_ + "/away", folder_ + "/keysieve:seed");
  EXPECT_EQ(get(), "x");
  remove_record(*open_store("dir:" + folder_), "keysieve:seed");
  EXPECT_EQ(get(), std::nullopt);
}

TEST_F(HttpStore, ReadsNoMoreThanARecordCanHave) {
  serve();
  std::ofstream(folder_ + "/keysieve:seed") << std::string(kMaxValueBytes + 1, 'x');
  EXPECT_NE(refusal<ErrorKind::Data>(url()), "");
  std::ofstream(folder_ + "/keysieve:seed") << std::string(kMaxValueBytes, 'x');
  EXPECT_THAT(seed(url()), Optional(SizeIs(kMaxValueBytes)));
}

TEST_F(HttpStore, WaitsNoLongerThanItsTimeout) {
  serve({.directives = "location ~ :seed$ { limit_rate 100; }"});
  std::ofstream(folder_ + "/keysieve:seed") << std::string(kMaxValueBytes, 'x');
  EXPECT_NE(refusal<ErrorKind::Unavailable>(url(std::string(kShortTimeout))), "");
  server_->process().stall();
  EXPECT_NE(refusal<ErrorKind::Unavailable>(url(std::string(kShortTimeout))), "");
  server_->process().resume();
}

// How a store behind a web server is reached: TLS, authorization, redirects and proxies.

// A variable of the environment while the object is there.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

 private:
  const char* name_;
};

class HttpConnection : public HttpStore {
 protected:
  [[nodiscard]] std::string tls_url(const std::string& more = "", const std::string& ca = "ca.crt") const {
    return url("?timeout=2m&ca_file=" + certificates_.path(ca) + more, "https");
  }
  [[nodiscard]] std::string tls_directives(const std::string& certificate) const {
    return "ssl_certificate " + certificates_.path(certificate + ".crt") + ";\nssl_certificate_key " +
           certificates_.path(certificate + ".key") + ";\n";
  }
  void serve_tls(const std::string& certificate, const std::string& more = "") {
    serve({"ssl http2", tls_directives(certificate) + more});
  }

  Certificates& certificates_ = shared_certificates();
};

TEST_F(HttpConnection, FollowsAFewRedirects) {
  serve();
  server_->restart("location ~ ^/file/(.*) { return 302 file://" + folder_ +
                   "/$1; } location /one/ { rewrite ^/one/(.*) /two/$1 redirect; }"
                   "location /two/ { rewrite ^/two/(.*) /tags/$1 permanent; }"
                   "location /round/ { rewrite ^ /round/again redirect; }");
  EXPECT_NE(refusal<ErrorKind::Unavailable>(server_->url("round")), "");
  EXPECT_THAT(new_answers(4), SizeIs(4));
  EXPECT_EQ(seed(server_->url("one") + "?timeout=2m"), "x");
  EXPECT_NE(refusal<ErrorKind::Unavailable>(server_->url("file")), "");
}

TEST_F(HttpConnection, ReadsOverTlsWithAPrivateAuthority) {
  serve_tls("server");
  EXPECT_EQ(seed(tls_url()), "x");
  const auto keys = numbered("keysieve:tags:", 100);
  open_store("dir:" + folder_)->put_many(records_of(keys, std::string(kMaxValueBytes, 'y')));
  EXPECT_THAT(open_store(tls_url())->get_immutable(keys), Each(Optional(SizeIs(kMaxValueBytes))));
}

TEST_F(HttpConnection, RefusesCertificatesOfUnknownAuthoritiesOtherHostsAndYesterday) {
  serve_tls("server");
  EXPECT_EQ(seed(tls_url()), "x");
  for (const std::string& wrong : {url("?timeout=2m", "https"), url("?timeout=2m&ca_file=/nowhere", "https"),
                                   tls_url("&cert_file=/nowhere&key_file=/nowhere")})
    EXPECT_NE(refusal<ErrorKind::Unavailable>(wrong), "") << wrong;
  for (const char* certificate : {"other", "expired"}) {
    server_->kill();
    serve_tls(certificate);
    EXPECT_THAT(refusal<ErrorKind::Unavailable>(tls_url()), HasSubstr("certificate")) << certificate;
  }
}

TEST_F(HttpConnection, ShowsACertificateWhenTheServerAsksForOne) {
  serve_tls("server", "ssl_client_certificate " + certificates_.path("ca.crt") + "; ssl_verify_client on;\n");
  EXPECT_NE(refusal<ErrorKind::Unavailable>(tls_url()), "");
  EXPECT_EQ(seed(tls_url("&cert_file=" + certificates_.path("other.crt") +
                         "&key_file=" + certificates_.path("other.key"))),
            "x");
}

TEST_F(HttpConnection, FollowsNoRedirectFromTlsToPlainText) {
  WebServer plain;
  serve_tls("server", "location / { return 302 " + plain.url("") + "$request_uri; }\n");
  EXPECT_NE(refusal<ErrorKind::Unavailable>(tls_url()), "");
  EXPECT_THAT(plain.answers(), IsEmpty());
}

TEST_F(HttpConnection, SendsAuthorizationFromAFileOrTheEnvironment) {
  serve_tls("server", "if ($http_authorization != \"Bearer s3cret\") { return 401; }\n");
  const TemporaryDirectory directory;
  std::ofstream(directory / "right") << "Bearer s3cret\n";
  std::ofstream(directory / "wrong") << "Bearer wr0ng\n";
  EXPECT_EQ(seed(tls_url("&authorization_file=" + directory / "right")), "x");
  EXPECT_THAT(refusal<ErrorKind::Login>(tls_url("&authorization_file=" + directory / "wrong")),
              AllOf(Not(IsEmpty()), Not(HasSubstr("wr0ng"))));
  EXPECT_NE(refusal<ErrorKind::Login>(tls_url("&authorization_file=" + directory / "none")), "");
  EXPECT_NE(refusal<ErrorKind::Login>(tls_url()), "");
  const Variable variable("KEYSIEVE_HTTP_AUTHORIZATION", "Bearer s3cret");
  EXPECT_EQ(seed(tls_url()), "x");
}

TEST_F(HttpConnection, KeepsAuthorizationFromOtherHostsAndFromPlainText) {
  const Variable variable("KEYSIEVE_HTTP_AUTHORIZATION", "Bearer s3cret");
  const std::string echo =
      "location ~ changes$ { return 200 \"keysieve changes 1\"; } location ~ :seed$ { return 200 "
      "\"$http_authorization\"; }";
  WebServer same({"ssl", tls_directives("server") + echo});
  EXPECT_EQ(seed(same.url("tags", "https") + "?timeout=2m&ca_file=" + certificates_.path("ca.crt")),
            "Bearer s3cret");
  serve_tls("server", "location / { return 302 " + same.url("", "https") + "$request_uri; }\n");
  EXPECT_EQ(seed(tls_url()), "");
  WebServer plain({.directives = echo});
  EXPECT_EQ(seed(plain.url("tags") + "?timeout=2m"), "");
}

TEST_F(HttpConnection, AsksTheProxyOfTheEnvironment) {
  serve();
  WebServer proxy({.directives = "location / { proxy_pass http://$http_host$request_uri; }"});
  const std::string address = proxy.url("");
  {
    const Variable variable("http_proxy", address);
    EXPECT_EQ(seed(url()), "x");
    EXPECT_TRUE(eventually([&] { return proxy.answers().size() == 3; }));
    const Variable none("no_proxy", "127.0.0.1");
    EXPECT_EQ(seed(url()), "x");
  }
  EXPECT_EQ(proxy.answers().size(), 3U);
}

TEST_F(HttpConnection, TellsAProxyNothingButTheHostOfAnEncryptedConnection) {
  serve_tls("server");
  const CannedServer proxy("\r\n\r\n", "HTTP/1.1 502 no\r\nContent-Length: 0\r\n\r\n");
  const Variable variable("https_proxy", "http://" + proxy.address());
  const Variable secret("KEYSIEVE_HTTP_AUTHORIZATION", "Bearer s3cret");
  EXPECT_NE(refusal<ErrorKind::Unavailable>(tls_url()), "");
  EXPECT_THAT(proxy.last_request(), AllOf(StartsWith("CONNECT 127.0.0.1:"), Not(HasSubstr("s3cret"))));
}

}  // namespace
}  // namespace keysieve::test
