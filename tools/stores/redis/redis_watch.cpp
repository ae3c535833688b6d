#include <optional>
#include <set>

#include "tools/stores/redis/redis_servers.hpp"

namespace keysieve {
namespace {

using Clock = std::chrono::steady_clock;

// A server that has said nothing for so many timeouts is asked whether it is there, and one timeout later it
// counts as gone.
constexpr int kSilentTimeouts = 6;
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
      heard_at_ = Clock::now();
      asked_at_.reset();
      const auto parts = elements_of(*reply);  // ["message", channel, name], or ["subscribe", channel, 1]
      if (parts.size() == 3 && text_of(*parts[0]) == "message") names.emplace(text_of(*parts[2]));
    }
    check_server();
    return {names.begin(), names.end()};
  }

 private:
  void check_server() {
    const auto now = Clock::now();
    const auto timeout = connection_.address().timeout;
    if (asked_at_ && now - *asked_at_ >= timeout)
      throw RedisOutage(connection_.address().name + ": no answer to a watch");
    if (asked_at_ || now - heard_at_ < kSilentTimeouts * timeout) return;
    connection_.send_on({"SUBSCRIBE", channel_});  // as PING, for which a user would need one more right
    asked_at_ = now;
  }

  std::string channel_;
  RedisConnection connection_;
  Clock::time_point heard_at_ = Clock::now();
  std::optional<Clock::time_point> asked_at_{};
};

}  // namespace

std::unique_ptr<StoreWatch> make_redis_watch(RedisAddress address, std::string channel) {
  return std::make_unique<RedisWatch>(std::move(address), std::move(channel));
}

}  // namespace keysieve
