#include <gmock/gmock.h>

#include "core/worker/shm/control_file.hpp"
#include "core/worker/shm/set_reader.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve::test {
namespace {

// Where a bypass begins and ends: histories_test.cpp.
class SetRefresherBypass : public SetRefresherTest {
 protected:
  [[nodiscard]] bool is_bypassed_here() const {
    SetReader reader({.directory = site_.directory()}, "tags");
    reader.follow();
    return reader.availability() == Availability::Bypassed;
  }
};

TEST_F(SetRefresherBypass, OfAllSetsDoesNotShortenThatOfASetWithoutAPointerRecord) {
  go_live();
  const auto store = open_store(site_.store_url());
  set_store_bypass(*store, "tags", 0);
  refresh();
  remove_record(*store, "keysieve:tags:current");
  set_store_bypass(*store, std::nullopt, unix_now() + 1000);
  refresh();
  SetReader reader({.directory = site_.directory()}, "tags");
  reader.follow();
  EXPECT_EQ(reader.control()->store_bypass_until, 0) << "without end";
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

}  // namespace
}  // namespace keysieve::test
