#include "tools/stores/redis/redis_replicas.hpp"
#include "tools/stores/redis/redis_servers.hpp"

namespace keysieve {
namespace {

class SingleRedis final : public RedisServers {
 public:
  explicit SingleRedis(const RedisSettings& settings)
      : connection_(settings.address), replicas_(settings.wait_replicas, settings.address.timeout) {}

  void connect() override { connection_.connect(); }

  std::vector<RedisReply> exchange(std::span<const KeyedCommand> commands, Effect effect) override {
    return exchange_with(connection_, commands, effect, replicas_, /*has_replicas=*/false);
  }

  void visit_masters(const std::function<void(RedisConnection&)>& visit) override { visit(connection_); }
  RedisAddress address_of(std::string_view /*key*/) override { return connection_.address(); }
  [[nodiscard]] bool keeps_keys_together() const noexcept override { return true; }

 private:
  RedisConnection connection_;
  ReplicaDemand replicas_;
};

}  // namespace

std::unique_ptr<RedisServers> make_single_redis(const RedisSettings& settings) {
  return std::make_unique<SingleRedis>(settings);
}

}  // namespace keysieve
