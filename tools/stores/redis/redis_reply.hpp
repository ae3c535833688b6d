// A reply of a Redis server, and what its errors mean to a store. Used by all that talk to Redis.
#pragma once

#include <hiredis/hiredis.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace keysieve {

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

}  // namespace keysieve
