#include "tools/stores/redis/redis_slots.hpp"

#include <algorithm>
#include <boost/crc.hpp>
#include <set>

namespace keysieve {
namespace {

// CRC-16/XMODEM: https://redis.io/docs/reference/cluster-spec/, appendix A.
using Crc16 = boost::crc_optimal<16, 0x1021, 0, 0, false, false>;

std::string_view hashed_part(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return key;
  const std::size_t close = key.find('}', open);
  if (close == std::string_view::npos || close == open + 1) return key;
  return key.substr(open + 1, close - open - 1);
}

// [address, port, ...]
RedisHost host_of(const redisReply& node, const RedisHost& asked, const std::string& server_name) {
  const auto parts = elements_of(node);
  if (parts.size() < 2 || parts[1]->type != REDIS_REPLY_INTEGER) {
    throw Error(ErrorKind::Data, server_name + ": a node of CLUSTER SLOTS is not understood");
  }
  const std::string_view address = text_of(*parts[0]);
  return {address.empty() ? asked.name : std::string(address), static_cast<int>(parts[1]->integer)};
}

}  // namespace

std::size_t slot_of(std::string_view key) noexcept {
  const std::string_view part = hashed_part(key);
  Crc16 crc;
  crc.process_bytes(part.data(), part.size());
  return crc.checksum() % kRedisSlots;
}

// "MOVED 3999 127.0.0.1:6381"; the last colon, because an IPv6 address comes without brackets.
std::optional<RedisRedirection> parse_redirection(std::string_view error_text, const RedisHost& asked) {
  const std::size_t slot_at = error_text.find(' ') + 1;
  const std::size_t host_at = error_text.find(' ', slot_at) + 1;
  const std::size_t colon = error_text.rfind(':');
  if (slot_at == 0 || host_at == 0 || colon == std::string_view::npos || colon < host_at) return std::nullopt;
  const auto slot = whole_number(error_text.substr(slot_at, host_at - 1 - slot_at), kRedisSlots - 1);
  const auto port = whole_number(error_text.substr(colon + 1), kMaxPort);
  if (!slot || !port) return std::nullopt;
  const std::string_view host = error_text.substr(host_at, colon - host_at);
  return RedisRedirection{*slot, {host.empty() ? asked.name : std::string(host), static_cast<int>(*port)}};
}

RedisSlots::RedisSlots(const redisReply& reply, const RedisHost& asked, const std::string& server_name)
    : RedisSlots() {
  std::vector<RedisHost> replicas;
  for (const redisReply* range : elements_of(reply)) {  // [first slot, last slot, master, replica, ...]
    const auto parts = elements_of(*range);
    if (parts.size() < 3 || parts[0]->integer < 0 || parts[0]->integer > parts[1]->integer ||
        parts[1]->integer >= static_cast<long long>(kRedisSlots)) {
      throw Error(ErrorKind::Data, server_name + ": a range of CLUSTER SLOTS is not understood");
    }
    const RedisHost master_host = host_of(*parts[2], asked, server_name);
    const std::uint16_t master = index_of(master_host);
    std::fill(masters_.begin() + parts[0]->integer, masters_.begin() + parts[1]->integer + 1, master);
    for (const redisReply* replica : parts.subspan(3)) {
      replicas.push_back(host_of(*replica, asked, server_name));
    }
    if (parts.size() > 3 && !has_replicas(master_host)) masters_with_replicas_.push_back(master_host);
  }
  for (const RedisHost& replica : replicas) index_of(replica);
}

std::uint16_t RedisSlots::index_of(const RedisHost& host) {
  const auto known = std::find(nodes_.begin(), nodes_.end(), host);
  const auto index = static_cast<std::uint16_t>(known - nodes_.begin());
  if (known == nodes_.end()) nodes_.push_back(host);
  return index;
}

std::vector<RedisHost> RedisSlots::masters() const {
  const std::set<std::uint16_t> indexes(masters_.begin(), masters_.end());
  std::vector<RedisHost> masters;
  for (const std::uint16_t index : indexes) {
    if (index != kNone) masters.push_back(nodes_[index]);
  }
  return masters;
}

}  // namespace keysieve
