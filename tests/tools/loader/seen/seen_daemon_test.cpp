// keysieved itself with a seen set: started, killed, reloaded, without its store, and where it may not write.
#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "core/seen/seen_reader.hpp"
#include "core/seen/seen_writer.hpp"
#include "tests/support/mounted_tmpfs.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/segments.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"
#include "tools/loader/loader.hpp"
#include "tools/status/seen_status.hpp"
#include "tools/stores/store.hpp"
#include "tools/transfer/shared_seed.hpp"

namespace keysieve::test {
namespace {

class KeysievedSeen : public Keysieved {
 protected:
  // Its window does not end in the middle of a test.
  static std::string clicks(const std::string& rest = "") {
    return "[[seen]]\nname = \"clicks\"\nkeys = 400\nwindow = \"366d\"\nwindows = 2\n" + rest;
  }
  ~KeysievedSeen() override {
    keysieved_.reset();
    forget();
  }
  // As a reboot does.
  void forget() {
    reader_.reset();
    remove_segments_of(seen_directory(site_.directory()) + "/clicks");
    std::filesystem::remove_all(seen_directory(site_.directory()));
  }

  SeenReader& worker() {
    if (!reader_) reader_.emplace(ReaderSettings{.directory = site_.directory()}, "clicks");
    reader_->check_soon();
    reader_->follow();
    return *reader_;
  }
  [[nodiscard]] bool is_ready() {
    return eventually([this] { return worker().is_ready(); });
  }
  int add_many(int first, int count) {
    int added = 0;
    for (int i = 0; i < count; ++i) {
      SeenReader& reader = worker();
      added += reader.is_ready() && reader.add_if_new(reader.hasher()(key_number(first + i))) ? 1 : 0;
    }
    return added;
  }
  // The only shard of the only filter is in the store as it is in memory.
  [[nodiscard]] bool is_saved() {
    const auto store = open_store(site_.store_url());
    return eventually([&] {
      for (const std::string& key : store->keys_with_prefix("keysieve:seen.d:clicks:")) {
        const auto value = store->get(key);
        if (key.ends_with(":0") && value && value->ends_with(as_text(worker().filters().back().bytes())))
          return true;
      }
      return false;
    });
  }

