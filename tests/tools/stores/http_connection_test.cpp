// How a store behind a web server is reached: TLS, authorization, redirects and proxies.
#include <cstdlib>
#include <fstream>

#include "tests/support/canned_server.hpp"
#include "tests/support/certificates.hpp"
#include "tests/tools/stores/http_store.hpp"

namespace keysieve::test {
namespace {

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
  serve({.directives = "location /one/ { rewrite ^/one/(.*) /two/$1 redirect; }"
                       "location /two/ { rewrite ^/two/(.*) /tags/$1 permanent; }"
                       "location /round/ { rewrite ^ /round/again redirect; }"
                       "location /file/ { return 302 file:///etc/hostname; }"});
  EXPECT_EQ(seed(server_->url("one") + "?timeout=2m"), "x");
  EXPECT_THAT(refusal<ErrorKind::Unavailable>(server_->url("round")),
              HasSubstr("Maximum (3) redirects followed"));
  EXPECT_THAT(refusal<ErrorKind::Unavailable>(server_->url("file")), HasSubstr("Protocol \"file\""));
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
  EXPECT_THAT(refusal<ErrorKind::Unavailable>(url("?timeout=2m", "https")),
              HasSubstr("unable to get local issuer certificate"));
  server_->kill();
  serve_tls("other");
  EXPECT_THAT(refusal<ErrorKind::Unavailable>(tls_url()),
              HasSubstr("no alternative certificate subject name matches"));
  server_->kill();
  serve_tls("expired");
  EXPECT_THAT(refusal<ErrorKind::Unavailable>(tls_url()), HasSubstr("certificate has expired"));
}

TEST_F(HttpConnection, NamesAnUnusableCertificateFile) {
  serve_tls("server");
  EXPECT_THAT(refusal<ErrorKind::Unavailable>(url("?timeout=2m&ca_file=/nowhere", "https")),
              HasSubstr("/nowhere"));
  EXPECT_THAT(refusal<ErrorKind::Unavailable>(tls_url("&cert_file=/nowhere&key_file=/nowhere")),
              HasSubstr("/nowhere"));
}

TEST_F(HttpConnection, ShowsACertificateWhenTheServerAsksForOne) {
  serve_tls("server", "ssl_client_certificate " + certificates_.path("ca.crt") + "; ssl_verify_client on;\n");
  EXPECT_THAT(refusal<ErrorKind::Unavailable>(tls_url()), HasSubstr("the server answered 400"));
  EXPECT_EQ(seed(tls_url("&cert_file=" + certificates_.path("other.crt") +
                         "&key_file=" + certificates_.path("other.key"))),
            "x");
}

TEST_F(HttpConnection, FollowsNoRedirectFromTlsToPlainText) {
  WebServer plain;
  serve_tls("server", "location / { return 302 " + plain.url("") + "$request_uri; }\n");
  EXPECT_THAT(refusal<ErrorKind::Unavailable>(tls_url()), HasSubstr("Protocol \"http\""));
  EXPECT_THAT(plain.answers(), IsEmpty());
}

TEST_F(HttpConnection, SendsAuthorizationFromAFileOrTheEnvironment) {
  serve_tls("server", "if ($http_authorization != \"Bearer s3cret\") { return 401; }\n");
  const TemporaryDirectory directory;
  std::ofstream(directory / "right") << "Bearer s3cret\n";
  std::ofstream(directory / "wrong") << "Bearer wr0ng\n";
  EXPECT_EQ(seed(tls_url("&authorization_file=" + directory / "right")), "x");
  EXPECT_THAT(refusal<ErrorKind::Login>(tls_url("&authorization_file=" + directory / "wrong")),
              AllOf(HasSubstr("asks for authorization"), Not(HasSubstr("wr0ng"))));
  EXPECT_THAT(refusal<ErrorKind::Login>(tls_url("&authorization_file=" + directory / "none")),
              HasSubstr("cannot read the authorization: " + directory / "none"));
  EXPECT_THAT(refusal<ErrorKind::Login>(tls_url()), HasSubstr("asks for authorization (401)"));
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
  EXPECT_THAT(refusal<ErrorKind::Unavailable>(tls_url()), HasSubstr("502"));
  EXPECT_THAT(proxy.last_request(), AllOf(StartsWith("CONNECT 127.0.0.1:"), Not(HasSubstr("s3cret"))));
}

}  // namespace
}  // namespace keysieve::test
