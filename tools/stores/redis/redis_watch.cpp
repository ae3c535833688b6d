#include <set>

#include "tools/stores/redis/redis_servers.hpp"

namespace keysieve {
namespace {

// Of a message. Any client may send a longer one.
constexpr std::size_t kMaxMessageBytes = kMaxRecordKeyBytes + 4 * kReplyFrameBytes;

class RedisWatch final : public StoreWatch {
 public:
  RedisWatch(RedisAddress address, std::string channel)
      : channel_(std::move(channel)), connection_(std::move(address)) {
    connection_.exchange({"SUBSCRIBE", channel_});
  }

  [[nodiscard]] int descriptor() const override { return connection_.descriptor(); }

  std::vector<std::string> take() override {
    std::set<std::string> names;
    while (const RedisReply reply = connection_.receive_if_there(channel_, kMaxMessageBytes)) {
      check_reply(*reply, connection_.address().name, channel_);
      const auto parts = elements_of(*reply);  // ["message", channel, name], or ["subscribe", channel, 1]
      if (parts.size() == 3 && text_of(*parts[0]) == "message") names.emplace(text_of(*parts[2]));
    }
    return {names.begin(), names.end()};
  }

 private:
  std::string channel_;
  RedisConnection connection_;
};

}  // namespace

std::unique_ptr<StoreWatch> make_redis_watch(RedisAddress address, std::string channel) {
  return std::make_unique<RedisWatch>(std::move(address), std::move(channel));
}

}  // namespace keysieve
