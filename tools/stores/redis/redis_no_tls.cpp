#include "core/base/error.hpp"
#include "tools/stores/redis/redis_tls.hpp"

namespace keysieve {

void check_redis_tls(const RedisTlsFiles& /*files*/) {
  throw Error(ErrorKind::Usage, "this build has no TLS, since hiredis " + std::to_string(HIREDIS_MAJOR) +
                                    "." + std::to_string(HIREDIS_MINOR) +
                                    " came without it; use redis:// through a tunnel, or redis+unix://");
}

std::shared_ptr<const RedisTls> make_redis_tls(const RedisTlsFiles& files) {
  check_redis_tls(files);
  return nullptr;
}

}  // namespace keysieve
