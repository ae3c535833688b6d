#include "tools/stores/redis/redis_tls.hpp"

#ifdef KEYSIEVE_REDIS_TLS
#include <hiredis/hiredis_ssl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>

#include <cerrno>
#include <new>
#include <system_error>
#endif

namespace keysieve {

#ifdef KEYSIEVE_REDIS_TLS

namespace {

// An alert of the server; OpenSSL gives it a reason of its own, from an offset on.
constexpr int kNoAlert = -1;
int alert_of(unsigned long code) noexcept {
  return ERR_GET_LIB(code) == ERR_LIB_SSL ? ERR_GET_REASON(code) - SSL_AD_REASON_OFFSET : kNoAlert;
}

bool is_about_our_certificate(int alert) noexcept {
  switch (alert) {
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_ACCESS_DENIED:
      return true;
    default:
      return false;
  }
}

void require(bool is_done, const std::string& what) {
  if (!is_done) throw Error(ErrorKind::Usage, what + ": " + take_tls_failure().reason);
}

// hiredis checks who has signed the certificate, but not for which host it is: a name or an address.
bool expect_host(SSL* session, const std::string& host) {
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), host.c_str()) == 1) return true;
  return SSL_set1_host(session, host.c_str()) == 1 && SSL_set_tlsext_host_name(session, host.c_str()) == 1;
}

TlsFailure failure_of(SSL* session, const std::string& host, int error_number) {
  TlsFailure failure = take_tls_failure();
  if (const long verified = SSL_get_verify_result(session); verified != X509_V_OK) {
    failure.reason = "the certificate of " + host + " is refused: " + X509_verify_cert_error_string(verified);
  } else if (failure.reason.empty()) {
    failure.reason = std::generic_category().message(error_number);
  }
  return failure;
}

}  // namespace

void forget_tls_failures() noexcept {
  ERR_clear_error();
}

TlsFailure take_tls_failure() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return {};
  if (ERR_SYSTEM_ERROR(code)) return {std::generic_category().message(ERR_GET_REASON(code))};
  if (alert_of(code) == SSL_AD_CERTIFICATE_REQUIRED) {
    return {"the server asks for a certificate: cert_file and key_file", ErrorKind::Login};
  }
  const char* known = ERR_reason_error_string(code);
  const std::string reason = known == nullptr ? "error " + std::to_string(code) : known;
  if (is_about_our_certificate(alert_of(code))) {
    return {"the server refuses the certificate of cert_file: " + reason, ErrorKind::Login};
  }
  return {reason};
}

void check_redis_tls() {}

TlsContext make_tls_context(const TlsFiles& files) {
  TlsContext made(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  if (made == nullptr) throw std::bad_alloc();
  forget_tls_failures();
  SSL_CTX* context = made.get();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);     // no write waits for a read
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE);  // each piece counts as progress
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  if (files.ca_file.empty()) {
    require(SSL_CTX_set_default_verify_paths(context) == 1, "certificates of this host");
  } else {
    require(SSL_CTX_load_verify_locations(context, files.ca_file.c_str(), nullptr) == 1,
            "ca_file " + files.ca_file);
  }
  if (files.cert_file.empty()) return made;
  bool is_locked = false;  // OpenSSL would ask the terminal for the password of the key
  SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void* locked) {
    *static_cast<bool*>(locked) = true;
    return -1;
  });
  SSL_CTX_set_default_passwd_cb_userdata(context, &is_locked);
  require(SSL_CTX_use_certificate_chain_file(context, files.cert_file.c_str()) == 1,
          "cert_file " + files.cert_file);
  const bool is_usable = SSL_CTX_use_PrivateKey_file(context, files.key_file.c_str(), SSL_FILETYPE_PEM) == 1;
  require(is_usable, "key_file " + files.key_file + (is_locked ? ": has a password" : ""));
  return made;
}

TlsFailure begin_tls(ssl_ctx_st& tls, redisContext& context, const std::string& host,
                     const std::function<void(short events)>& wait) {
  std::unique_ptr<SSL, decltype(&SSL_free)> made(SSL_new(&tls), SSL_free);
  if (made == nullptr || !expect_host(made.get(), host)) throw std::bad_alloc();
  if (redisInitiateSSL(&context, made.get()) != REDIS_OK) return failure_of(made.get(), host, errno);
  SSL* const session = made.release();  // the context has it
  for (;;) {
    forget_tls_failures();
    const int done = SSL_do_handshake(session);
    if (done == 1) return {};
    const int error_number = errno;
    const int missing = SSL_get_error(session, done);
    if (missing != SSL_ERROR_WANT_READ && missing != SSL_ERROR_WANT_WRITE) {
      return failure_of(session, host, error_number);
    }
    wait(missing == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT);
  }
}

#else

void forget_tls_failures() noexcept {}

TlsFailure take_tls_failure() {
  return {};
}

void check_redis_tls() {
  throw Error(ErrorKind::Usage, "this build has no TLS, since hiredis " + std::to_string(HIREDIS_MAJOR) +
                                    "." + std::to_string(HIREDIS_MINOR) +
                                    " came without it; use redis:// through a tunnel, or redis+unix://");
}

TlsContext make_tls_context(const TlsFiles& /*files*/) {
  check_redis_tls();
  return nullptr;
}

TlsFailure begin_tls(ssl_ctx_st& /*tls*/, redisContext& /*context*/, const std::string& /*host*/,
                     const std::function<void(short events)>& /*wait*/) {
  check_redis_tls();
  return {};
}

#endif

}  // namespace keysieve
