#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "tools/stores/redis/redis_servers.hpp"
#include "tools/stores/redis/redis_slots.hpp"

namespace keysieve {
namespace {

// A slot that moves redirects us at most twice; more often only while servers disagree for a moment.
constexpr int kMaxRedirections = 5;

const RedisCommand kAskingCommand{"ASKING"};

// A command on its way, until it has its reply.
struct Passage {
  const KeyedCommand* command;
  RedisReply reply{};
  std::optional<RedisHost> asked_at{};  // in the next try only, while its slot moves there
};

// What goes to one server in one try.
struct Leg {
  Passage* passage;
  bool is_asking;
};

class RedisCluster final : public RedisServers {
 public:
  explicit RedisCluster(const RedisSettings& settings)
      : settings_(settings),
        replicas_(settings.wait_replicas, settings.address.timeout),
        candidates_(settings.hosts) {}

  void connect() override {
    if (slots_.nodes().empty()) find_slots();
  }

  std::vector<RedisReply> exchange(std::span<const KeyedCommand> commands, Effect effect) override {
    std::vector<Passage> passages;
    passages.reserve(commands.size());
    for (const KeyedCommand& command : commands) passages.push_back({&command});
    try_until_done([&] { return carry(passages, effect); });
    std::vector<RedisReply> replies;
    replies.reserve(passages.size());
    for (Passage& passage : passages) replies.push_back(std::move(passage.reply));
    return replies;
  }

  // Asks for the masters first: a new one may have keys that this client has not looked for yet. A key that
  // moves from one master to another meanwhile may be missed.
  void visit_masters(const std::function<void(RedisConnection&)>& visit) override {
    slots_ = RedisSlots();
    try_until_done([&] {
      if (slots_.unserved() > 0) fail(std::to_string(slots_.unserved()) + " slots have no master");
      for (const RedisHost& master : slots_.masters()) visit(connection_to(master));
      return true;
    });
  }

  RedisAddress address_of(std::string_view key) override {
    connect();
    return address_at(settings_.address, master_of(key));
  }

 private:
  using Group = std::vector<Leg>;

  // Calls `attempt` until it returns true; after an outage looks for the slots again.
  void try_until_done(const std::function<bool()>& attempt) {
    const auto follow_redirections = [&] {
      connect();
      for (int redirections = 0; redirections <= kMaxRedirections; ++redirections) {
        if (attempt()) return;
      }
      fail("the servers keep redirecting to each other");
    };
    try_through_failover(settings_.failover, follow_redirections, [this] { slots_ = RedisSlots(); });
  }

  // Carries out the commands that have no reply yet. False when some were redirected.
  bool carry(std::vector<Passage>& passages, Effect effect) {
    std::optional<RedisOutage> outage;
    const bool is_impatient = settings_.failover.count() == 0;  // one silent master is enough
    const auto unless_out = [&](const RedisHost& host, const auto& step) {
      if (outage && is_impatient) return false;
      try {
        step();
        return true;
      } catch (const RedisOutage& caught) {
        ask_last(host);
        outage = caught;
        return false;
      }
    };
    auto groups = groups_of(passages);
    std::erase_if(groups, [&](const auto& group) {
      return !unless_out(group.first, [&] { send(group.first, group.second, effect); });
    });
    for (const auto& group : groups) {
      unless_out(group.first, [&] { receive(group.first, group.second, effect); });
    }
    if (outage) throw RedisOutage(*outage);
    return std::ranges::none_of(passages, [](const Passage& passage) { return passage.reply == nullptr; });
  }

  std::map<RedisHost, Group> groups_of(std::vector<Passage>& passages) {
    std::map<RedisHost, Group> groups;
    for (Passage& passage : passages) {
      if (passage.reply != nullptr) continue;
      const auto asked_at = std::exchange(passage.asked_at, std::nullopt);
      groups[asked_at ? *asked_at : master_of(passage.command->key)].push_back(
          {&passage, asked_at.has_value()});
    }
    return groups;
  }

