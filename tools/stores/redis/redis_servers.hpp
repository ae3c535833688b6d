// Where the commands of a Redis store go. Each command names one key, which decides where there are several
// servers.
#pragma once

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

}  // namespace keysieve
