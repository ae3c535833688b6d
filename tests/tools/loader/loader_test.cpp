#include "tools/loader/loader.hpp"

#include <filesystem>
#include <thread>

#include "tests/support/redis_server.hpp"
#include "tests/tools/loader/site.hpp"

namespace keysieve::test {
namespace {

TEST(Loader, EndsARoundInTheMiddleOfAPullWhenToldTo) {
  Site site;
  site.configure(tags_set + shop_set);
  site.push("tags", kKeys);
  site.push("shop", kKeys);
  int calls = 0;
  // Two come before the cache is looked into, one before the store, one before the set, one while it is
  // pulled.
  int last_call = 5;
  Loader loader(load_config(site.config_path()), [&] { return ++calls < last_call; });
  loader.round();
  EXPECT_EQ(calls, 6);  // and one before the other set
  EXPECT_EQ(site.live("tags"), std::nullopt);
  EXPECT_EQ(site.live("shop"), std::nullopt);

  last_call = 100;
  loader.round();
  EXPECT_EQ(loader.exit_status(), 0);
  EXPECT_TRUE(site.knows("tags", kKeys));
  EXPECT_TRUE(site.knows("shop", kKeys));
}

// The record would be refused.
TEST(Loader, ReadsTheLogAloneWhenAWatchNamesNothingElse) {
  RedisServer redis;
  Site site;
  const std::string url = redis.unix_url();
  site.configure(tags_set, url);
  site.push("tags", kKeys, url);
  Loader loader(load_config(site.config_path()), [] { return true; });
  const auto hear = [&] {
    while (!loader.refresh_woken()) std::this_thread::yield();
  };
  loader.round();
  redis.command("SET keysieve:tags:current nonsense");
  site.add("tags", kAdded, url);
  hear();
  EXPECT_TRUE(site.knows("tags", kAdded));
  EXPECT_EQ(loader.exit_status(), 0) << loader.summary();
  redis.command("PUBLISH keysieve:changes keysieve:tags:current");
  hear();
  EXPECT_NE(loader.exit_status(), 0);
}

// By itself it would look once an hour.
TEST(Loader, IsDueSoonAfterAWatchHasFailed) {
  Site site;
  site.configure(tags_set, site.store_url(), "1h");
  site.push("tags", kKeys);
  Loader loader(load_config(site.config_path()), [] { return true; });
  loader.round();
  EXPECT_GT(loader.round_due_at(), SteadyTime::clock::now() + std::chrono::minutes(30));
  std::filesystem::rename(site.root() / "store", site.root() / "store.old");
  std::filesystem::rename(site.root() / "store.old", site.root() / "store");
  EXPECT_FALSE(loader.refresh_woken());
  EXPECT_TRUE(loader.descriptors().empty());
  EXPECT_LT(loader.round_due_at(), SteadyTime::clock::now() + std::chrono::minutes(1));
  loader.round();
  EXPECT_TRUE(loader.descriptors().empty()) << "not too often";
}

}  // namespace
}  // namespace keysieve::test