  std::optional<SeenReader> reader_;
};

TEST_F(KeysievedSeen, KeepsASetThatLosesNothingWhenTheLoaderIsKilled) {
  site_.configure(clicks());
  start();
  ASSERT_TRUE(is_ready()) << worker().reason();
  EXPECT_EQ(add_many(0, 100), 100);
  keysieved_->send(SIGKILL);
  keysieved_.reset();
  EXPECT_EQ(add_many(0, 200), 100);
  start();
  ASSERT_TRUE(says("clicks: goes on with 1 filter")) << log();
  EXPECT_EQ(add_many(0, 200), 0);
  EXPECT_EQ(keysieved_->stop(), 0);
}

TEST_F(KeysievedSeen, RestoresAfterARebootWhatItHasSaved) {
  site_.configure(clicks("store = \"main\"\npersist_interval = \"1s\"\n"));
  start();
  ASSERT_TRUE(is_ready()) << worker().reason();
  EXPECT_EQ(add_many(0, 100), 100);
  ASSERT_TRUE(is_saved()) << log();
  keysieved_.reset();
  forget();
  start();
  ASSERT_TRUE(is_ready()) << worker().reason();
  EXPECT_TRUE(says("clicks: restored 1 filter from dir:")) << log();
  EXPECT_EQ(add_many(0, 100), 0);
}

TEST_F(KeysievedSeen, AnswersAsConfiguredWhereTheStoreIsMissing) {
  site_.configure(clicks("store = \"main\"\non_unavailable = \"new\"\n"));
  site_.remove_store();
  start();
  ASSERT_TRUE(eventually([this] { return worker().on_unavailable() == OnUnavailable::New; }));
  EXPECT_FALSE(worker().is_ready());
  EXPECT_TRUE(says("clicks: ")) << log();
}

// From the first look on, which saves everything and may take long.
TEST_F(KeysievedSeen, FollowsTheClockWhileItSaves) {
  site_.configure(clicks("store = \"main\"\n"));
  shared_seed(*open_store(site_.store_url()));
  StatusBoard board;
  std::optional<Loader> loader;
  bool follows = false;
  const auto on_progress = [&] {
    if (!loader || follows || !worker().is_ready()) return true;
    const UnixSeconds looked_at = worker().page()->looked_at;
    follows = eventually([&] {
      loader->follow_clock_of_seen_sets();
      return worker().page()->looked_at > looked_at;
    });
    return true;
  };
  loader.emplace(load_config(site_.config_path()), board, on_progress);
  loader->look_at_seen_sets();
  EXPECT_TRUE(follows);
}

// What is in its windows stays seen until they are over, so that a set may move to another loader.
TEST_F(KeysievedSeen, EndsASetThatIsNotConfiguredAnyMoreWhenItsWindowsAreOver) {
  const std::string short_set = "[[seen]]\nname = \"short\"\nkeys = 400\nwindow = \"1s\"\nwindows = 2\n";
  const std::string folder = seen_directory(site_.directory()) + "/short";
  site_.configure(clicks() + short_set);
  start();
  ASSERT_TRUE(is_ready()) << worker().reason();
  EXPECT_EQ(add_many(0, 100), 100);
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder + "/page"); }));
  SeenReader reader({.directory = site_.directory()}, "short");
  ASSERT_TRUE(eventually([&] {
    reader.check_soon();
    reader.follow();
    return reader.is_ready();
  }));
  const std::uint32_t key =
      reader.page()->copy_of_entry(SeenState::of(reader.page()->state).end - 1).segment_key;
  site_.configure(tags_set);
  keysieved_->send(SIGHUP);
  ASSERT_TRUE(says("short: is not configured any more; it ends when its windows are over")) << log();
  EXPECT_TRUE(says("short: is not configured any more and its windows are over; its memory is freed"))
      << log();
  EXPECT_FALSE(std::filesystem::exists(folder));
  EXPECT_THROW(Segment::attach(key, reader.filters().back().bytes().size(), ::geteuid(), "short"), Error);
  reader.check_soon();
  reader.follow();
  EXPECT_FALSE(reader.is_ready());
  // Its window lasts for a year.
  EXPECT_EQ(seen_status(site_.directory(), "clicks", unix_now()).troubles,
            std::vector<std::string_view>{"not_configured"});
  EXPECT_EQ(add_many(0, 200), 100);
  // As in another loader's configuration.
  site_.configure(clicks());
  keysieved_->send(SIGHUP);
  ASSERT_TRUE(eventually([&] {
    return seen_status(site_.directory(), "clicks", unix_now()).troubles.empty();
  })) << log();
  EXPECT_EQ(add_many(0, 200), 0);
}

// What it waits for cannot come any more.
TEST_F(KeysievedSeen, LeavesNothingOfASetThatWaitsForItsStore) {
  site_.configure(clicks("store = \"main\"\non_unavailable = \"new\"\n"));
  site_.remove_store();
  start();
  ASSERT_TRUE(eventually([this] { return worker().on_unavailable() == OnUnavailable::New; })) << log();
  site_.configure(tags_set);
  keysieved_->send(SIGHUP);
  EXPECT_TRUE(eventually([this] {
    return !std::filesystem::exists(seen_directory(site_.directory()) + "/clicks");
  })) << log();
}

// A set that this loader never had is another one's, even if that one does not run.
TEST_F(KeysievedSeen, LeavesASetOfAnotherConfigurationAlone) {
  {
    SeenWriter writer(site_.directory(), "clicks", std::nullopt);
    writer.create(42, OnUnavailable::Throw);
    writer.append(
        {{.window = {600, 1200, 600}, .capacity = 100, .rate = 0.01, .size = seen_size(100, 0.01)}});
  }
  ASSERT_TRUE(worker().is_ready());
  EXPECT_EQ(add_many(0, 10), 10);
  site_.configure(tags_set);
  start();
  ASSERT_TRUE(looks_again(3)) << log();
  EXPECT_EQ(add_many(0, 10), 0);
}

