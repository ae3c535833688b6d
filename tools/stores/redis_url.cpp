#include "tools/stores/redis_url.hpp"

#include <sys/un.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "core/base/bytes.hpp"
#include "core/base/file_descriptor.hpp"

namespace keysieve {
namespace {

constexpr int kRedisPort = 6379;
constexpr int kSentinelPort = 26379;
// The default of cluster-node-timeout is 15 s: so long until a master is found to be lost, and then its
// replicas vote.
constexpr std::chrono::seconds kDefaultFailover{30};
constexpr int kMaxDatabase = 65535;
constexpr int kMaxWaitReplicas = 1000;
constexpr const char* kPasswordVariable = "KEYSIEVE_REDIS_PASSWORD";

// The first line.
std::string read_password_file(const std::string& path) {
  const MappedRegion file = map_file(path);
  const std::string_view text = as_text(bytes_of(file));
  return std::string(text.substr(0, text.find_first_of("\r\n")));
}

std::string take_password(StoreUrl& url) {
  const auto path = take_parameter(url, "password_file");
  if (url.password) {
    if (path) refuse(url, "a password and password_file are given: one is enough");
    return *url.password;
  }
  if (path) return read_password_file(*path);
  const char* variable = std::getenv(kPasswordVariable);
  return variable == nullptr ? "" : variable;
}

int number_of(const StoreUrl& url, const std::string& text, const std::string& what, int max) {
  int number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0 || number > max) {
    refuse(url, what + " must be a number from 0 to " + std::to_string(max));
  }
  return number;
}

int database_of(const StoreUrl& url, const std::string& text) {
  return number_of(url, text, "the database", kMaxDatabase);
}

RedisHost host_of(const StoreHost& host, int default_port = kRedisPort) {
  return {host.name, host.port == 0 ? default_port : host.port};
}

void take_tcp_address(StoreUrl& url, RedisSettings& settings) {
  if (url.hosts.size() != 1) refuse(url, "one host must follow " + url.scheme + "://");
  const RedisHost host = host_of(url.hosts.front());
  settings.address.host = host.host;
  settings.address.port = host.port;
  if (!url.path.empty()) settings.address.database = database_of(url, url.path.substr(1));
}

void take_unix_address(StoreUrl& url, RedisSettings& settings) {
  if (!url.hosts.empty() || url.path.empty()) refuse(url, "must be redis+unix:///path/to.sock");
  // hiredis would cut it short.
  if (url.path.size() >= sizeof(sockaddr_un::sun_path)) {
    refuse(url, "the path of a socket can have " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                    " bytes at most");
  }
  settings.address.socket_path = url.path;
  if (const auto database = take_parameter(url, "db")) {
    settings.address.database = database_of(url, *database);
  }
}

void take_cluster_hosts(StoreUrl& url, RedisSettings& settings) {
  if (url.hosts.empty()) refuse(url, "hosts must follow " + url.scheme + "://");
  if (!url.path.empty() && url.path != "/0") refuse(url, "a cluster has database 0 alone");
  for (const StoreHost& host : url.hosts) settings.hosts.push_back(host_of(host));
  settings.failover = take_duration(url, "failover").value_or(kDefaultFailover);
}

// /<master name>[/<database>]
void take_sentinels(StoreUrl& url, RedisSettings& settings) {
  const std::size_t name_end = std::min(url.path.find('/', 1), url.path.size());
  if (url.hosts.empty() || name_end < 2) {
    refuse(url, "must be " + url.scheme + "://sentinel,sentinel/name-of-master");
  }
  for (const StoreHost& host : url.hosts) settings.hosts.push_back(host_of(host, kSentinelPort));
  settings.master_name = url.path.substr(1, name_end - 1);
  if (name_end < url.path.size()) settings.address.database = database_of(url, url.path.substr(name_end + 1));
  settings.failover = take_duration(url, "failover").value_or(kDefaultFailover);
}

std::shared_ptr<const RedisTls> take_no_tls(StoreUrl& /*url*/) {
  return nullptr;
}

std::shared_ptr<const RedisTls> take_tls(StoreUrl& url) {
  const RedisTlsFiles files{.ca_file = take_parameter(url, "ca_file").value_or(""),
                            .cert_file = take_parameter(url, "cert_file").value_or(""),
                            .key_file = take_parameter(url, "key_file").value_or("")};
  try {
    return make_redis_tls(files);
  } catch (const UsageError& error) {
    refuse(url, error.what());
  }
}

struct RedisScheme {
  std::string_view name;
  void (*take_place)(StoreUrl& url, RedisSettings& settings);
  std::unique_ptr<RedisServers> (*make)(const RedisSettings& settings);
  std::shared_ptr<const RedisTls> (*take_tls)(StoreUrl& url) = take_no_tls;
};

constexpr std::array kSchemes{
    RedisScheme{"redis", take_tcp_address, make_single_redis},
    RedisScheme{"redis+unix", take_unix_address, make_single_redis},
    RedisScheme{"redis-cluster", take_cluster_hosts, make_redis_cluster},
    RedisScheme{"redis-sentinel", take_sentinels, make_sentinel_redis},
    RedisScheme{"rediss", take_tcp_address, make_single_redis, take_tls},
    RedisScheme{"rediss-cluster", take_cluster_hosts, make_redis_cluster, take_tls},
    RedisScheme{"rediss-sentinel", take_sentinels, make_sentinel_redis, take_tls},
};

}  // namespace

RedisSettings take_redis_settings(StoreUrl& url) {
  const auto* const scheme = std::ranges::find(kSchemes, url.scheme, &RedisScheme::name);
  RedisSettings settings;
  settings.make = scheme->make;
  scheme->take_place(url, settings);
  RedisAddress& address = settings.address;
  address.name = url.name;
  address.user = url.user;
  address.timeout = take_timeout(url);
  address.tls = scheme->take_tls(url);
  address.password = take_password(url);
  if (!address.user.empty() && address.password.empty()) refuse(url, "a user needs a password");
  if (const auto replicas = take_parameter(url, "wait_replicas")) {
    settings.wait_replicas = number_of(url, *replicas, "wait_replicas", kMaxWaitReplicas);
  }
  return settings;
}

}  // namespace keysieve
