// Memory that runs out at each allocation of a look of the loader. If that ends the loader, as it does with
// exit status 71, another one is started.
#include "tests/support/memory_faults.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/tools/loader/history/host.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"
#include "tests/tools/transfer/shared_store.hpp"
#include "tools/transfer/adds_log.hpp"

namespace keysieve::test {
namespace {

class StarvedLoader : public ::testing::TestWithParam<StoreKind> {
 protected:
  StarvedLoader() : host_((std::filesystem::create_directory(root_ / "host"), root_ / "host"), made()) {}

  // The loader refuses a store that is not there.
  [[nodiscard]] std::string made() const {
    open_store(url_);
    return url_;
  }
  void add_and_push(std::uint64_t number, bool lasts) {
    const auto store = open_store(url_);
    added_.push_back(static_cast<int>(2 * number + (lasts ? 1 : 0)));
    const std::string key = key_text(added_.back());
    store->append(adds_log(*store, kHistorySet), {&key, 1});
    pushing(pushed_ = 1 - pushed_)(*store);
  }
  // Of what an earlier look has brought in, in both processes.
  void expect_nothing_forgotten(std::size_t received) {
    for (std::size_t i = received > 8 ? received - 8 : 0; i < received; ++i) {
      for (const Host::Process process : {Host::Process::AtOnce, Host::Process::Late})
        EXPECT_TRUE(host_.may_contain(added_[i], process)) << added_[i];
    }
  }
  void expect_well() {
    const RefreshOutcome& outcome = host_.look();
    EXPECT_TRUE(outcome.is_good()) << outcome.reason;
    EXPECT_EQ(host_.attached_build(), view_of(numbered_snapshot(pushed_)).header().build_id);
    expect_nothing_forgotten(added_.size());
  }

  // Each time a key is added and another build is pushed. `before` is done then.
  void expect_healed(const std::string& what, const std::function<void()>& before,
                     const std::function<void()>& look) {
    add_and_push(0, false);
    expect_well();
    int ended = 0;
    const int tried = for_each_allocation(
        [&](std::uint64_t number, bool lasts) {
          add_and_push(number, lasts);
          before();
          const auto end = starve(number, lasts, look);
          if (end && !end->is_done) {
            EXPECT_TRUE(end->is_out_of_memory) << end->message;
            host_.start();
            ++ended;
          }
          expect_nothing_forgotten(added_.size() - 1);
          expect_well();
          return end.has_value();
        },
        {.dense = 40, .stride = 37});
    report_starved(what + " (" + GetParam().name + ")", tried,
                   "; " + std::to_string(ended) + " of them ended the loader");
  }

  TemporaryDirectory root_{fast_folder()};
  std::string url_ = GetParam().empty_store(root_);
  Host host_;
  std::vector<int> added_;
  std::size_t pushed_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Stores, StarvedLoader, ::testing::Values(kDir), store_kind_name);

TEST_P(StarvedLoader, HealsAtTheNextLook) {
  expect_healed(
      "a look of the loader", [] {}, [this] { host_.look(); });
}

TEST_P(StarvedLoader, HealsAfterAReboot) {
  expect_healed(
      "a look after a reboot", [this] { host_.reboot(); }, [this] { host_.look(); });
}

TEST(StarvedSeenKeeper, ForgetsNothing) {
  const TemporaryDirectory folder(fast_folder());
  SeenHost host(clicks_config(), "dir:" + folder / "store");
  UnixSeconds now = kNoon;
  host.look(now);
  std::uint64_t key = 1;
  int ended = 0;
  const int tried = for_each_allocation(
      [&](std::uint64_t number, bool lasts) {
        EXPECT_TRUE(host.add(++key));
        now += 10 * kMinute;  // another window begins
        const auto end = starve(number, lasts, [&] { host.look(now); });
        if (end && !end->is_done) {
          EXPECT_TRUE(end->is_out_of_memory) << end->message;
          host.start();
          ++ended;
        }
        EXPECT_TRUE(!host.worker().is_ready() || host.has(key));
        EXPECT_TRUE(host.look(now).is_good()) << host.report().reason;
        EXPECT_TRUE(host.has(key));
        EXPECT_LE(host.worker().filters().size(), 3U);
        return end.has_value();
      },
      {.dense = 100, .stride = 7});
  report_starved("a look at a seen set", tried, "; " + std::to_string(ended) + " of them ended the loader");
}

}  // namespace
}  // namespace keysieve::test