TEST_F(KeysievedSeen, ReloadsWithWhatIsThere) {
  site_.configure(clicks());
  start();
  ASSERT_TRUE(is_ready()) << worker().reason();
  EXPECT_EQ(add_many(0, 100), 100);
  site_.configure(clicks("on_unavailable = \"seen\"\n"));
  keysieved_->send(SIGHUP);
  ASSERT_TRUE(eventually([this] { return worker().on_unavailable() == OnUnavailable::Seen; })) << log();
  EXPECT_EQ(add_many(0, 200), 100);
}

TEST_F(KeysievedSeen, LivesNextToAPublishedSetOfTheSameName) {
  site_.push("clicks", kKeys);
  site_.configure("[[set]]\nname = \"clicks\"\nstore = \"main\"\n" + clicks());
  start();
  ASSERT_TRUE(is_ready()) << worker().reason();
  ASSERT_TRUE(follows("clicks", 1)) << log();
  EXPECT_EQ(add_many(5000, 100), 100);
  EXPECT_TRUE(site_.knows("clicks", kKeys));
}

TEST_F(KeysievedSeen, SaysThatTheDirectoryIsFullAndGoesOnWithTheOthers) {
  const MountedTmpfs full(site_.directory(), "64k");  // the page of a seen set has 76
  if (!full.is_there()) GTEST_SKIP() << "may not mount";
  site_.push("tags", first_keys(100));
  site_.configure(tags_set + clicks());
  start();
  ASSERT_TRUE(says("clicks: ")) << log();
  EXPECT_THAT(log(), ::testing::HasSubstr("No space left on device")) << log();
  EXPECT_EQ(add_many(0, 1), 0);
  EXPECT_TRUE(follows("tags", 1)) << log();
}

TEST_F(KeysievedSeen, GoesOnInADirectoryThatHasFilledUp) {
  const MountedTmpfs directory(site_.directory(), "128k");
  if (!directory.is_there()) GTEST_SKIP() << "may not mount";
  site_.configure(clicks());
  start();
  ASSERT_TRUE(is_ready()) << worker().reason();
  EXPECT_EQ(add_many(0, 100), 100);
  std::ofstream(site_.directory() + "/rest") << std::string(128 << 10, '.');
  EXPECT_EQ(std::filesystem::space(site_.directory()).free, 0U);
  EXPECT_EQ(add_many(0, 200), 100);
  keysieved_->send(SIGKILL);
  keysieved_.reset();
  start();
  ASSERT_TRUE(says("clicks: goes on with ")) << log();
  EXPECT_EQ(add_many(0, 300), 100);
  keysieved_.reset();
  forget();  // while its page is there
}

TEST_F(KeysievedSeen, FollowsPublishedSetsOfAStoreThatRefusesToSaveASeenOne) {
  const RedisServer redis;
  const RedisServer replica(following(redis));
  shared_seed(*open_store(redis.unix_url()));
  site_.push("tags", kKeys, redis.unix_url());
  redis.wait_for_replicas(1);
  site_.configure(tags_set + clicks("store = \"main\"\npersist_interval = \"1s\"\n"), replica.unix_url());
  start();
  ASSERT_TRUE(is_ready()) << worker().reason();
  ASSERT_TRUE(says("READONLY")) << log();
  EXPECT_EQ(add_many(0, 100), 100);
  site_.push("tags", kMoreKeys, redis.unix_url());
  EXPECT_TRUE(follows("tags", 2)) << log();
  EXPECT_EQ(add_many(0, 200), 100);
}

}  // namespace
}  // namespace keysieve::test
