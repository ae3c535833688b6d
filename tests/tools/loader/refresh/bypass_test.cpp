#include <gmock/gmock.h>

#include "core/publisher/shm/bypass.hpp"
#include "core/worker/shm/control_file.hpp"
#include "core/worker/shm/set_reader.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve::test {
namespace {

class SetRefresherBypass : public SetRefresherTest {
 protected:
  SetRefresherBypass() { site_.push("tags", kKeys); }

  static inline const std::string kPointer = "keysieve:tags:current";

  [[nodiscard]] bool is_bypassed_here() const {
    SetReader reader({.directory = site_.directory()}, "tags");
    reader.follow();
    return reader.availability() == Availability::Bypassed;
  }
  void bypass(const std::optional<std::string>& set_name, UnixSeconds until = 0) const {
    set_store_bypass(*open_store(site_.store_url()), set_name, until);
  }
  void lift(const std::optional<std::string>& set_name) const {
    set_store_bypass(*open_store(site_.store_url()), set_name, {});
  }
};

TEST_F(SetRefresherBypass, FollowsTheRecordsOfTheSetAndOfAllSets) {
  for (const auto& set_name : {std::optional<std::string>("tags"), std::optional<std::string>()}) {
    refresh();
    EXPECT_FALSE(is_bypassed_here());
    bypass(set_name);
    EXPECT_EQ(trouble(), Trouble::None);
    EXPECT_TRUE(is_bypassed_here());
    lift(set_name);
    refresh();
    EXPECT_FALSE(is_bypassed_here());
  }
}

TEST_F(SetRefresherBypass, StaysWhileTheStoreIsAway) {
  bypass("tags");
  refresh();
  site_.remove_store();
  EXPECT_EQ(trouble(), Trouble::StoreUnreachable);
  EXPECT_TRUE(is_bypassed_here());
}

TEST_F(SetRefresherBypass, DoesNotTouchTheOperatorsOwn) {
  refresh();
  set_bypass(site_.directory(), "tags", 0);
  refresh();
  EXPECT_TRUE(is_bypassed_here());
  bypass("tags");
  refresh();
  set_bypass(site_.directory(), "tags", kBypassOver);
  EXPECT_TRUE(is_bypassed_here());
}

TEST_F(SetRefresherBypass, OfTheSetStaysAndOfAllSetsBeginsWhileThePointerRecordIsMissingOrDamaged) {
  refresh();
  const auto store = open_store(site_.store_url());
  const std::string whole = store->get(kPointer).value();
  for (const std::string& damaged : {std::string(), std::string("{"), std::string(kMaxValueBytes + 1, ' ')}) {
    for (const bool is_of_all : {false, true}) {
      if (!is_of_all) bypass("tags");
      refresh();
      damaged.empty() ? remove_record(*store, kPointer) : site_.write("store/" + kPointer, damaged);
      if (is_of_all) bypass(std::nullopt);
      EXPECT_EQ(trouble(), damaged.empty() ? Trouble::NeverPushed : Trouble::Refused);
      EXPECT_TRUE(is_bypassed_here()) << damaged.size();
      lift(std::nullopt);
      refresh();
      EXPECT_TRUE(is_bypassed_here()) << "as long as the store does not say that the set is not";
      put(*store, kPointer, whole);
      EXPECT_EQ(trouble(), Trouble::None);
      EXPECT_FALSE(is_bypassed_here());
    }
  }
}

TEST_F(SetRefresherBypass, OfAllSetsDoesNotShortenThatOfASetWithoutAPointerRecord) {
  bypass("tags");
  refresh();
  remove_record(*open_store(site_.store_url()), kPointer);
  bypass(std::nullopt, unix_now() + 1000);
  refresh();
  SetReader reader({.directory = site_.directory()}, "tags");
  reader.follow();
  EXPECT_EQ(reader.control()->store_bypass_until, 0) << "without end";
}

TEST_F(SetRefresherBypass, IsInForceWhileTheRecordOfAllSetsSaysNothing) {
  put(*open_store(site_.store_url()), "keysieve:bypass", "on");
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_TRUE(is_bypassed_here());
}

TEST_F(SetRefresherBypass, StaysAsItWasWhileNoRecordOfTheStoreCanBeRead) {
  url_ = "lmdb:" + site_.root() / "lmdb";
  site_.push("tags", kKeys, url_);
  EXPECT_EQ(trouble(), Trouble::None);
  const std::string data = site_.root() / "lmdb/data.mdb";  // two pages, then what they lead to
  const auto size = std::filesystem::file_size(data);
  std::filesystem::resize_file(data, 2 * kPageBytes);
  std::filesystem::resize_file(data, size);
  EXPECT_THAT(refresh(), IsRefused());
  EXPECT_FALSE(is_bypassed_here());
  EXPECT_EQ(site_.live_generation("tags"), 1U);
}

TEST_F(SetRefresherBypass, StaysAsItWasWhileOnlyTheAddsLogCanBeRead) {
  RedisServer& server = shared_redis();
  server.command("FLUSHALL");
  url_ = server.tcp_url();
  site_.push("tags", kKeys, url_);
  EXPECT_EQ(trouble(), Trouble::None);
  for (const std::string key : {"keysieve:tags:current", "keysieve:bypass"}) {
    server.command("DEL " + key);
    server.command("LPUSH " + key + " x");
  }
  site_.add("tags", kAdded, url_);
  EXPECT_THAT(refresh(), IsRefused());
  EXPECT_FALSE(is_bypassed_here());
  EXPECT_TRUE(site_.knows("tags", kAdded));
}

TEST_F(SetRefresherBypass, IsInForceAgainWhenSharedMemoryWasWiped) {
  bypass("tags");
  refresh();
  site_.wipe_shared_memory();
  refresh();
  EXPECT_TRUE(is_bypassed_here());
}

TEST_F(SetRefresherBypass, IsInForceBeforeTheFirstPush) {
  open_store(site_.store_url())->remove_many(std::vector<std::string>{"keysieve:tags:current"});
  bypass(std::nullopt);
  EXPECT_EQ(trouble(), Trouble::NeverPushed);
  go_live();
  EXPECT_TRUE(is_bypassed_here());
}

}  // namespace
}  // namespace keysieve::test
