// One connection to a Redis or Valkey server: connects when it is used, signs in, exchanges pipelines of
// commands for replies, and connects again after anything went wrong. Used by all that talk to Redis.
#pragma once

#include <hiredis/hiredis.h>

#include <chrono>
#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "tools/stores/redis/redis_tls.hpp"

namespace keysieve {

// A reply of a server, and what its errors mean to a store.
struct FreeRedisReply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
using RedisReply = std::unique_ptr<redisReply, FreeRedisReply>;

// The connection is lost, or the server says that it cannot serve now: another one may, or this one later.
class RedisOutage : public Error {
 public:
  explicit RedisOutage(const std::string& message) : Error(ErrorKind::Unavailable, message) {}
};

std::string_view text_of(const redisReply& reply) noexcept;
// Of an array; empty for any other reply.
std::span<redisReply* const> elements_of(const redisReply& reply) noexcept;

// Of an error: its first word, in capitals, which says of what kind it is.
std::string_view code_of(const redisReply& error) noexcept;
// An error that user, password or rights are to blame for; in reply to AUTH also older servers' words for it.
bool refuses_user(const redisReply& reply) noexcept;
// What XINFO says of a stream that is not there: no failure.
bool is_missing_key(const redisReply& reply) noexcept;

// Throws, for an error other than a missing key, the exception that fits it:
// "<server's name>: <key that the command was about>: <the server's text>".
void check_reply(const redisReply& reply, const std::string& server_name, std::string_view key = {});

struct RedisHost {
  std::string host;
  int port = 0;

  friend auto operator<=>(const RedisHost&, const RedisHost&) = default;
};

std::string to_text(const RedisHost& host);

struct RedisAddress {
  std::string name;  // for messages, without password
  std::string host;
  int port = 0;
  std::string socket_path;  // not empty: a unix socket instead of host and port
  std::string user;
  std::string password;
  int database = 0;
  std::chrono::milliseconds timeout{};    // to connect, and for each answer or 64 KiB of it
  std::shared_ptr<const RedisTls> tls{};  // none: in the clear
};

// Of another server of the same store, which differs in host and port.
RedisAddress address_at(RedisAddress store, const RedisHost& host);

using RedisCommand = std::vector<std::string_view>;

inline constexpr std::size_t kAnyReplyBytes = SIZE_MAX;

// Throws RedisOutage when the connection fails, and from then on is as one that was never used.
class RedisConnection {
 public:
  explicit RedisConnection(RedisAddress address) : address_(std::move(address)) {}

  // Unless connected and usable. Throws RedisOutage, Login, Permission.
  void connect();

  // Connected, and as far as is known the server is still there.
  [[nodiscard]] bool is_usable() const noexcept;

  // Connects if need be. Between two calls it may be another connection, also where replies are still due:
  // what must hold together is one call.
  void send(std::span<const RedisCommand> commands);
  // The reply to the oldest command that has none yet; it may be an error. Throws Data, which names the
  // key that it is about, as soon as more than `max_bytes` of it have come.
  RedisReply receive(std::string_view key = {}, std::size_t max_bytes = kAnyReplyBytes);
  // The same without waiting: nullptr when it is not all there yet.
  RedisReply receive_if_there(std::string_view key = {}, std::size_t max_bytes = kAnyReplyBytes);

  // Sends all, then receives one reply for each; throws for the first that check_reply() throws for.
  std::vector<RedisReply> exchange(std::span<const RedisCommand> commands);
  RedisReply exchange(const RedisCommand& command);

  // Whether a command was sent whose reply was not received.
  [[nodiscard]] bool is_reply_due() const noexcept { return context_ != nullptr && replies_due_ > 0; }
  // Readable when a reply comes; -1 when not connected.
  [[nodiscard]] int descriptor() const noexcept { return context_ == nullptr ? -1 : context_->fd; }
  [[nodiscard]] const RedisAddress& address() const noexcept { return address_; }

 private:
  void begin_tls();
  void sign_in();
  // A connection whose first words were answered by an error is of no use.
  void check_greeting(const redisReply& reply, const std::string& subject = "");
  void append(const RedisCommand& command);
  void flush();
  RedisReply next_reply(std::string_view key, std::size_t max_bytes);
  std::size_t read_some();
  [[noreturn]] void fail(const std::string& what, int error_number);
  [[noreturn]] void fail_as_late(const std::string& what);

  struct FreeContext {
    void operator()(redisContext* context) const noexcept { redisFree(context); }
  };

  RedisAddress address_;
  std::unique_ptr<redisContext, FreeContext> context_;
  std::size_t replies_due_ = 0;
  std::size_t reply_bytes_ = 0;  // that have come of the oldest of them
};

}  // namespace keysieve