  [[nodiscard]] bool must_replicate(const RedisHost& host, Effect effect) const noexcept {
    return replicas_.applies_to(effect, slots_.has_replicas(host));
  }

  void send(const RedisHost& host, const Group& group, Effect effect) {
    std::vector<RedisCommand> words;
    for (const Leg& leg : group) {
      if (leg.is_asking) words.push_back(kAskingCommand);
      words.push_back(leg.passage->command->words);
    }
    if (must_replicate(host, effect)) words.push_back(replicas_.command());
    connection_to(host).send(words);
  }

  // Hands out no reply before the replicas have the writes.
  void receive(const RedisHost& host, const Group& group, Effect effect) {
    RedisConnection& connection = connection_to(host);
    std::vector<RedisReply> replies;
    for (const Leg& leg : group) {
      if (leg.is_asking) connection.receive();
      const KeyedCommand& command = *leg.passage->command;
      replies.push_back(connection.receive(command.key, command.max_reply_bytes));
    }
    const RedisReply replicated = must_replicate(host, effect) ? connection.receive() : nullptr;
    bool is_any_done = false;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (redirect(*group[i].passage, *replies[i], host)) {
        replies[i].reset();
      } else {
        check_reply(*replies[i], connection.address().name, group[i].passage->command->key);
        is_any_done = true;
      }
    }
    if (replicated != nullptr && is_any_done) replicas_.check(*replicated, connection.address().name);
    for (std::size_t i = 0; i < group.size(); ++i) group[i].passage->reply = std::move(replies[i]);
  }

  bool redirect(Passage& passage, const redisReply& reply, const RedisHost& asked) {
    if (reply.type != REDIS_REPLY_ERROR) return false;
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

  const RedisHost& master_of(std::string_view key) const {
    const std::size_t slot = slot_of(key);
    const RedisHost* master = slots_.master_of(slot);
    if (master == nullptr) fail("slot " + std::to_string(slot) + " has no master");
    return *master;
  }

  void find_slots() {
    std::string reason;
    for (const RedisHost& host : std::vector(candidates_)) {
      ask_last(host);  // the next time: it may be silent, or behind the others
      try {
        RedisConnection& connection = connection_to(host);
        take_slots(RedisSlots(*connection.exchange({"CLUSTER", "SLOTS"}), host, connection.address().name));
        if (!slots_.nodes().empty()) return;
        reason = settings_.address.name + ": " + to_text(host) + " reports no slots";
      } catch (const RedisOutage& outage) {
        reason = outage.what();
      }
    }
    throw RedisOutage(reason);
  }

  void ask_last(const RedisHost& host) {
    const auto found = std::find(candidates_.begin(), candidates_.end(), host);
    if (found != candidates_.end()) std::rotate(found, found + 1, candidates_.end());
  }

  void take_slots(RedisSlots slots) {
    slots_ = std::move(slots);
    const auto is_in = [](const std::vector<RedisHost>& hosts, const RedisHost& host) {
      return std::find(hosts.begin(), hosts.end(), host) != hosts.end();
    };
    std::erase_if(candidates_, [&](const RedisHost& host) {
      return !is_in(slots_.nodes(), host) && !is_in(settings_.hosts, host);
    });
    for (const RedisHost& node : slots_.nodes()) {
      if (!is_in(candidates_, node)) candidates_.insert(candidates_.begin(), node);
    }
    std::erase_if(connections_, [&](const auto& entry) { return !is_in(candidates_, entry.first); });
  }

  RedisConnection& connection_to(const RedisHost& host) {
    return connections_.try_emplace(host, address_at(settings_.address, host)).first->second;
  }

  [[noreturn]] void fail(const std::string& reason) const {
    throw RedisOutage(settings_.address.name + ": " + reason);
  }

  RedisSettings settings_;
  ReplicaDemand replicas_;
  RedisSlots slots_;
  std::vector<RedisHost> candidates_;
  std::map<RedisHost, RedisConnection> connections_;
};

}  // namespace

std::unique_ptr<RedisServers> make_redis_cluster(const RedisSettings& settings) {
  return std::make_unique<RedisCluster>(settings);
}

}  // namespace keysieve
