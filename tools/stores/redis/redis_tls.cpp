#include "tools/stores/redis/redis_tls.hpp"

#include "core/worker/base/error.hpp"

#ifdef KEYSIEVE_REDIS_TLS
#include <arpa/inet.h>
#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <new>
#endif

namespace keysieve {

#ifdef KEYSIEVE_REDIS_TLS

namespace {

struct FreeTls {
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  void operator()(SSL* session) const noexcept { SSL_free(session); }
};

void require(bool is_done, const std::string& what) {
  if (is_done) return;
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* reason = ERR_reason_error_string(code);
  throw Error(ErrorKind::Usage, what + ": " + (reason == nullptr ? "cannot be used" : reason));
}

bool is_ip_address(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), address.data()) == 1;
}

// hiredis asks for a server by name, but does not check that the certificate has that name.
bool expect_host(SSL* session, const std::string& host) {
  if (is_ip_address(host)) {
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host.c_str()) == 1;
  }
  return SSL_set1_host(session, host.c_str()) == 1 && SSL_set_tlsext_host_name(session, host.c_str()) == 1;
}

class OpensslTls final : public RedisTls {
 public:
  explicit OpensslTls(const RedisTlsFiles& files) : context_(SSL_CTX_new(TLS_client_method())) {
    if (context_ == nullptr) throw std::bad_alloc();
    SSL_CTX* context = context_.get();
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    if (files.ca_file.empty()) {
      require(SSL_CTX_set_default_verify_paths(context) == 1, "certificates of this host");
    } else {
      require(SSL_CTX_load_verify_locations(context, files.ca_file.c_str(), nullptr) == 1,
              "ca_file " + files.ca_file);
    }
    if (files.cert_file.empty()) return;
    require(SSL_CTX_use_certificate_chain_file(context, files.cert_file.c_str()) == 1,
            "cert_file " + files.cert_file);
    require(SSL_CTX_use_PrivateKey_file(context, files.key_file.c_str(), SSL_FILETYPE_PEM) == 1,
            "key_file " + files.key_file);
  }

  [[nodiscard]] std::string begin(redisContext& context, const std::string& host) const override {
    std::unique_ptr<SSL, FreeTls> session(SSL_new(context_.get()));
    if (session == nullptr || !expect_host(session.get(), host)) throw std::bad_alloc();
    if (redisInitiateSSL(&context, session.get()) == REDIS_OK) {
      static_cast<void>(session.release());  // the context has it
      return "";
    }
    ERR_clear_error();
    const long verified = SSL_get_verify_result(session.get());
    if (verified == X509_V_OK) return context.errstr;
    return "the certificate of " + host + " is refused: " + X509_verify_cert_error_string(verified);
  }

 private:
  std::unique_ptr<SSL_CTX, FreeTls> context_;
};

}  // namespace

void check_redis_tls(const RedisTlsFiles& files) {
  if (files.cert_file.empty() != files.key_file.empty()) {
    throw Error(ErrorKind::Usage, "cert_file and key_file must be given together");
  }
}

std::shared_ptr<const RedisTls> make_redis_tls(const RedisTlsFiles& files) {
  check_redis_tls(files);
  return std::make_shared<OpensslTls>(files);
}

#else

void check_redis_tls(const RedisTlsFiles& /*files*/) {
  throw Error(ErrorKind::Usage, "this build has no TLS, since hiredis " + std::to_string(HIREDIS_MAJOR) +
                                    "." + std::to_string(HIREDIS_MINOR) +
                                    " came without it; use redis:// through a tunnel, or redis+unix://");
}

std::shared_ptr<const RedisTls> make_redis_tls(const RedisTlsFiles& files) {
  check_redis_tls(files);
  return nullptr;
}

#endif

}  // namespace keysieve
