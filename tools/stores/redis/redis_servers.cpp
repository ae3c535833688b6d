#include "tools/stores/redis/redis_servers.hpp"

#include <algorithm>
#include <cstdint>
#include <thread>
#include <utility>

namespace keysieve {
namespace {

// A failover takes seconds. These pauses notice its end soon and do not flood the servers.
constexpr std::chrono::milliseconds kFirstPause{20};
constexpr std::chrono::milliseconds kLongestPause{500};

// A slot that moves redirects us at most twice; more often only while servers disagree for a moment.
constexpr int kMaxRedirections = 5;

const RedisCommand kAskingCommand{"ASKING"};

bool is_in(const std::vector<RedisHost>& hosts, const RedisHost& host) {
  return std::ranges::find(hosts, host) != hosts.end();
}

}  // namespace

// The server must give up well before the connection does, or its count of replicas would be lost. It looks
// for expired waits only `hz` times per second, every 100 ms by default.
std::array<std::string, 3> wait_command(int replicas, std::chrono::milliseconds timeout) {
  return {"WAIT", std::to_string(replicas), std::to_string(std::max<std::int64_t>(1, timeout.count() / 2))};
}

RedisServers::RedisServers(const RedisSettings& settings)
    : settings_(settings),
      wait_(wait_command(settings.wait_replicas.value_or(1), settings.address.timeout)),
      candidates_(settings.hosts) {}

void RedisServers::connect() {
  try {
    locate();
  } catch (const RedisOutage&) {
    if (!is_named_ || settings_.failover.count() == 0) throw;
    try_until_done([] { return true; });
  }
}

std::vector<RedisReply> RedisServers::exchange(std::span<const KeyedCommand> commands, Effect effect) {
  std::vector<Passage> passages;
  passages.reserve(commands.size());
  for (const KeyedCommand& command : commands) passages.push_back({&command});
  try_until_done([&] { return carry(passages, effect); });
  std::vector<RedisReply> replies;
  replies.reserve(passages.size());
  for (Passage& passage : passages) replies.push_back(std::move(passage.reply));
  return replies;
}

// Asks a cluster for its masters first: a new one may have keys that this client has not looked for yet. A
// key that moves from one master to another meanwhile may be missed.
void RedisServers::visit_masters(const std::function<void(RedisConnection&)>& visit) {
  if (settings_.is_cluster) slots_ = RedisSlots();
  try_until_done([&] {
    if (slots_.unserved() > 0) fail(std::to_string(slots_.unserved()) + " slots have no master");
    for (const RedisHost& master : slots_.masters()) visit(connection_to(master));
    return true;
  });
}

RedisAddress RedisServers::address_of(std::string_view key) {
  locate();
  return connection_to(master_of(key)).address();
}

// Calls `attempt` until it returns true. After an outage pauses, longer each time, and looks for the masters
// again, as long as a failover may take (`?failover=`); then throws the last outage.
void RedisServers::try_until_done(const std::function<bool()>& attempt) {
  const auto failover = settings_.failover;
  const auto end = std::chrono::steady_clock::now() + failover;
  for (auto pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    std::string reason;
    try {
      locate();
      for (int redirections = 0; redirections <= kMaxRedirections; ++redirections) {
        if (attempt()) return;
      }
      fail("the servers keep redirecting to each other");
    } catch (const RedisOutage& outage) {
      reason = outage.what();
    }
    slots_ = RedisSlots();
    const auto now = std::chrono::steady_clock::now();
    if (failover.count() == 0) throw RedisOutage(reason);
    if (now >= end) throw RedisOutage(reason + " (tried for " + std::to_string(failover.count()) + " ms)");
    std::this_thread::sleep_for(std::min<std::chrono::nanoseconds>(pause, end - now));
  }
}

// Outside a cluster it never connects to the same address again without asking: the old master may be a
// replica by now.
void RedisServers::locate() {
  const bool is_known = !slots_.nodes().empty();
  if (is_known && (settings_.is_cluster || connection_to(slots_.nodes().front()).is_usable())) return;
  find_masters();
}

// A sentinel that did not help is asked last the next time, and a node also if it did: it may be behind the
// others.
void RedisServers::find_masters() {
  slots_ = RedisSlots();
  is_named_ = false;
  if (!settings_.is_cluster) connections_.clear();
  if (settings_.hosts.empty()) {
    const RedisHost host{settings_.address.host, settings_.address.port};
    connection_to(host).connect();
    slots_ = RedisSlots(host, /*has_replicas=*/false);
    return;
  }
  std::string reason;
  for (const RedisHost& host : std::vector(candidates_)) {
    if (settings_.is_cluster) ask_last(host);
    try {
      if (settings_.is_cluster ? ask_node(host) : ask_sentinel(host)) return;
    } catch (const RedisOutage& outage) {
      reason = outage.what();
    }
    ask_last(host);
  }
  if (!reason.empty()) throw RedisOutage(reason);
  throw Error(ErrorKind::Unavailable, settings_.address.name + ": no sentinel knows a master of that name");
}

bool RedisServers::ask_node(const RedisHost& host) {
  RedisConnection& connection = connection_to(host);
  take_slots(RedisSlots(*connection.exchange({"CLUSTER", "SLOTS"}), host, connection.address().name));
  if (slots_.nodes().empty()) fail(to_text(host) + " reports no slots");
  return true;
}

// False when the sentinel knows no such master. The server that it names may have become a replica
// meanwhile.
bool RedisServers::ask_sentinel(const RedisHost& host) {
  const auto master = named_by(host);
  if (!master) return false;
  is_named_ = true;
  RedisConnection& connection = connection_to(*master);
  const RedisReply reply = connection.exchange({"ROLE"});
  const auto parts = elements_of(*reply);
  if (parts.empty() || text_of(*parts[0]) != "master") {
    throw RedisOutage(connection.address().name + ": is not a master");
  }
  slots_ = RedisSlots(*master, parts.size() > 2 && !elements_of(*parts[2]).empty());
  return true;
}

std::optional<RedisHost> RedisServers::named_by(const RedisHost& sentinel) const {
  const RedisCommand question{"SENTINEL", "get-master-addr-by-name", settings_.master_name};
  RedisAddress address = address_at(settings_.address, sentinel);
  address.database = 0;
  RedisAddress unsigned_address = address;
  unsigned_address.user.clear();
  unsigned_address.password.clear();
  RedisReply reply;
  try {
    reply = RedisConnection(unsigned_address).exchange(question);
  } catch (const Error& error) {
    const bool is_refused = error.kind() == ErrorKind::Login || error.kind() == ErrorKind::Permission;
    if (!is_refused || address.password.empty()) throw;
    reply = RedisConnection(address).exchange(question);
  }
  const auto parts = elements_of(*reply);
  if (parts.size() != 2) return std::nullopt;
  const auto port = whole_number(text_of(*parts[1]), kMaxPort).value_or(0);
  return RedisHost{std::string(text_of(*parts[0])), static_cast<int>(port)};
}

void RedisServers::ask_last(const RedisHost& host) {
  const auto found = std::ranges::find(candidates_, host);
  if (found != candidates_.end()) std::rotate(found, found + 1, candidates_.end());
}

void RedisServers::take_slots(RedisSlots slots) {
  slots_ = std::move(slots);
  std::erase_if(candidates_, [&](const RedisHost& host) {
    return !is_in(slots_.nodes(), host) && !is_in(settings_.hosts, host);
  });
  for (const RedisHost& node : slots_.nodes()) {
    if (!is_in(candidates_, node)) candidates_.insert(candidates_.begin(), node);
  }
  std::erase_if(connections_, [&](const auto& entry) { return !is_in(candidates_, entry.first); });
}

// Carries out the commands that have no reply yet. False when some were redirected.
bool RedisServers::carry(std::vector<Passage>& passages, Effect effect) {
  const auto groups = groups_of(passages);
  RedisHost asked;
  try {
    for (const auto& [host, group] : groups) send(asked = host, group, effect);
    for (const auto& [host, group] : groups) receive(asked = host, group, effect);
  } catch (const RedisOutage&) {
    ask_last(asked);
    throw;
  }
  return std::ranges::none_of(passages, [](const Passage& passage) { return passage.reply == nullptr; });
}

std::map<RedisHost, RedisServers::Group> RedisServers::groups_of(std::vector<Passage>& passages) {
  std::map<RedisHost, Group> groups;
  for (Passage& passage : passages) {
    if (passage.reply != nullptr) continue;
    const auto asked_at = std::exchange(passage.asked_at, std::nullopt);
    passage.is_asking = asked_at.has_value();
    groups[asked_at ? *asked_at : master_of(passage.command->key)].push_back(&passage);
  }
  return groups;
}

void RedisServers::send(const RedisHost& host, const Group& group, Effect effect) {
  std::vector<RedisCommand> words;
  for (const Passage* passage : group) {
    if (passage->is_asking) words.push_back(kAskingCommand);
    words.push_back(passage->command->words);
  }
  if (must_replicate(host, effect)) words.emplace_back(wait_.begin(), wait_.end());
  connection_to(host).send(words);
}

// Hands out no reply before the replicas have the writes.
void RedisServers::receive(const RedisHost& host, const Group& group, Effect effect) {
  RedisConnection& connection = connection_to(host);
  std::vector<RedisReply> replies;
  for (const Passage* passage : group) {
    if (passage->is_asking) connection.receive();
    const KeyedCommand& command = *passage->command;
    replies.push_back(connection.receive(command.key, command.max_reply_bytes));
  }
  const RedisReply replicated = must_replicate(host, effect) ? connection.receive() : nullptr;
  bool is_any_done = false;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (redirect(*group[i], *replies[i], host)) {
      replies[i].reset();
    } else {
      check_reply(*replies[i], connection.address().name, group[i]->command->key);
      is_any_done = true;
    }
  }
  if (replicated != nullptr && is_any_done) check_replicas(*replicated, connection.address().name);
  for (std::size_t i = 0; i < group.size(); ++i) group[i]->reply = std::move(replies[i]);
}

