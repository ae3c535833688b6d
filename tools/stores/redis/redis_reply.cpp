#include "tools/stores/redis/redis_reply.hpp"

#include <algorithm>
#include <array>

namespace keysieve {
namespace {

constexpr std::array kLoginCodes{"NOAUTH", "WRONGPASS"};
constexpr std::string_view kPermissionCode = "NOPERM";
// Those of a server that is no master (any more), has just started, or has lost its cluster.
constexpr std::array kOutageCodes{"LOADING",  "READONLY", "MASTERDOWN", "CLUSTERDOWN",
                                  "TRYAGAIN", "MOVED",    "ASK",        "UNBLOCKED"};

bool contains(std::span<const char* const> codes, std::string_view code) {
  return std::find(codes.begin(), codes.end(), code) != codes.end();
}

}  // namespace

std::string_view text_of(const redisReply& reply) noexcept {
  return {reply.str, reply.len};
}

std::span<redisReply* const> elements_of(const redisReply& reply) noexcept {
  if (reply.type != REDIS_REPLY_ARRAY) return {};
  return {reply.element, reply.elements};
}

std::string_view code_of(const redisReply& error) noexcept {
  const std::string_view text = text_of(error);
  return text.substr(0, text.find(' '));
}

bool refuses_user(const redisReply& reply) noexcept {
  if (reply.type != REDIS_REPLY_ERROR) return false;
  if (contains(kLoginCodes, code_of(reply)) || code_of(reply) == kPermissionCode) return true;
  const auto says = [text = text_of(reply)](std::string_view word) {
    return text.find(word) != std::string_view::npos;
  };
  return code_of(reply) == "ERR" && (says("AUTH") || says("'auth'") || says("password"));
}

bool is_missing_key(const redisReply& reply) noexcept {
  return reply.type == REDIS_REPLY_ERROR && text_of(reply) == "ERR no such key";
}

void check_reply(const redisReply& reply, const std::string& server_name, std::string_view key) {
  if (reply.type != REDIS_REPLY_ERROR || is_missing_key(reply)) return;
  const std::string_view code = code_of(reply);
  std::string message = server_name + ": ";
  if (!key.empty()) message.append(key).append(": ");
  message.append(text_of(reply));
  if (contains(kLoginCodes, code)) throw Error(ErrorKind::Login, message);
  if (code == kPermissionCode) throw Error(ErrorKind::Permission, message);
  if (contains(kOutageCodes, code)) throw RedisOutage(message);
  if (code == "OOM") throw Error(ErrorKind::CannotCreate, message);
  if (code == "WRONGTYPE") throw Error(ErrorKind::Data, message);
  throw Error(ErrorKind::Unavailable, message);
}

}  // namespace keysieve
