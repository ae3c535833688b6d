#include <sys/timerfd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/worker/base/file_descriptor.hpp"
#include "tools/stores/redis/redis_servers.hpp"

namespace keysieve {
namespace {

using Clock = std::chrono::steady_clock;

// A server answers after this many timeouts even if nothing has come. One that does not is gone.
constexpr int kTimeoutsPerRead = 6;
// The server looks for expired reads `hz` times per second, at least once.
constexpr std::chrono::seconds kServerTick{1};

// Readable when the time is over; timerfd counts on the same clock as steady_clock.
class Alarm {
 public:
  Alarm() : timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
    if (!timer_.is_open()) throw std::system_error(errno, std::generic_category(), "timerfd_create");
  }

  // Zero: never.
  void set(std::chrono::milliseconds from_now) {
    deadline_ = Clock::now() + from_now;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(from_now);
    const auto rest = std::chrono::nanoseconds(from_now - seconds);
    const itimerspec time{{}, {seconds.count(), rest.count()}};
    ::timerfd_settime(timer_.get(), 0, &time, nullptr);
  }

  [[nodiscard]] bool is_over() const { return Clock::now() >= deadline_; }
  [[nodiscard]] int descriptor() const noexcept { return timer_.get(); }

 private:
  FileDescriptor timer_;
  Clock::time_point deadline_;
};

// One XREAD that blocks until one of its logs has something new.
class BlockedRead {
 public:
  explicit BlockedRead(RedisAddress address) : connection_(std::move(address)) {}

  void arm(std::span<const WatchedLog> logs) {
    if (connection_.is_reply_due() && covers(logs)) return;
    const std::chrono::milliseconds patience = connection_.address().timeout * kTimeoutsPerRead;
    const std::string block = std::to_string(patience.count());
    std::vector<std::string> positions;
    positions.reserve(logs.size());
    RedisCommand words{"XREAD", "COUNT", "1", "BLOCK", block, "STREAMS"};
    for (const WatchedLog& log : logs) words.push_back(log.name);
    for (const WatchedLog& log : logs) words.push_back(positions.emplace_back(to_text(log.seen)));
    connection_.send(std::span(&words, 1));
    alarm_.set(patience + kServerTick + connection_.address().timeout);
    armed_.assign(logs.begin(), logs.end());
  }

  void take(std::vector<std::string>& names) {
    if (!connection_.is_reply_due()) return;
    const RedisReply reply = connection_.receive_if_there(names_of_logs(), kMaxLogReplyBytes);
    if (reply == nullptr) {
      if (alarm_.is_over()) throw RedisOutage(connection_.address().name + ": no answer to a blocking read");
      return;
    }
    alarm_.set({});
    check_reply(*reply, connection_.address().name, names_of_logs());
    for (const redisReply* log : elements_of(*reply)) {  // [name, entries]
      const auto parts = elements_of(*log);
      const auto armed = parts.empty()
                             ? armed_.end()
                             : std::ranges::find(armed_, text_of(*parts.front()), &WatchedLog::name);
      if (armed != armed_.end()) names.push_back(armed->name);
    }
  }

  [[nodiscard]] bool reads(std::span<const WatchedLog> logs) const {
    return std::ranges::equal(armed_, logs, {}, &WatchedLog::name, &WatchedLog::name);
  }
  void add_descriptors(std::vector<int>& descriptors) const {
    if (connection_.is_reply_due()) descriptors.push_back(connection_.descriptor());
    descriptors.push_back(alarm_.descriptor());
  }

 private:
  [[nodiscard]] std::string names_of_logs() const {
    std::string names;
    for (const WatchedLog& log : armed_) names.append(names.empty() ? "" : ", ").append(log.name);
    return names;
  }

  // Whether this read finds everything behind the new positions. A position goes back when the store has
  // lost entries.
  [[nodiscard]] bool covers(std::span<const WatchedLog> logs) const {
    return reads(logs) &&
           std::ranges::equal(armed_, logs, std::ranges::less_equal{}, &WatchedLog::seen, &WatchedLog::seen);
  }

  RedisConnection connection_;
  Alarm alarm_;
  std::vector<WatchedLog> armed_;
};

class RedisWatch final : public StoreWatch {
 public:
  explicit RedisWatch(std::unique_ptr<RedisServers> servers) : servers_(std::move(servers)) {}

  void arm(std::span<const WatchedLog> logs) override {
    std::vector<BlockedRead> armed;
    const std::size_t logs_per_read = servers_->keeps_keys_together() ? logs.size() : 1;
    for (auto rest = logs; !rest.empty(); rest = rest.subspan(logs_per_read)) {
      const auto together = rest.first(logs_per_read);
      armed.push_back(take_read(together));
      armed.back().arm(together);
    }
    reads_ = std::move(armed);
  }

  [[nodiscard]] std::vector<int> descriptors() const override {
    std::vector<int> descriptors;
    for (const BlockedRead& read : reads_) read.add_descriptors(descriptors);
    return descriptors;
  }

  std::vector<std::string> take() override {
    std::vector<std::string> names;
    for (BlockedRead& read : reads_) read.take(names);
    return names;
  }

 private:
  BlockedRead take_read(std::span<const WatchedLog> logs) {
    const auto same = std::ranges::find_if(reads_, [&](const BlockedRead& read) { return read.reads(logs); });
    if (same == reads_.end()) return BlockedRead(servers_->address_of(logs.front().name));
    BlockedRead read = std::move(*same);
    reads_.erase(same);
    return read;
  }

  std::unique_ptr<RedisServers> servers_;
  std::vector<BlockedRead> reads_;
};

}  // namespace

std::unique_ptr<StoreWatch> make_redis_watch(std::unique_ptr<RedisServers> servers) {
  return std::make_unique<RedisWatch>(std::move(servers));
}

}  // namespace keysieve
