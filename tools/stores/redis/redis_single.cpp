#include <algorithm>
#include <charconv>
#include <optional>

#include "tools/stores/redis/redis_servers.hpp"

namespace keysieve {
namespace {

class SingleRedis final : public RedisServers {
 public:
  explicit SingleRedis(const RedisSettings& settings)
      : settings_(settings),
        replicas_(settings.wait_replicas, settings.address.timeout),
        sentinels_(settings.hosts) {}

  // Waits for a failover in progress, but gives up when no sentinel answers.
  void connect() override {
    try {
      reach_master();
    } catch (const RedisOutage&) {
      if (!is_named_ || settings_.failover.count() == 0) throw;
      try_until_done([] {});
    }
  }

  std::vector<RedisReply> exchange(std::span<const KeyedCommand> commands, Effect effect) override {
    std::vector<RedisReply> replies;
    try_until_done([&] { replies = attempt(commands, effect); });
    return replies;
  }

  void visit_masters(const std::function<void(RedisConnection&)>& visit) override {
    try_until_done([&] { visit(*master_); });
  }

  RedisAddress address_of(std::string_view /*key*/) override {
    if (sentinels_.empty()) return settings_.address;
    reach_master();
    return master_->address();
  }

 private:
  std::vector<RedisReply> attempt(std::span<const KeyedCommand> commands, Effect effect) {
    const bool must_replicate = replicas_.applies_to(effect, has_replicas_);
    std::vector<RedisCommand> words;
    words.reserve(commands.size() + 1);
    for (const KeyedCommand& command : commands) words.push_back(command.words);
    if (must_replicate) words.push_back(replicas_.command());
    master_->send(words);
    const std::string& name = master_->address().name;
    std::vector<RedisReply> replies;
    replies.reserve(commands.size());
    for (const KeyedCommand& command : commands) {
      replies.push_back(master_->receive(command.key, command.max_reply_bytes));
      check_reply(*replies.back(), name, command.key);
    }
    if (must_replicate) replicas_.check(*master_->receive(), name);
    return replies;
  }

  void try_until_done(const std::function<void()>& work) {
    const auto reach_and_work = [&] {
      reach_master();
      work();
    };
    try_through_failover(settings_.failover, reach_and_work, [this] { master_.reset(); });
  }

  // Never connects to the same address again without asking: the old master may be a replica by now.
  void reach_master() {
    if (!master_ || !master_->is_usable()) find_master();
  }

  // Asks one sentinel after the other. A sentinel that did not help is asked last the next time.
  void find_master() {
    master_.reset();
    is_named_ = false;
    if (sentinels_.empty()) return master_.emplace(settings_.address).connect();
    std::string reason;
    for (const RedisHost& sentinel : std::vector(sentinels_)) {
      try {
        if (const auto host = ask(sentinel)) {
          is_named_ = true;
          master_.emplace(connection_to_master(*host));
          return;
        }
      } catch (const RedisOutage& outage) {
        reason = outage.what();
      }
      const auto found = std::ranges::find(sentinels_, sentinel);
      std::rotate(found, found + 1, sentinels_.end());
    }
    if (!reason.empty()) throw RedisOutage(reason);
    throw Error(ErrorKind::Unavailable, settings_.address.name + ": no sentinel knows a master of that name");
  }

  // Nothing when the sentinel knows no such master.
  [[nodiscard]] std::optional<RedisHost> ask(const RedisHost& sentinel) const {
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
    const std::string_view port_text = text_of(*parts[1]);
    int port = 0;
    std::from_chars(port_text.data(), port_text.data() + port_text.size(), port);
    return RedisHost{std::string(text_of(*parts[0])), port};
  }

  // The server may be a replica by now, and the sentinel may not know it yet.
  RedisConnection connection_to_master(const RedisHost& host) {
    RedisConnection connection(address_at(settings_.address, host));
    const RedisReply reply = connection.exchange({"ROLE"});
    const auto parts = elements_of(*reply);
    if (parts.empty() || text_of(*parts[0]) != "master") {
      throw RedisOutage(connection.address().name + ": is not a master");
    }
    has_replicas_ = parts.size() > 2 && !elements_of(*parts[2]).empty();
    return connection;
  }

  RedisSettings settings_;
  ReplicaDemand replicas_;
  std::vector<RedisHost> sentinels_;  // none: the server is that of the settings
  bool is_named_ = false;             // a sentinel has named a master, reached or not
  std::optional<RedisConnection> master_;
  bool has_replicas_ = false;  // of the master, when it was reached
};

}  // namespace

std::unique_ptr<RedisServers> make_single_redis(const RedisSettings& settings) {
  return std::make_unique<SingleRedis>(settings);
}

}  // namespace keysieve
