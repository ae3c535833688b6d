// TLS for connections to Redis, if the build found hiredis with TLS.
#pragma once

#include <hiredis/hiredis.h>

#include <functional>
#include <memory>
#include <string>

#include "core/worker/base/error.hpp"
#include "tools/stores/store_url.hpp"

struct ssl_ctx_st;

namespace keysieve {

// Why TLS failed.
struct TlsFailure {
  std::string reason;                       // empty: it did not
  ErrorKind kind = ErrorKind::Unavailable;  // or Login: the server refuses our certificate, or misses it
};

// OpenSSL's context: what is trusted, and our certificate. Threads may share it.
using TlsContext = std::shared_ptr<ssl_ctx_st>;

// Call it before anything is sent over the connection, which must not block. Calls `wait` with POLLIN or
// POLLOUT, to return when the socket is ready for that. The certificate must be for that host, a name or an
// address.
TlsFailure begin_tls(ssl_ctx_st& tls, redisContext& context, const std::string& host,
                     const std::function<void(short events)>& wait);

// OpenSSL keeps the errors of a thread, whatever connection they were of. So the first comes before each
// read and write, and the second after one that failed; it finds nothing if the failure was none of TLS.
void forget_tls_failures() noexcept;
TlsFailure take_tls_failure();

// Throws Usage if this build has no TLS.
void check_redis_tls();

// Throws Usage as check_redis_tls() does, or with the file and the reason.
TlsContext make_tls_context(const TlsFiles& files);

}  // namespace keysieve
