#include <algorithm>
#include <array>
#include <list>

#include "tests/support/redis_server.hpp"
#include "tests/support/relay.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"
#include "tests/tools/loader/steady_reader.hpp"

namespace keysieve::test {
namespace {

// Three hosts follow one Redis; the third by way of a relay.
struct Host {
  Site site;
  std::optional<KeysievedProcess> keysieved;

  void start(const std::string& url) {
    site.configure(tags_set, url, "200ms");
    keysieved.emplace(std::vector<std::string>{"--log-level", "debug", "--config", site.config_path()});
  }
};

struct Cut {
  const char* name;
  void (*begin)(Relay& relay, const KeysievedProcess& keysieved);
  void (*end)(Relay& relay, const KeysievedProcess& keysieved);
  bool is_noticed;  // by the loader that was cut off, while it lasts

  // NOLINTNEXTLINE(readability-identifier-naming): GoogleTest calls it by this name
  friend void PrintTo(const Cut& cut, std::ostream* out) { *out << cut.name; }
};

class ThreeHosts : public ::testing::TestWithParam<Cut> {
 protected:
  ThreeHosts() {
    pusher_.push("tags", kKeys, url_);
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      // Only the one that is cut off has to notice a server that does not answer.
      hosts_[i].start(i == 2 ? "redis+unix://" + relay_path() + "?timeout=1s" : url_ + "?timeout=2m");
    }
  }
  void cut() { GetParam().begin(relay_, *hosts_[2].keysieved); }
  void mend() { GetParam().end(relay_, *hosts_[2].keysieved); }

  // Whether so many hosts have what is current; the third is the one that is cut off.
  [[nodiscard]] bool have(std::ptrdiff_t hosts, std::uint64_t generation, int keys) const {
    return std::all_of(hosts_.begin(), hosts_.begin() + hosts, [&](const Host& host) {
      return host.site.live_generation("tags") == generation && host.site.knows("tags", first_keys(keys));
    });
  }
  [[nodiscard]] std::string logs() const {
    std::string all;
    for (const Host& host : hosts_) all += host.keysieved->standard_error() + "\n";
    return all;
  }
  [[nodiscard]] std::string relay_path() const { return pusher_.root() / "relay.sock"; }

  RedisServer redis_;
  std::string url_ = redis_.unix_url();
  Site pusher_;
  Relay relay_{relay_path(), redis_.socket_path()};
  std::array<Host, 3> hosts_;
};

TEST_P(ThreeHosts, AgreeAgainSoonAfterOneWasCutOffAndNoneLosesAKey) {
  ASSERT_TRUE(eventually([&] { return have(3, 1, 1000); })) << logs();
  std::list<SteadyReader> readers;
  for (const Host& host : hosts_) readers.emplace_back(host.site, "tags", first_keys(2200));
  const auto come_to_have = [&](std::ptrdiff_t hosts, std::uint64_t generation, int keys) {
    const bool all = eventually([&] { return have(hosts, generation, keys); });
    if (all) std::for_each_n(readers.begin(), hosts, [&](SteadyReader& reader) { reader.seen(keys); });
    return all;
  };
  pusher_.add("tags", {1000, 300}, url_);
  ASSERT_TRUE(come_to_have(3, 1, 1300)) << logs();

  cut();
  pusher_.push_after_adds("tags", first_keys(1300), url_);
  pusher_.add("tags", {1300, 300}, url_);
  ASSERT_TRUE(come_to_have(2, 2, 1600)) << logs();
  pusher_.roll_back("tags", url_);
  pusher_.add("tags", {1600, 300}, url_);
  ASSERT_TRUE(come_to_have(2, 3, 1900)) << logs();
  if (GetParam().is_noticed) {
    EXPECT_TRUE(hosts_[2].keysieved->says("the store is unreachable")) << logs();
  }
  EXPECT_EQ(hosts_[2].site.live_generation("tags"), 1U);
  EXPECT_TRUE(hosts_[2].site.knows("tags", first_keys(1300)));
  EXPECT_FALSE(hosts_[2].site.knows("tags", {1600, 300}));

  mend();
  EXPECT_TRUE(come_to_have(3, 3, 1900)) << logs();
  pusher_.push_after_adds("tags", first_keys(1900), url_);
  pusher_.add("tags", {1900, 300}, url_);
  EXPECT_TRUE(come_to_have(3, 4, 2200)) << logs();
  for (SteadyReader& reader : readers) EXPECT_EQ(reader.end(), 0);
}

const Cut kLoaderStops{"loader_stops", [](Relay&, const KeysievedProcess& loader) { loader.send(SIGSTOP); },
                       [](Relay&, const KeysievedProcess& loader) { loader.send(SIGCONT); }, false};
const Cut kNetworkStalls{"network_stalls", [](Relay& relay, const KeysievedProcess&) { relay.stall(); },
                         [](Relay& relay, const KeysievedProcess&) { relay.resume(); }, true};
const Cut kNetworkBreaks{"network_breaks", [](Relay& relay, const KeysievedProcess&) { relay.hang_up(); },
                         [](Relay& relay, const KeysievedProcess&) { relay.start(); }, true};

std::string cut_name(const ::testing::TestParamInfo<Cut>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Cuts, ThreeHosts, ::testing::Values(kLoaderStops, kNetworkStalls, kNetworkBreaks),
                         cut_name);

}  // namespace
}  // namespace keysieve::test
