// One connection to a Redis or Valkey server: connects when it is used, signs in, exchanges pipelines of
// commands for replies, and connects anew after anything went wrong. Used by the Redis stores.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/stores/redis/redis_reply.hpp"
#include "tools/stores/redis/redis_tls.hpp"

namespace keysieve {

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
