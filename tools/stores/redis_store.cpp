// The store in a Redis or Valkey server: one string per record, many commands per round trip.
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "core/base/bytes.hpp"
#include "core/base/error.hpp"
#include "core/base/file_descriptor.hpp"
#include "tools/stores/redis_connection.hpp"
#include "tools/stores/store_url.hpp"

namespace keysieve {
namespace {

// Commands per round trip: 4 MiB of full records, which both sides buffer.
constexpr std::size_t kPipelineCommands = 64;
constexpr int kMaxDatabase = 65535;
constexpr const char* kPasswordVariable = "KEYSIEVE_REDIS_PASSWORD";

// One command and no WATCH and MULTI, which a connection that is lost between them would tear apart. A key
// that is not there is false, as is an argument that was not given.
constexpr std::string_view kCompareAndSetScript =
    "if redis.call('GET', KEYS[1]) ~= (ARGV[2] or false) then return 0 end "
    "redis.call('SET', KEYS[1], ARGV[1]) "
    "return 1";

class RedisStore final : public Store {
 public:
  RedisStore(RedisAddress address, const StoreUrl& url)
      : Store(url.name, url.prefix), connection_(std::move(address)) {
    connection_.connect();
  }

  std::optional<std::string> get(const std::string& key) override {
    return value_of(*connection_.exchange({"GET", key}), key);
  }

  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    std::vector<std::optional<std::string>> values;
    values.reserve(keys.size());
    for (const auto& batch : batches_of(keys)) {
      const auto replies = exchange_all(batch, [](const std::string& key) {
        return RedisCommand{"GET", key};
      });
      for (std::size_t i = 0; i < batch.size(); ++i) values.push_back(value_of(*replies[i], batch[i]));
    }
    return values;
  }

  void put_many(std::span<const Record> records) override {
    for (const auto& batch : batches_of(records)) {
      exchange_all(batch, [](const Record& record) { return RedisCommand{"SET", record.key, record.value}; });
    }
  }

  bool put_if_absent(const Record& record) override {
    return connection_.exchange({"SET", record.key, record.value, "NX"})->type != REDIS_REPLY_NIL;
  }

  bool compare_and_set(const Record& record, const std::optional<std::string>& expected) override {
    RedisCommand command{"EVAL", kCompareAndSetScript, "1", record.key, record.value};
    if (expected) command.push_back(*expected);
    return connection_.exchange(command)->integer == 1;
  }

  void remove_many(std::span<const std::string> keys) override {
    for (const auto& batch : batches_of(keys)) {
      exchange_all(batch, [](const std::string& key) { return RedisCommand{"DEL", key}; });
    }
  }

 private:
  template <typename T>
  static std::vector<std::span<T>> batches_of(std::span<T> all) {
    std::vector<std::span<T>> batches;
    for (; !all.empty(); all = all.subspan(batches.back().size())) {
      batches.push_back(all.first(std::min(all.size(), kPipelineCommands)));
    }
    return batches;
  }

  template <typename T, typename ToCommand>
  std::vector<RedisReply> exchange_all(std::span<T> batch, ToCommand to_command) {
    std::vector<RedisCommand> commands;
    commands.reserve(batch.size());
    std::transform(batch.begin(), batch.end(), std::back_inserter(commands), to_command);
    return connection_.exchange(commands);
  }

  [[nodiscard]] std::optional<std::string> value_of(const redisReply& reply, const std::string& key) const {
    if (reply.type == REDIS_REPLY_NIL) return std::nullopt;
    if (reply.type == REDIS_REPLY_STRING) return std::string(reply.str, reply.len);
    throw DataError(name() + ": " + key + ": the server's reply is not a value");
  }

  RedisConnection connection_;
};

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

int database_of(const StoreUrl& url, const std::string& text) {
  int database = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), database);
  if (error != std::errc{} || end != text.data() + text.size() || database < 0 || database > kMaxDatabase) {
    refuse(url, "the database must be a number from 0 to " + std::to_string(kMaxDatabase));
  }
  return database;
}

void take_tcp_address(StoreUrl& url, RedisAddress& address) {
  if (url.host.empty()) refuse(url, "a host must follow redis://");
  address.host = url.host;
  if (url.port != 0) address.port = url.port;
  if (!url.path.empty()) address.database = database_of(url, url.path.substr(1));
}

void take_unix_address(StoreUrl& url, RedisAddress& address) {
  if (!url.host.empty() || url.path.empty()) refuse(url, "must be redis+unix:///path/to.sock");
  // hiredis would cut it short.
  if (url.path.size() >= sizeof(sockaddr_un::sun_path)) {
    refuse(url, "the path of a socket can have " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                    " bytes at most");
  }
  address.socket_path = url.path;
  if (const auto database = take_parameter(url, "db")) address.database = database_of(url, *database);
}

}  // namespace

std::unique_ptr<Store> open_redis_store(StoreUrl url, IfMissing /*if_missing*/) {
  RedisAddress address;
  address.name = url.name;
  address.user = url.user;
  (url.scheme == "redis" ? take_tcp_address : take_unix_address)(url, address);
  address.timeout = take_timeout(url);
  address.password = take_password(url);
  if (!address.user.empty() && address.password.empty()) refuse(url, "a user needs a password");
  refuse_other_parameters(url);
  return std::make_unique<RedisStore>(std::move(address), url);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): one signature for all in open_store.cpp
std::unique_ptr<Store> open_tls_redis_store(StoreUrl url, IfMissing /*if_missing*/) {
  refuse(url, "this hiredis (" + std::to_string(HIREDIS_MAJOR) + "." + std::to_string(HIREDIS_MINOR) +
                  ") is used without TLS; use redis:// through a tunnel, or redis+unix://");
}

}  // namespace keysieve
