// Where the commands of a Redis store go, and what becomes of them: to one server, to the master that
// sentinels name, or to the masters of a cluster. Each command names one key, which decides where there are
// several servers.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/stores/redis/redis_connection.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

// What the protocol puts around a value, and around an entry of a log.
inline constexpr std::size_t kReplyFrameBytes = 64;
// Entries of a log in one reply, and what their keys may have in all. Any client can append more than a key
// may have: that is read and passed over, unless it is more than this.
inline constexpr std::size_t kLogReplyEntries = 64;
inline constexpr std::size_t kMaxLogReplyBytes = kLogReplyEntries * (kMaxLoggedKeyBytes + kReplyFrameBytes);

struct KeyedCommand {
  std::string_view key;
  RedisCommand words;
  std::size_t max_reply_bytes = kAnyReplyBytes;
};

enum class Effect { Reads, Writes };

class RedisServers;

// What a URL says.
struct RedisSettings {
  std::unique_ptr<RedisServers> (*make)(const RedisSettings& settings) = nullptr;  // one of those below
  RedisAddress address;                  // of a server; the others differ from it in host and port
  std::vector<RedisHost> hosts;          // those that are asked for the others
  std::string master_name;               // that sentinels know it by
  std::optional<int> wait_replicas{};    // what was written must have reached so many, each time
  std::chrono::milliseconds failover{};  // for so long what a failover interrupts is tried again
};

// One thread. Throws as a Store does.
class RedisServers {
 public:
  virtual ~RedisServers() = default;

  // Unless connected and usable.
  virtual void connect() = 0;
  // One reply for each, unless check_reply() throws for one. What is written has then reached as many
  // replicas as the settings ask for (by default, where servers replace each other: one, of a master that
  // has any); throws Unavailable where it has not, but may.
  virtual std::vector<RedisReply> exchange(std::span<const KeyedCommand> commands, Effect effect) = 0;
  // Calls it for each server that takes writes; where one fails, perhaps once more for all.
  virtual void visit_masters(const std::function<void(RedisConnection&)>& visit) = 0;
  // Of the server that the key is written to.
  virtual RedisAddress address_of(std::string_view key) = 0;
  // Whether one command may name several keys.
  [[nodiscard]] virtual bool keeps_keys_together() const noexcept = 0;
};

// All commands go to one server, once. Which is not asked for replicas: by default, none is waited for.
std::unique_ptr<RedisServers> make_single_redis(const RedisSettings& settings);

// All commands go to the server that sentinels say is the master; again, as long as the failover may take, to
// the next one where it is lost or has become a replica. So a command may be carried out twice, as below.
std::unique_ptr<RedisServers> make_sentinel_redis(const RedisSettings& settings);

// Each command goes to the master that has its key, in a pipeline per master, all of which are sent before a
// reply is read; again, as long as the failover may take, where a master is lost, has not all its data yet,
// or the slot moves. So a command may be carried out twice: a compare-and-set whose first reply was lost
// answers that the value is not the expected one. The masters' addresses are those that the cluster
// announces.
std::unique_ptr<RedisServers> make_redis_cluster(const RedisSettings& settings);

// Waits for the logs of a Redis store by blocking reads: over one connection for all logs, or one for each
// where a command cannot name several. A server that hangs, or whose host is gone, is noticed after seven
// timeouts and a second.
std::unique_ptr<StoreWatch> make_redis_watch(std::unique_ptr<RedisServers> servers);

// What follows is for the three ways above.

// Does the work. After each RedisOutage calls `forget` and does it again, after a pause that grows, as long
// as a failover may take (`?failover=`); then throws the last outage.
void try_through_failover(std::chrono::milliseconds failover, const std::function<void()>& work,
                          const std::function<void()>& forget);

// Whether what was written has reached replicas, as `?wait_replicas=` asks: a failover loses what has not.
class ReplicaDemand {
 public:
  // At least so many (0: none need to; nothing: one, of a server that has any), asked of a server within
  // `timeout`, which is that for each answer.
  ReplicaDemand(std::optional<int> replicas, std::chrono::milliseconds timeout);

  // Of a server of which it is known whether it has replicas.
  [[nodiscard]] bool applies_to(Effect effect, bool has_replicas) const noexcept {
    return effect == Effect::Writes && replicas_ > 0 && (has_replicas || !is_default_);
  }
  // WAIT: to be sent after the writes, over the same connection. Refers to this object.
  [[nodiscard]] RedisCommand command() const { return {"WAIT", replicas_text_, patience_text_}; }
  // Of the reply to it. Throws Unavailable.
  void check(const redisReply& reply, const std::string& server_name) const;

 private:
  bool is_default_;
  int replicas_;
  std::string replicas_text_;
  std::string patience_text_;
};

// As RedisServers::exchange(), for all who talk to one server at a time.
std::vector<RedisReply> exchange_with(RedisConnection& connection, std::span<const KeyedCommand> commands,
                                      Effect effect, const ReplicaDemand& replicas, bool has_replicas);

}  // namespace keysieve
