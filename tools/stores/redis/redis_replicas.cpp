#include "tools/stores/redis/redis_replicas.hpp"

#include <algorithm>
#include <cstdint>

namespace keysieve {

// The server must give up well before the connection does, or nobody would hear how many there were: it looks
// for waits that are over `hz` times per second only, every 100 ms by default.
ReplicaDemand::ReplicaDemand(std::optional<int> replicas, std::chrono::milliseconds timeout)
    : is_default_(!replicas),
      replicas_(replicas.value_or(1)),
      replicas_text_(std::to_string(replicas_)),
      patience_text_(std::to_string(std::max<std::int64_t>(1, timeout.count() / 2))) {}

void ReplicaDemand::check(const redisReply& reply, const std::string& server_name) const {
  check_reply(reply, server_name);
  if (reply.integer >= replicas_) return;
  throw Error(ErrorKind::Unavailable, server_name + ": only " + std::to_string(reply.integer) + " of " +
                                          replicas_text_ + " replicas have it after " + patience_text_ +
                                          " ms" +
                                          (is_default_ ? " (with ?wait_replicas=0 none needs to)" : ""));
}

std::vector<RedisReply> exchange_with(RedisConnection& connection, std::span<const KeyedCommand> commands,
                                      Effect effect, const ReplicaDemand& replicas, bool has_replicas) {
  const bool must_replicate = replicas.applies_to(effect, has_replicas);
  std::vector<RedisCommand> words;
  words.reserve(commands.size() + 1);
  for (const KeyedCommand& command : commands) words.push_back(command.words);
  if (must_replicate) words.push_back(replicas.command());
  connection.send(words);
  const std::string& name = connection.address().name;
  std::vector<RedisReply> replies;
  replies.reserve(commands.size());
  for (const KeyedCommand& command : commands) {
    replies.push_back(connection.receive(command.key, command.max_reply_bytes));
    check_reply(*replies.back(), name, command.key);
  }
  if (must_replicate) replicas.check(*connection.receive(), name);
  return replies;
}

}  // namespace keysieve
