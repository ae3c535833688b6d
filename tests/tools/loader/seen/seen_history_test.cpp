// Three hosts in random histories: keys, restarts, reboots, lost memory and wrong clocks.
#include <deque>
#include <map>
#include <random>
#include <set>

#include "core/publisher/seen/new_segment.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"

namespace keysieve::test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

using SeenHistory = SavedSeenSet;

// Knows what it has called new, and when it must not be called new again.
class RememberingHost {
 public:
  RememberingHost(const std::string& name, const std::string& url) : host_(clicks_config(name), url) {}

  void look(UnixSeconds now) {
    ASSERT_THAT(host_.look(now).reason, AnyOf("", HasSubstr("the clock was set back")));
    unsaved_.clear();
    has_lost_memory_ = false;
  }
  void add(std::uint64_t key, UnixSeconds now) {
    const bool is_new = host_.add(key);
    if (is_known(key, now)) {
      EXPECT_FALSE(is_new) << key << ", of " << now - since_[key] << " s ago";
    } else if (is_new) {
      since_[key] = now;
      unsaved_.insert(key);
    }
  }
  // What is added to memory that is lost while no loader has it is lost as well, so it must look at once.
  void restart(bool has_lost_memory, UnixSeconds now) {
    host_.stop();
    if (has_lost_memory) lose_memory();
    host_.start();
    if (has_lost_memory_) forget_unsaved();
    look(now);
  }
  void reboot() {
    host_.reboot_and_start();
    forget_unsaved();
  }
  void lose_memory() {
    if (!host_.worker().is_ready()) return;
    remove_segment(host_.segment_key(0));
    has_lost_memory_ = true;
  }
  void set_clock(std::int64_t by) { host_.set_clock(by); }
  [[nodiscard]] bool is_known(std::uint64_t key, UnixSeconds now) const {
    const auto found = since_.find(key);
    return found != since_.end() && now < found->second + 10 * kMinute;
  }
  bool has(std::uint64_t key) { return host_.has(key); }

 private:
  void forget_unsaved() {
    for (const std::uint64_t key : std::exchange(unsaved_, {})) since_.erase(key);
  }

  SeenHost host_;
  std::map<std::uint64_t, UnixSeconds> since_;
  std::set<std::uint64_t> unsaved_;
  bool has_lost_memory_ = false;  // and the loader has not looked since
};

TEST_F(SeenHistory, NoKeyIsNewTwiceOnAHostAndTheOthersLearnEachWhateverHappens) {
  constexpr std::uint64_t kKeys = 400;
  std::size_t known = 0;
  for (unsigned seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    const std::string url = with_parameter(url_, "prefix=s" + std::to_string(seed));
    std::mt19937 random(seed);
    std::deque<RememberingHost> hosts;
    UnixSeconds now = kNoon;
    const auto all_look = [&] {
      for (RememberingHost& host : hosts) host.look(now);
    };
    for (const char* name : {"web1", "web2", "web3"}) hosts.emplace_back(name, url);
    all_look();
    for (int step = 0; step < 120 && !HasFailure(); ++step) {
      RememberingHost& host = hosts[random() % hosts.size()];
      switch (random() % 12) {
        case 0:
          host.restart(random() % 2 == 0, now);
          break;
        case 1:
          host.reboot();
          break;
        case 2:
          host.lose_memory();
          break;
        case 3: {  // a clock that is wrong for a while, from a reboot on or not
          const auto off = static_cast<std::int64_t>(random() % 7'200) - 3'600;
          host.look(now);
          if (random() % 2 == 0) {
            host.reboot();
            host.look(now + off);
          } else {
            host.set_clock(off);
            host.look(now + off);
            for (int i = 0; i < 5; ++i) host.add(random() % kKeys, now);
          }
          host.set_clock(-off);
          host.look(now);
          break;
        }
        case 4:
        case 5:
          now += static_cast<UnixSeconds>(random() % 240);
          all_look();
          break;
        default:
          for (int i = 0; i < 10; ++i) host.add(random() % kKeys, now);
      }
      if (random() % 4 == 0 || step % 12 < 4) host.look(now);
    }
    for (int i = 0; i < 3; ++i) all_look();
    for (const RememberingHost& host : hosts) {
      for (std::uint64_t key = 0; key < kKeys; ++key) {
        if (!host.is_known(key, now)) continue;
        ++known;
        for (RememberingHost& other : hosts) EXPECT_TRUE(other.has(key)) << key;
      }
    }
  }
  EXPECT_GT(known, 200U);
}

}  // namespace
}  // namespace keysieve::test
