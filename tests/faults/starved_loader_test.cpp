// Memory that runs out at each allocation of a look of the loader. If that ends the loader, as it does with
// exit status 71, another one is started.
#include "tests/support/memory_faults.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"
#include "tests/tools/transfer/shared_store.hpp"

namespace keysieve::test {
namespace {

class StarvedLoader : public SetRefresherTest {
 protected:
  StarvedLoader() { begin_reading(); }

  void begin_reading() { reader_.emplace(ReaderSettings{.directory = site_.directory()}, "tags"); }
  void reboot() {
    refresher_.reset();
    site_.wipe_shared_memory();
    start();
    begin_reading();
  }
  void add_and_push(std::uint64_t number, bool lasts) {
    added_.push_back(static_cast<int>(2 * number + (lasts ? 1 : 0)));
    site_.add("tags", {added_.back(), 1});
    pushing(pushed_ = 1 - pushed_)(*open_store(url_));
  }
  // Checks the keys that an earlier look has brought in.
  void expect_nothing_forgotten(std::size_t received) {
    reader_->check_soon();
    const Attachment* attached = reader_->follow();
    for (std::size_t i = received > 8 ? received - 8 : 0; attached != nullptr && i < received; ++i)
      EXPECT_TRUE(attached->may_contain(attached->snapshot().hasher()(key_number(added_[i])))) << added_[i];
  }
  void expect_well() {
    const RefreshOutcome& outcome = refresh();
    ASSERT_TRUE(outcome.is_good()) << outcome.reason;
    reader_->check_soon();
    const Attachment* attached = reader_->follow();
    ASSERT_NE(attached, nullptr);
    EXPECT_EQ(attached->snapshot().header().build_id, view_of(numbered_snapshot(pushed_)).header().build_id);
    expect_nothing_forgotten(added_.size());
  }

  // Each time a key is added and another build is pushed. `before` is done then.
  void expect_healed(const std::function<void()>& before) {
    add_and_push(0, false);
    expect_well();
    for_each_allocation(
        [&](std::uint64_t number, bool lasts) {
          add_and_push(number, lasts);
          before();
          const auto end = starve(number, lasts, [this] {
            refresher_->take_adds(now_, Changed::Anything);
            refresh();
          });
          if (end && !end->is_done) {
            EXPECT_TRUE(end->is_out_of_memory) << end->message;
            start();
          }
          expect_nothing_forgotten(added_.size() - 1);
          expect_well();
          return end.has_value();
        },
        {.dense = 40, .stride = 37});
  }

  std::optional<SetReader> reader_;
  std::vector<int> added_;
  std::size_t pushed_ = 0;
};

TEST_F(StarvedLoader, HealsAtTheNextLook) {
  expect_healed([] {});
}

TEST_F(StarvedLoader, HealsAfterAReboot) {
  expect_healed([this] { reboot(); });
}

TEST(StarvedSeenKeeper, ForgetsNothing) {
  const TemporaryDirectory folder(fast_folder());
  SeenHost host(clicks_config(), "dir:" + folder / "store");
  UnixSeconds now = kNoon;
  host.look(now);
  std::uint64_t key = 1;
  for_each_allocation(
      [&](std::uint64_t number, bool lasts) {
        EXPECT_TRUE(host.add(++key));
        now += 10 * kMinute;  // another window begins
        const auto end = starve(number, lasts, [&] { host.look(now); });
        if (end && !end->is_done) {
          EXPECT_TRUE(end->is_out_of_memory) << end->message;
          host.start();
        }
        EXPECT_TRUE(!host.worker().is_ready() || host.has(key));
        EXPECT_TRUE(host.look(now).is_good()) << host.report().reason;
        EXPECT_TRUE(host.has(key));
        EXPECT_LE(host.worker().filters().size(), 3U);
        return end.has_value();
      },
      {.dense = 100, .stride = 7});
}

}  // namespace
}  // namespace keysieve::test
