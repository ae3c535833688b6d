// Which master has which key, as the cluster specification says: a key belongs to one of 16384 slots, and
// each slot to one master. Without a cluster one master has them all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/stores/redis/redis_connection.hpp"

namespace keysieve {

inline constexpr std::size_t kRedisSlots = 16384;

// CRC16 of the key, or of the text between its first { and the next }, unless that is empty.
std::size_t slot_of(std::string_view key) noexcept;

// MOVED and ASK: where the `asked` server redirects to for a slot that it does not have.
struct RedisRedirection {
  std::size_t slot = 0;
  RedisHost host;
};
std::optional<RedisRedirection> parse_redirection(std::string_view error_text, const RedisHost& asked);

class RedisSlots {
 public:
  // No slot has a master.
  RedisSlots() : masters_(kRedisSlots, kNone) {}
  // All slots have that master.
  RedisSlots(const RedisHost& master, bool has_replicas)
      : nodes_{master}, masters_with_replicas_(has_replicas ? 1 : 0, master), masters_(kRedisSlots, 0) {}
  // Reads the reply to CLUSTER SLOTS. A node without an address is the server that was `asked`. Throws Data
  // "<server's name>: <reason>".
  RedisSlots(const redisReply& reply, const RedisHost& asked, const std::string& server_name);

  // nullptr: none. Valid until move().
  [[nodiscard]] const RedisHost* master_of(std::size_t slot) const noexcept {
    return masters_[slot] == kNone ? nullptr : &nodes_[masters_[slot]];
  }
  void move(const RedisRedirection& moved) { masters_[moved.slot] = index_of(moved.host); }

  // Every master once.
  [[nodiscard]] std::vector<RedisHost> masters() const;
  // Masters first, then replicas.
  [[nodiscard]] const std::vector<RedisHost>& nodes() const noexcept { return nodes_; }
  [[nodiscard]] std::size_t unserved() const noexcept {
    return static_cast<std::size_t>(std::ranges::count(masters_, kNone));
  }
  // Whether the cluster knows a live replica of that master.
  [[nodiscard]] bool has_replicas(const RedisHost& master) const noexcept {
    return std::ranges::find(masters_with_replicas_, master) != masters_with_replicas_.end();
  }

 private:
  static constexpr std::uint16_t kNone = 0xffff;
  std::uint16_t index_of(const RedisHost& host);

  std::vector<RedisHost> nodes_;
  std::vector<RedisHost> masters_with_replicas_;
  std::vector<std::uint16_t> masters_;  // of each slot, its index in nodes_
};

}  // namespace keysieve