void RedisServers::check_replicas(const redisReply& reply, const std::string& server_name) const {
  check_reply(reply, server_name);
  if (reply.integer >= settings_.wait_replicas.value_or(1)) return;
  throw Error(ErrorKind::Unavailable,
              server_name + ": only " + std::to_string(reply.integer) + " of " + wait_[1] +
                  " replicas have it after " + wait_[2] + " ms" +
                  (settings_.wait_replicas ? "" : " (with ?wait_replicas=0 none needs to)"));
}

bool RedisServers::redirect(Passage& passage, const redisReply& reply, const RedisHost& asked) {
  if (!settings_.is_cluster || reply.type != REDIS_REPLY_ERROR) return false;
  const bool is_moved = code_of(reply) == "MOVED";
  if (!is_moved && code_of(reply) != "ASK") return false;
  const auto redirection = parse_redirection(text_of(reply), asked);
  if (!redirection) return false;
  if (is_moved) {
    slots_.move(*redirection);
  } else {
    passage.asked_at = redirection->host;
  }
  return true;
}

const RedisHost& RedisServers::master_of(std::string_view key) const {
  const std::size_t slot = slot_of(key);
  const RedisHost* master = slots_.master_of(slot);
  if (master == nullptr) fail("slot " + std::to_string(slot) + " has no master");
  return *master;
}

RedisConnection& RedisServers::connection_to(const RedisHost& host) {
  const bool is_of_url = settings_.hosts.empty();
  const RedisAddress address = is_of_url ? settings_.address : address_at(settings_.address, host);
  return connections_.try_emplace(host, address).first->second;
}

void RedisServers::fail(const std::string& reason) const {
  throw RedisOutage(settings_.address.name + ": " + reason);
}

}  // namespace keysieve
