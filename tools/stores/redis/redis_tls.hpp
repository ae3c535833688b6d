// TLS for connections to Redis, where hiredis was found with it.
#pragma once

#include <hiredis/hiredis.h>

#include <memory>
#include <string>

namespace keysieve {

// Of PEM files; an empty path is none.
struct RedisTlsFiles {
  std::string ca_file;    // who may sign the servers' certificates; none: whom this host trusts
  std::string cert_file;  // what we show the servers, and its key: both or none
  std::string key_file;
};

// Threads may share it.
class RedisTls {
 public:
  virtual ~RedisTls() = default;

  // On a connection that nothing was sent over yet. The certificate must be for that host, a name or an
  // address. Returns why it cannot; empty: it is done.
  [[nodiscard]] virtual std::string begin(redisContext& context, const std::string& host) const = 0;
};

// Throws Usage where no files could help: this build has no TLS, or one file needs another.
void check_redis_tls(const RedisTlsFiles& files);

// Throws Usage, as that does, or with the file and the reason.
std::shared_ptr<const RedisTls> make_redis_tls(const RedisTlsFiles& files);

}  // namespace keysieve
