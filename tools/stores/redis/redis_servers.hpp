// Sends the commands of a Redis store to one server, to the master that sentinels name, or to the masters
// of a cluster. Each command names one key, which chooses among several servers.
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

// Bytes that the protocol adds around a value, and around an entry of a log.
inline constexpr std::size_t kReplyFrameBytes = 64;
// Limits of one reply with entries of a log: their number, and their bytes in all. Any client can append a
// key that is too long: it is read and passed over, unless it exceeds the limit of all.
inline constexpr std::size_t kLogReplyEntries = 64;
inline constexpr std::size_t kMaxLogReplyBytes = kLogReplyEntries * (kMaxLoggedKeyBytes + kReplyFrameBytes);

struct KeyedCommand {
  std::string_view key;
  RedisCommand words;
  std::size_t max_reply_bytes = kAnyReplyBytes;
};

enum class Effect { Reads, Writes };

class RedisServers;

// The settings in a URL.
struct RedisSettings {
  std::unique_ptr<RedisServers> (*make)(const RedisSettings& settings) = nullptr;  // one of those below
  RedisAddress address;                  // one server's; the others differ in host and port
  std::vector<RedisHost> hosts;          // servers to ask for the others
  std::string master_name;               // the master's name, as sentinels know it
  std::optional<int> wait_replicas{};    // how many each write must reach
  std::chrono::milliseconds failover{};  // how long to retry after an outage
};

// Takes what such a URL says; throws Usage. What it returns reads the password and the certificates; that
// throws Usage, and the errors of reading files.
std::function<RedisSettings()> redis_settings_of(StoreUrl& url);

// One thread. Throws as a Store does.
class RedisServers {
 public:
  virtual ~RedisServers() = default;

  // Does nothing if connected and usable.
  virtual void connect() = 0;
  // Returns one reply for each, unless check_reply() throws for one. The writes have then reached as many
  // replicas as the settings ask for (by default, where servers replace each other: one, if the master has
  // any). Throws Unavailable if they have not in time; they still may later.
  virtual std::vector<RedisReply> exchange(std::span<const KeyedCommand> commands, Effect effect) = 0;
  // Calls `visit` for each server that takes writes; if one fails, perhaps again for all.
  virtual void visit_masters(const std::function<void(RedisConnection&)>& visit) = 0;
  // The address of the server that the key is written to.
  virtual RedisAddress address_of(std::string_view key) = 0;
};

// All commands go to one server: the one of the address, once, or if there are `hosts`, sentinels, the one
// that they name as the master. If that is lost or becomes a replica, the commands are repeated on the next
// master, as long as the failover may take. So a command may be carried out twice, as below. A server without
// sentinels is not asked for its replicas: by default, no write waits for one.
std::unique_ptr<RedisServers> make_single_redis(const RedisSettings& settings);

// Each command goes to the master that has its key. Each master gets one pipeline; all are sent before a
// reply is read. If a master is lost or still lacks data, or the slot moves, commands are repeated as long
// as the failover may take. So a command may be carried out twice: a compare-and-set whose first reply was
// lost answers that the value is not the expected one. The cluster announces its masters' addresses.
std::unique_ptr<RedisServers> make_redis_cluster(const RedisSettings& settings);

// Subscribes to the channel of a store, to which each change sends the name of what it has changed. Any
// server of a cluster will do. The kernel notices after half a minute that its host is gone; one that hangs
// is noticed by the next question that a poll asks it.
std::unique_ptr<StoreWatch> make_redis_watch(RedisAddress address, std::string channel);

// The two ways above share the rest.

// Does the work. After each RedisOutage calls `forget`, pauses (longer each time) and tries again, as long
// as a failover may take (`?failover=`); then throws the last outage.
void try_through_failover(std::chrono::milliseconds failover, const std::function<void()>& work,
                          const std::function<void()>& forget);

// Checks that writes have reached replicas, as `?wait_replicas=` asks: a failover loses those that have
// not.
class ReplicaDemand {
 public:
  // Requires at least so many (0: none; nothing: one, if the server has any). The server must answer within
  // `timeout`, the limit for each answer.
  ReplicaDemand(std::optional<int> replicas, std::chrono::milliseconds timeout);

  // Whether to wait for the replicas of a server.
  [[nodiscard]] bool applies_to(Effect effect, bool has_replicas) const noexcept {
    return effect == Effect::Writes && replicas_ > 0 && (has_replicas || !is_default_);
  }
  // WAIT: to be sent after the writes, over the same connection. Refers to this object.
  [[nodiscard]] RedisCommand command() const { return {"WAIT", replicas_text_, patience_text_}; }
  // Checks the reply to WAIT. Throws Unavailable.
  void check(const redisReply& reply, const std::string& server_name) const;

 private:
  bool is_default_;
  int replicas_;
  std::string replicas_text_;
  std::string patience_text_;
};

}  // namespace keysieve
