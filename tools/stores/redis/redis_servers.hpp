// Sends the commands of a Redis store to one server, to the master that sentinels name, or to the masters
// of a cluster. Each command names one key, which chooses among several servers.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/stores/redis/redis_connection.hpp"
#include "tools/stores/redis/redis_slots.hpp"
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

// The settings in a URL.
struct RedisSettings {
  bool is_cluster = false;
  RedisAddress address;                  // one server's; the others differ in host and port
  std::vector<RedisHost> hosts;          // to ask for masters: nodes, or sentinels; none: it is the address
  std::string master_name;               // the master's name, as sentinels know it
  std::optional<int> wait_replicas{};    // how many each write must reach; nothing: one, if there are any
  std::chrono::milliseconds failover{};  // how long to retry after an outage
};

// Takes what such a URL says; throws Usage. What it returns reads the password and the certificates; that
// throws Usage, and the errors of reading files.
std::function<RedisSettings()> redis_settings_of(StoreUrl& url);

// WAIT, to be sent after writes over the same connection: a failover loses those that have not reached
// replicas. The server must answer within `timeout`, the limit for each answer.
std::array<std::string, 3> wait_command(int replicas, std::chrono::milliseconds timeout);

// Each command goes to the master that has its key. Each master gets one pipeline; all are sent before a
// reply is read. If a master is lost, has become a replica or still lacks data, or a slot moves, commands are
// repeated as long as the failover may take. So a command may be carried out twice: a compare-and-set whose
// first reply was lost answers that the value is not the expected one. A server without sentinels is tried
// once, and is not asked for its replicas: by default, no write waits for one. A cluster announces its
// masters' addresses.
//
// One thread. Throws as a Store does.
class RedisServers {
 public:
  explicit RedisServers(const RedisSettings& settings);

  // Does nothing if the masters are known. Waits for a failover in progress, but gives up when no server that
  // it asks for them answers.
  void connect();
  // Returns one reply for each, unless check_reply() throws for one. The writes have then reached as many
  // replicas as the settings ask for (by default, where servers replace each other: one, if the master has
  // any). Throws Unavailable if they have not in time; they still may later.
  std::vector<RedisReply> exchange(std::span<const KeyedCommand> commands, Effect effect);
  // Calls `visit` for each server that takes writes; if one fails, perhaps again for all.
  void visit_masters(const std::function<void(RedisConnection&)>& visit);
  // The address of the server that the key is written to.
  RedisAddress address_of(std::string_view key);

 private:
  // A command on its way, until it has its reply.
  struct Passage {
    const KeyedCommand* command;
    RedisReply reply{};
    std::optional<RedisHost> asked_at{};  // in the next try only, while its slot moves there
    bool is_asking = false;               // in this try
  };
  using Group = std::vector<Passage*>;  // to one server in one try

  void try_until_done(const std::function<bool()>& attempt);
  void locate();
  void find_masters();
  bool ask_node(const RedisHost& host);
  bool ask_sentinel(const RedisHost& host);
  [[nodiscard]] std::optional<RedisHost> named_by(const RedisHost& sentinel) const;
  void ask_last(const RedisHost& host);
  void take_slots(RedisSlots slots);
  bool carry(std::vector<Passage>& passages, Effect effect);
  std::map<RedisHost, Group> groups_of(std::vector<Passage>& passages);
  void send(const RedisHost& host, const Group& group, Effect effect);
  void receive(const RedisHost& host, const Group& group, Effect effect);
  bool redirect(Passage& passage, const redisReply& reply, const RedisHost& asked);
  [[nodiscard]] bool must_replicate(const RedisHost& host, Effect effect) const noexcept {
    const bool is_asked_for =
        settings_.wait_replicas ? *settings_.wait_replicas > 0 : slots_.has_replicas(host);
    return effect == Effect::Writes && is_asked_for;
  }
  void check_replicas(const redisReply& reply, const std::string& server_name) const;
  [[nodiscard]] const RedisHost& master_of(std::string_view key) const;
  RedisConnection& connection_to(const RedisHost& host);
  [[noreturn]] void fail(const std::string& reason) const;

  RedisSettings settings_;
  std::array<std::string, 3> wait_;
  RedisSlots slots_;                   // empty: the masters are not known
  std::vector<RedisHost> candidates_;  // to ask for them, in this order
  bool is_named_ = false;              // a sentinel has named a master, reached or not
  std::map<RedisHost, RedisConnection> connections_;
};

}  // namespace keysieve
