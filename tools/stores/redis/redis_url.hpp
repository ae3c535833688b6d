// What a Redis store's URL says.
#pragma once

#include "tools/stores/redis/redis_servers.hpp"
#include "tools/stores/store_url.hpp"

namespace keysieve {

class RedisUrl {
 public:
  // Throws Usage.
  explicit RedisUrl(StoreUrl url);

  [[nodiscard]] const StoreUrl& url() const noexcept { return url_; }
  // Reads the password and the certificates now. Throws Usage, and the errors of reading files.
  [[nodiscard]] RedisSettings settings() const;

 private:
  [[nodiscard]] std::string password() const;

  StoreUrl url_;
  RedisSettings settings_;
  std::optional<std::string> password_file_;
  std::optional<RedisTlsFiles> tls_files_;  // nothing: in the clear
};

}  // namespace keysieve
