// One connection to a Redis or Valkey server: connects when it is used, signs in, exchanges pipelines of
// commands for replies, and connects again after a failure. Everything that talks to Redis uses it.
#pragma once

#include <hiredis/hiredis.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/worker/base/error.hpp"
#include "tools/stores/redis/redis_tls.hpp"

namespace keysieve {

// A server's reply, and what its errors mean to a store.
struct FreeRedisReply {
  void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
using RedisReply = std::unique_ptr<redisReply, FreeRedisReply>;

// The connection is lost, or the server says that it cannot serve now. Another may, or this one later.
class RedisOutage : public Error {
 public:
  explicit RedisOutage(const std::string& message) : Error(ErrorKind::Unavailable, message) {}
};

inline std::string_view text_of(const redisReply& reply) noexcept {
  return {reply.str, reply.len};
}
// The elements of an array; empty for any other reply.
std::span<redisReply* const> elements_of(const redisReply& reply) noexcept;

// The kind of an error: its first word, in capitals.
std::string_view code_of(const redisReply& error) noexcept;
// Whether user, password or rights caused the error.
bool refuses_user(const redisReply& reply) noexcept;
// Throws for an error the exception that fits it: "<server's name>: <key that the command was about>: <the
// server's text>".
void check_reply(const redisReply& reply, const std::string& server_name, std::string_view key = {});

using RedisHost = StoreHost;

struct RedisAddress {
  std::string name;  // for messages, without password
  std::string host;
  int port = 0;
  std::string socket_path;  // not empty: a unix socket instead of host and port
  std::string user;
  std::string password;
  int database = 0;
  std::chrono::milliseconds timeout{};  // to connect, and for each answer or 64 KiB of it
  TlsContext tls{};                     // none: in the clear
};

// The address of another server of the same store: only host and port differ. Throws Data if no host can have
// that name.
RedisAddress address_at(RedisAddress store, const RedisHost& host);

using RedisCommand = std::vector<std::string_view>;

inline constexpr std::size_t kAnyReplyBytes = SIZE_MAX;

// Throws RedisOutage when the connection fails; after that it is like one that was never used.
// The program must ignore SIGPIPE: hiredis 0.14 and OpenSSL use write(2), which raises it when the server is
// gone.
class RedisConnection {
 public:
  explicit RedisConnection(RedisAddress address) : address_(std::move(address)) {}

  // Does nothing if connected and usable. Throws RedisOutage, Login, Permission.
  void connect();

  // Whether it is connected and, as far as it knows, the server is still there.
  [[nodiscard]] bool is_usable() const noexcept;

  // Connects if needed. Two calls may use two connections, even while replies are due: send commands that
  // belong together in one call.
  void send(std::span<const RedisCommand> commands);
  // The reply to the oldest command that has none yet; it may be an error. Throws Data, naming the key, as
  // soon as more than `max_bytes` of it have come.
  RedisReply receive(std::string_view key = {}, std::size_t max_bytes = kAnyReplyBytes);
  // Like receive(), without waiting: nullptr when the reply is not all there yet. Also what a server sends
  // to a subscriber, which is no reply.
  RedisReply receive_if_there(std::string_view key = {}, std::size_t max_bytes = kAnyReplyBytes);

  // Sends one command and receives its reply; throws as check_reply() does.
  RedisReply exchange(const RedisCommand& command, std::size_t max_bytes = kAnyReplyBytes);

  // Readable when a reply comes; -1 when not connected.
  [[nodiscard]] int descriptor() const noexcept { return context_ == nullptr ? -1 : context_->fd; }
  [[nodiscard]] const RedisAddress& address() const noexcept { return address_; }

 private:
  void begin_tls();
  void sign_in();
  // A connection is useless if the reply to its first command is an error.
  void check_greeting(const redisReply& reply, const std::string& subject = "");
  void append(const RedisCommand& command);
  void flush();
  RedisReply next_reply(std::string_view key, std::size_t max_bytes);
  std::size_t read_some();
  [[noreturn]] void fail_to_send();
  [[noreturn]] void fail(const std::string& what);
  [[noreturn]] void fail(const std::string& what, const TlsFailure& failure);
  [[noreturn]] void fail_as_late(const std::string& what);

  RedisAddress address_;
  std::unique_ptr<redisContext, decltype(&redisFree)> context_{nullptr, redisFree};
  std::size_t replies_due_ = 0;
  std::size_t reply_bytes_ = 0;  // received of the oldest of them
};

}  // namespace keysieve
