#include <filesystem>

#include "tests/support/store_kinds.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve::test {
namespace {

// A loader that looks by itself once an hour, and asks a silent server again after some minutes: what it sees
// before, the store has told.
class KeysievedWatching : public Keysieved, public ::testing::WithParamInterface<StoreKind> {
 protected:
  void start_for(const std::string& sets) {
    site_.configure(sets, url_, "1h");
    start();
  }

  std::string url_ = GetParam().empty_store(site_.root());
};

TEST_P(KeysievedWatching, SeesPushRollbackAndBypassWhenItIsTold) {
  site_.push("tags", kKeys, url_);
  start_for(tags_set);
  ASSERT_TRUE(follows("tags", 1)) << log();
  site_.push("tags", kMoreKeys, url_);
  ASSERT_TRUE(follows("tags", 2)) << log();
  site_.roll_back("tags", url_);
  ASSERT_TRUE(follows("tags", 3)) << log();
  const auto store = open_store(url_);
  set_store_bypass(*store, "tags", {});
  wake_loaders(*store, "tags");
  EXPECT_TRUE(eventually([&] { return !site_.knows("tags", first_keys(1)); })) << log();
  clear_store_bypass(*store, "tags");
  wake_loaders(*store, "tags");
  EXPECT_TRUE(eventually([&] { return site_.knows("tags", first_keys(1)); })) << log();
}

TEST_P(KeysievedWatching, SeesTheFirstPushWhenItIsTold) {
  open_store(url_);  // makes it
  start_for(tags_set);
  ASSERT_TRUE(says("holds no snapshot of it")) << log();
  site_.push("tags", kKeys, url_);
  EXPECT_TRUE(follows("tags", 1)) << log();
}

TEST_P(KeysievedWatching, SeesTheAddsOfEverySetWhenItIsTold) {
  site_.push("tags", kKeys, url_);
  site_.push("shop", kKeys, url_);
  start_for(tags_set + shop_set);
  ASSERT_TRUE(follows("shop", 1)) << log();
  ASSERT_TRUE(follows("tags", 1)) << log();
  for (int i = 0; i < 3; ++i) {
    for (const char* set_name : {"shop", "tags"}) {
      site_.add(set_name, {5000 + i, 1}, url_);
      EXPECT_TRUE(eventually([&] { return site_.knows(set_name, {5000 + i, 1}); })) << log();
    }
  }
  EXPECT_EQ(site_.live("tags")->id.publication, 1U);
}

INSTANTIATE_TEST_SUITE_P(Stores, KeysievedWatching, every_store_and_sentinel, store_kind_name);
#ifdef KEYSIEVE_REDIS_TLS
INSTANTIATE_TEST_SUITE_P(OverTls, KeysievedWatching, every_redis_over_tls, store_kind_name);
#endif

}  // namespace
}  // namespace keysieve::test
