// One connection to a Redis or Valkey server: connects when it is used, signs in, exchanges pipelines of
// commands for replies, and connects anew after anything went wrong. Used by the Redis store.
#pragma once

#include <hiredis/hiredis.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace keysieve {

struct RedisAddress {
  std::string name;  // for messages, without password
  std::string host;
  int port = 6379;
  std::string socket_path;  // not empty: a unix socket instead of host and port
  std::string user;
  std::string password;
  int database = 0;
  std::chrono::milliseconds timeout{};  // to connect, and for each answer
};

using RedisCommand = std::vector<std::string_view>;

struct FreeRedisReply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
using RedisReply = std::unique_ptr<redisReply, FreeRedisReply>;

class RedisConnection {
 public:
  explicit RedisConnection(RedisAddress address) : address_(std::move(address)) {}

  // Unless connected and usable. Throws UnavailableError, PermissionError.
  void connect();

  // Sends all, then reads one reply for each. Throws UnavailableError when the connection fails, and for a
  // reply that is an error the exception that fits it; both end the connection. Between two calls it may be
  // another one: what must hold together is one command.
  std::vector<RedisReply> exchange(std::span<const RedisCommand> commands);
  RedisReply exchange(const RedisCommand& command);

 private:
  [[nodiscard]] bool is_usable() const noexcept;
  void sign_in();
  void append(const RedisCommand& command);
  RedisReply read_reply();
  [[noreturn]] void fail(const std::string& what, int error_number);

  struct FreeContext {
    void operator()(redisContext* context) const noexcept { redisFree(context); }
  };

  RedisAddress address_;
  std::unique_ptr<redisContext, FreeContext> context_;
};

}  // namespace keysieve
