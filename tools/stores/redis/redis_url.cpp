#include <algorithm>
#include <array>

#include "tools/stores/redis/redis_servers.hpp"
#include "tools/stores/store_url.hpp"

namespace keysieve {
namespace {

constexpr int kRedisPort = 6379;
constexpr int kSentinelPort = 26379;
// The default of cluster-node-timeout is 15 s: a master counts as lost after that, and then its replicas
// vote.
constexpr std::chrono::seconds kDefaultFailover{30};
constexpr int kMaxDatabase = 65535;
constexpr int kMaxWaitReplicas = 1000;
constexpr const char* kPasswordVariable = "KEYSIEVE_REDIS_PASSWORD";

int number_of(const StoreUrl& url, const std::string& text, const std::string& what, int max) {
  const auto number = whole_number(text, static_cast<std::uint64_t>(max));
  if (!number) refuse(url, what + " must be a number from 0 to " + std::to_string(max));
  return static_cast<int>(*number);
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
  settings.address.host = host.name;
  settings.address.port = host.port;
  if (!url.path.empty()) settings.address.database = database_of(url, url.path.substr(1));
}

void take_unix_address(StoreUrl& url, RedisSettings& settings) {
  settings.address.socket_path = take_socket_path(url);
  if (const auto database = take_parameter(url, "db")) {
    settings.address.database = database_of(url, *database);
  }
}

void take_cluster_hosts(StoreUrl& url, RedisSettings& settings) {
  settings.is_cluster = true;
  if (url.hosts.empty()) refuse(url, "hosts must follow " + url.scheme + "://");
  if (!url.path.empty() && url.path != "/0") refuse(url, "a cluster has only database 0");
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

void require_password(const StoreUrl& url, const std::string& password) {
  if (!url.user.empty() && password.empty()) refuse(url, "a user needs a password");
}

struct RedisScheme {
  std::string_view name;
  void (*take_place)(StoreUrl& url, RedisSettings& settings);
  bool is_encrypted = false;
};

constexpr std::array kRedisSchemes{
    RedisScheme{"redis", take_tcp_address},
    RedisScheme{"redis+unix", take_unix_address},
    RedisScheme{"redis-cluster", take_cluster_hosts},
    RedisScheme{"redis-sentinel", take_sentinels},
    RedisScheme{"rediss", take_tcp_address, true},
    RedisScheme{"rediss-cluster", take_cluster_hosts, true},
    RedisScheme{"rediss-sentinel", take_sentinels, true},
};

}  // namespace

std::function<RedisSettings()> redis_settings_of(StoreUrl& url) {
  const auto* const scheme = std::ranges::find(kRedisSchemes, url.scheme, &RedisScheme::name);
  RedisSettings settings;
  scheme->take_place(url, settings);
  settings.address.name = url.name;
  settings.address.user = url.user;
  settings.address.timeout = take_timeout(url);
  std::optional<TlsFiles> tls_files;  // nothing: in the clear
  if (scheme->is_encrypted) {
    or_refuse(url, "", check_redis_tls);
    tls_files = take_tls_files(url);
  }
  const auto password_file = take_secret_file(url, "password_file");
  if (url.password) require_password(url, *url.password);
  if (const auto replicas = take_parameter(url, "wait_replicas")) {
    settings.wait_replicas = number_of(url, *replicas, "wait_replicas", kMaxWaitReplicas);
  }
  return [=] {
    RedisSettings current = settings;
    if (tls_files) current.address.tls = or_refuse(url, "", [&] { return make_tls_context(*tls_files); });
    current.address.password =
        url.password ? *url.password : read_secret(url, "password", password_file, kPasswordVariable);
    require_password(url, current.address.password);
    return current;
  };
}

}  // namespace keysieve
