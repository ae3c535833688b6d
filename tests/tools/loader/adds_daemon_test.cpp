#include <signal.h>

#include <filesystem>
#include <list>

#include "tests/support/redis_server.hpp"
#include "tests/tools/loader/adds/pouring_adds.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"
#include "tests/tools/loader/steady_reader.hpp"

namespace keysieve::test {
namespace {

// Told by the store alone: by itself it would look once an hour.
class KeysievedAdds : public Keysieved {
 protected:
  void begin(const std::string& poll_interval = "1h") {
    site_.push("tags", kKeys, url_);
    site_.configure(tags_set, url_, poll_interval);
    start();
    ASSERT_TRUE(follows("tags", 1)) << log();
  }
  // As any program would that knows nothing of keysieve.
  void add_by_redis_client(const std::string& key) const {
    std::string command = "*5\r\n";
    for (const std::string& word : {std::string("XADD"), std::string("keysieve:tags:adds"), std::string("*"),
                                    std::string("key"), key}) {
      command += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    }
    redis_.command(command);
  }
  [[nodiscard]] bool learns(KeyRange keys) const {
    return eventually([&] { return site_.knows("tags", keys); });
  }

  RedisServer redis_;
  std::string url_ = redis_.unix_url();
};

TEST_F(KeysievedAdds, IsNotStoppedByEntriesThatAreNoAdds) {
  begin();
  redis_.command("XADD keysieve:tags:adds * colour red");
  open_store(url_)->notify("keysieve:tags:adds");
  add_by_redis_client("");
  add_by_redis_client(std::string(kMaxLoggedKeyBytes + 1, 'x'));
  add_by_redis_client("key-5000");
  EXPECT_TRUE(learns(added_keys(1))) << log();
  EXPECT_TRUE(says("longer than can be added")) << log();
  EXPECT_TRUE(says("keysieve:tags:adds holds an entry with the field \"colour\"")) << log();
}

TEST_F(KeysievedAdds, EnlargesTheLayerUnderReadersThatNeverLoseAKey) {
  constexpr KeyRange kMany{100'000, 40'000};
  begin();
  std::list<SteadyReader> readers;
  for (int i = 0; i < 4; ++i) readers.emplace_back(site_, "tags", kMany);
  for (int done = 0; done < kMany.count; done += 1000) {
    site_.add("tags", {kMany.first + done, 1000}, url_);
    ASSERT_TRUE(learns({kMany.first + done, 1000})) << log();
    for (SteadyReader& reader : readers) reader.seen(done + 1000);
  }
  for (SteadyReader& reader : readers) EXPECT_EQ(reader.end(), 0);
  EXPECT_GE(keysieved_->lines_with("enlarged"), 3) << log();
}

TEST_F(KeysievedAdds, AnswersSignalsWhileAddsPourIn) {
  begin();
  const PouringAdds pouring(url_);
  ASSERT_TRUE(learns({PouringAdds::kFirst, 2000})) << log();
  keysieved_->send(SIGUSR1);
  EXPECT_TRUE(says("refreshing all sets now")) << log();
  keysieved_->send(SIGHUP);
  EXPECT_TRUE(says("configuration reloaded")) << log();
  ASSERT_TRUE(learns({PouringAdds::kFirst, 4000})) << log();
  EXPECT_EQ(keysieved_->stop(), 0);
}

// That shared memory was wiped, only a round finds.
TEST_F(KeysievedAdds, KeepsToItsRoundsWhileAddsPourIn) {
  site_.push("shop", first_keys(500), url_);
  site_.configure(tags_set + shop_set, url_, "100ms");
  site_.push("tags", kKeys, url_);
  start();
  ASSERT_TRUE(follows("shop", 1)) << log();
  const PouringAdds pouring(url_);
  ASSERT_TRUE(learns({PouringAdds::kFirst, 1000})) << log();
  std::filesystem::rename(site_.directory() + "/shop", site_.root() / "gone");
  EXPECT_TRUE(follows("shop", 1)) << log();
  EXPECT_TRUE(learns({PouringAdds::kFirst, 3000})) << log();
}

}  // namespace
}  // namespace keysieve::test
