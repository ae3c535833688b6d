// TLS for connections to Redis, if the build found hiredis with TLS.
#pragma once

#include <hiredis/hiredis.h>

#include <memory>
#include <string>

namespace keysieve {

// Paths of PEM files; empty: none.
struct RedisTlsFiles {
  std::string ca_file;    // signs the servers' certificates; none: the authorities of this host
  std::string cert_file;  // our certificate, and its key: both or none
  std::string key_file;
};

// Threads may share it.
class RedisTls {
 public:
  virtual ~RedisTls() = default;

  // Call it before anything is sent over the connection. The certificate must be for that host, a name or
  // an address. Returns why it failed; empty on success.
  [[nodiscard]] virtual std::string begin(redisContext& context, const std::string& host) const = 0;
};

// Throws Usage if no content of the files could help: this build has no TLS, or one file needs another.
void check_redis_tls(const RedisTlsFiles& files);

// Throws Usage as check_redis_tls() does, or with the file and the reason.
std::shared_ptr<const RedisTls> make_redis_tls(const RedisTlsFiles& files);

}  // namespace keysieve
