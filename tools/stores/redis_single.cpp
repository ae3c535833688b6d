#include <utility>

#include "tools/stores/redis_servers.hpp"

namespace keysieve {
namespace {

class SingleRedis final : public RedisServers {
 public:
  explicit SingleRedis(RedisAddress address) : connection_(std::move(address)) {}

  void connect() override { connection_.connect(); }

  std::vector<RedisReply> exchange(std::span<const KeyedCommand> commands) override {
    std::vector<RedisCommand> words;
    words.reserve(commands.size());
    for (const KeyedCommand& command : commands) words.push_back(command.words);
    return connection_.exchange(words);
  }

  void visit_masters(const std::function<void(RedisConnection&)>& visit) override { visit(connection_); }
  RedisAddress address_of(std::string_view /*key*/) override { return connection_.address(); }
  [[nodiscard]] bool keeps_keys_together() const noexcept override { return true; }

 private:
  RedisConnection connection_;
};

}  // namespace

std::unique_ptr<RedisServers> make_single_redis(RedisAddress address) {
  return std::make_unique<SingleRedis>(std::move(address));
}

}  // namespace keysieve
