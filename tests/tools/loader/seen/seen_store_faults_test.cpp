// Stores that lose or damage what hosts have sent, fail, or are away.
#include <thread>

#include "tests/support/redis_server.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using SeenStoreFaults = TwoSeenHosts;

TEST_F(SeenStoreFaults, AreReportedAsTheNumberOfLostOrDamagedEntries) {
  web1_.look(kNoon);
  for (std::uint64_t first = 0; first < 500; first += 100) {
    EXPECT_EQ(web1_.add_many(first, 100), 100U);
    web1_.look(kNoon + 1);
  }
  web1_.tap.after_log = [](std::vector<LogEntry>& found) {
    if (found.empty()) return;
    ASSERT_EQ(found.size(), 5U);
    found[1].key.at(40) ^= 1;
    found[2].key.at(7) = '9';
    found.erase(found.begin() + 3);
  };
  web1_.reboot_and_start();
  EXPECT_EQ(web1_.look(kNoon + 2).saves_lost, 3U);
  EXPECT_EQ(web1_.count_of(0, 500), 200U);
  EXPECT_EQ(web1_.count_of(0, 100), 100U);
  EXPECT_EQ(web1_.count_of(400, 100), 100U);
}

TEST_F(SeenStoreFaults, LeaveWhatIsIntactOfALogThatIsNot) {
  look(kNoon);
  web1_.stop();
  for (const std::uint64_t first : {0U, 100U}) {
    EXPECT_EQ(web2_.add_many(first, 100), 100U);
    web2_.look(kNoon + 1);
  }
  web1_.tap.after_log = [](std::vector<LogEntry>& found) {
    if (!found.empty()) found.front().key.resize(30);
  };
  web1_.start();
  EXPECT_THAT(web1_.look(kNoon + 2).reason, AllOf(HasSubstr(kSeenLog), HasSubstr("is not an entry")));
  EXPECT_EQ(web1_.count_of(0, 200), 100U);
}

// A store or this host may die between an append and the loader's note of it.
TEST_F(SeenStoreFaults, DoNoHarmWhenAnEntryIsSentTwice) {
  look(kNoon);
  EXPECT_EQ(web1_.add_many(0, 500), 500U);
  web1_.tap.after_append = [] { throw std::runtime_error("killed"); };
  EXPECT_THROW(web1_.look(kNoon + 1), std::runtime_error);
  web1_.tap.after_append = [] {};
  web1_.start();
  look(kNoon + 2);
  look(kNoon + 3);
  EXPECT_EQ(entries().size(), 2U);
  EXPECT_EQ(web1_.report().keys_saved, 500U);
  EXPECT_EQ(web2_.count_of(0, 500), 500U);
  EXPECT_LE(seen_fill(web2_.worker().filters().front()).keys, 520) << "what was sent short is longer there";
  web1_.reboot_and_start();
  EXPECT_EQ(web1_.look(kNoon + 4).saves_lost, 0U);
  EXPECT_EQ(web1_.count_of(0, 500), 500U);
}

// The log can be read all the time.
TEST_F(SeenStoreFaults, AreReportedUntilAllIsSavedAgain) {
  web1_.look(kNoon);
  EXPECT_TRUE(web1_.add(1));
  web1_.tap.after_append = [] { throw Error(ErrorKind::CannotCreate, "full"); };
  EXPECT_EQ(web1_.look(kNoon + 1).reason, "full");
  web1_.keeper().try_again_now();
  const SteadyTime later = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  web1_.keeper().look(later, {kNoon + 2, 32});
  EXPECT_TRUE(web1_.keeper().has_more());
  EXPECT_EQ(web1_.report().reason, "full") << "though it has read";
  web1_.tap.after_append = [] {};
  EXPECT_EQ(web1_.look(kNoon + 2).reason, "");
}

// A save takes a twentieth of a processor's time at most, but waiting takes none of it.
TEST(SeenSetWithASlowStore, IsSavedAsOftenAsWithAFastOne) {
  TemporaryDirectory folder;
  SeenHost host(clicks_config(), kLmdb.empty_store(folder));
  host.look(kNoon);
  host.tap.before_log = [] { std::this_thread::sleep_for(std::chrono::milliseconds(100)); };
  host.look(kNoon);
  host.add(1);
  const std::uint64_t saved = host.tap.entries_appended;
  const SteadyTime later = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  do host.keeper().look(later, {kNoon + 1, 31});
  while (host.keeper().has_more());
  EXPECT_GT(host.tap.entries_appended, saved);
}

TEST(SeenSetWithAClockThatIsAhead, TrimsNothingThatWasSavedSinceItLooked) {
  TemporaryDirectory folder;
  const std::string url = kLmdb.empty_store(folder);
  SeenHost host(clicks_config(), url);
  const UnixSeconds ahead = unix_now() + kHour;
  host.look(ahead);
  for (std::uint64_t key = 1; key <= 2; ++key) {
    host.add(key);
    host.look(ahead + static_cast<UnixSeconds>(key));
  }
  const auto saved = open_store(url)->read_after(kSeenLog, LogPosition{}, 10);
  ASSERT_EQ(saved.size(), 2U);
  host.look(ahead + 25 * kMinute);
  ASSERT_FALSE(host.tap.trimmed.empty());
  EXPECT_LT(host.tap.trimmed.back(), saved.back().position);
}

// As a failover to a server that is behind, or empty.
TEST(SeenSetWithoutItsStore, IsSavedAgainWhenTheStoreHasLostTheLogOrItsEnd) {
  RedisServer redis;
  for (const bool is_empty : {true, false}) {
    redis.command("FLUSHALL");
    SeenHost web1(clicks_config("web1"), redis.unix_url());
    SeenHost web2(clicks_config("web2"), redis.unix_url());
    web1.look(kNoon);
    web2.look(kNoon);
    EXPECT_EQ(web1.add_many(0, 100), 100U);
    EXPECT_EQ(web2.add_many(500, 100), 100U);
    web1.look(kNoon + 1);
    redis.command("COPY " + kSeenLog + " before");
    EXPECT_EQ(web1.add_many(100, 100), 100U);
    web1.look(kNoon + 2);
    web2.look(kNoon + 2);
    web1.look(kNoon + 2);
    redis.command(is_empty ? "DEL " + kSeenLog : "RENAME before " + kSeenLog);
    web1.look(kNoon + 10);  // it looks every 5 s
    web2.look(kNoon + 10);
    EXPECT_EQ(web1.look(kNoon + 11).reason, "");
    for (SeenHost* host : {&web1, &web2}) {
      host->reboot_and_start();
      EXPECT_EQ(host->look(kNoon + 12).reason, "");
      EXPECT_EQ(host->report().saves_lost, is_empty ? 0U : 1U) << "whose keys were saved again";
      EXPECT_EQ(host->count_of(0, 200), 200U) << is_empty;
      EXPECT_EQ(host->count_of(500, 100), 100U) << is_empty;
    }
  }
}

}  // namespace
}  // namespace keysieve::test
