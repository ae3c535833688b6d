// memcached restarts empty and is emptied: what is live stays live, and a reboot is survived too.
#include "tests/support/matchers.hpp"
#include "tests/support/memcached_server.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"

namespace keysieve::test {
namespace {

class SetRefresherAtMemcached : public SetRefresherTest {
 protected:
  SetRefresherAtMemcached() {
    url_ = patient(server_.url());
    site_.push("tags", kKeys, url_);
    EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  }

  void expect_first_stays_live() {
    EXPECT_EQ(refresher_->outcome().live->generation, 1U);
    EXPECT_TRUE(site_.knows("tags", kKeys));
    EXPECT_FALSE(site_.knows("tags", kTwiceAsManyKeys)) << "it answers, and not maybe to everything";
  }
  void reboot() {
    site_.wipe_shared_memory();
    start();
  }

  MemcachedServer server_;
};

TEST_F(SetRefresherAtMemcached, KeepsWhatIsLiveWhenEverythingIsForgotten) {
  for (const bool restarts : {false, true}) {
    if (restarts) {
      server_.kill();
      EXPECT_EQ(trouble(), Trouble::StoreUnreachable);
      expect_first_stays_live();
      server_.start();
    } else {
      server_.flush();
    }
    const RefreshOutcome& outcome = refresh();
    EXPECT_EQ(outcome.trouble, Trouble::NeverPushed);
    EXPECT_EQ(outcome.exit_status, 66);
    EXPECT_THAT(outcome.reason, HasSubstr("holds no snapshot of it any more: push again"));
    expect_first_stays_live();
  }
  reboot();
  EXPECT_EQ(trouble(), Trouble::NeverPushed);
  expect_first_stays_live();
  EXPECT_EQ(site_.push("tags", kMoreKeys, url_).generation, 1U) << "the numbers begin again";
  EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  EXPECT_TRUE(site_.knows("tags", kMoreKeys));
}

}  // namespace
}  // namespace keysieve::test
