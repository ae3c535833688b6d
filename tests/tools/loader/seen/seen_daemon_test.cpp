// keysieved itself with a seen set: started, killed, reloaded, without its store, and where it may not write.
#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "core/publisher/seen/seen_sizing.hpp"
#include "core/worker/seen/seen_reader.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/mounts.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"
#include "tools/loader/loader.hpp"
#include "tools/loader/seen/seen_log.hpp"
#include "tools/status/seen_set_facts.hpp"
#include "tools/stores/store.hpp"

namespace keysieve::test {
namespace {

using Codes = std::vector<std::string_view>;

// With the seen set "clicks", which a worker asks.
class KeysievedSeen : public Keysieved {
 protected:
  // Its window does not end in the middle of a test.
  static std::string clicks(const std::string& rest = "") {
    return "[[seen]]\nname = \"clicks\"\nkeys = 1000\nwindow = \"366d\"\nwindows = 2\n" + rest;
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
      const bool is_new =
          reader.is_ready() && reader.add_if_new(reader.hasher()(key_number(first + i))) == SeenAnswer::New;
      added += is_new ? 1 : 0;
    }
    return added;
  }
  // Keys that were sent to the store. Entries are small, so none is sent in two parts.
  [[nodiscard]] std::size_t saved_keys() const {
    std::size_t keys = 0;
    const auto store = open_store(site_.store_url());
    for (const LogEntry& one : store->read_after("keysieve:seen.d:clicks:log", LogPosition{}, 1'000))
      keys += decode_seen_log_entry(one.key, "log").tags.size();
    return keys;
  }

  std::optional<SeenReader> reader_;
};

TEST_F(KeysievedSeen, SavesWhatIsNewBeforeItEndsOrBeginsAgainAndNothingTwice) {
  const std::string hourly = clicks("store = \"main\"\nsave_interval = \"1h\"\n");
  site_.configure(hourly);
  start();
  ASSERT_TRUE(is_ready()) << worker().reason();
  ASSERT_TRUE(says("clicks: begun")) << log();
  EXPECT_EQ(add_many(0, 100), 100);
  keysieved_->send(SIGHUP);
  ASSERT_TRUE(eventually([&] { return saved_keys() == 100; })) << log();
  EXPECT_TRUE(says("configuration reloaded")) << log();
  EXPECT_EQ(add_many(100, 100), 100);
  EXPECT_EQ(keysieved_->stop(), 0);
  EXPECT_EQ(saved_keys(), 200U);
  start();
  ASSERT_TRUE(says("clicks: goes on with 1 filter")) << log();
  EXPECT_EQ(keysieved_->stop(), 0);
  EXPECT_EQ(saved_keys(), 200U);
  keysieved_.reset();
  forget();
  start();
  ASSERT_TRUE(is_ready()) << worker().reason();
  EXPECT_TRUE(says("clicks: restored 1 filter from dir:")) << log();
  EXPECT_EQ(add_many(0, 200), 0);
}

// Neither by its file nor by its page.
TEST_F(KeysievedSeen, KeepsItsLocksWhileItReloads) {
  site_.configure(clicks());
  start();
  ASSERT_TRUE(is_ready()) << worker().reason();
  EXPECT_EQ(add_many(0, 100), 100);
  for (int reloads = 1; reloads <= 3; ++reloads) {
    keysieved_->send(SIGHUP);
    ASSERT_TRUE(eventually([&] {
      EXPECT_EQ(failure_of([&] { SeenWriter(site_.directory(), "clicks", std::nullopt); }),
                ErrorKind::Locked);
      return keysieved_->lines_with("clicks: goes on with 1 filter") == reloads;
    })) << log();
  }
  EXPECT_EQ(keysieved_->lines_with("locked"), 0) << log();
  EXPECT_EQ(add_many(0, 200), 100);
  EXPECT_EQ(keysieved_->stop(), 0);
  EXPECT_TRUE(SeenWriter(site_.directory(), "clicks", std::nullopt).adopt());
}

SeenConfig clicks_of_another_host() {
  SeenConfig config = clicks_config("web2");
  config.keys = 1'000;
  config.window = std::chrono::hours(24) * 366;
  return config;
}

TEST_F(KeysievedSeen, LearnsWhatAnotherHostAddsWithinTheTimeOfAMessage) {
  site_.configure(clicks("store = \"main\"\nsave_interval = \"1h\"\nhost = \"web1\"\n"));
  start();
  ASSERT_TRUE(is_ready()) << worker().reason();
  SeenHost other(clicks_of_another_host(), site_.store_url());
  other.look(unix_now());
  EXPECT_EQ(other.add_many(0, 100), 100U);
  EXPECT_EQ(other.look(unix_now()).reason, "");
  SeenReader& reader = worker();
  EXPECT_TRUE(eventually([&] { return seen_fill(reader.filters().back()).keys > 99; })) << log();
}

// Each time another host has sent more than a step reads.
TEST_F(KeysievedSeen, HoldsUpNoPublishedSetWhileItRestoresOrExchanges) {
  site_.configure(tags_set + clicks("store = \"main\"\nsave_interval = \"1h\"\n"));
  SeenHost other(clicks_of_another_host(), site_.store_url());
  other.look(unix_now());
  Loader loader(load_config(site_.config_path()), [] { return true; });
  for (const int keys : {40, 80}) {
    for (int key = keys - 40; key < keys; ++key) {
      EXPECT_TRUE(other.add(static_cast<std::uint64_t>(key)));
      other.save();
    }
    site_.push("tags", {0, 1000 + keys});
    loader.try_again_now();
    loader.round();
    EXPECT_TRUE(site_.knows("tags", {0, 1000 + keys})) << loader.summary();
    EXPECT_TRUE(loader.has_more());
    while (loader.has_more()) loader.look_at_seen_sets();
    ASSERT_TRUE(worker().is_ready()) << worker().reason();
    EXPECT_GT(seen_fill(worker().filters().back()).keys, keys - 1);
  }
}

TEST_F(KeysievedSeen, GoesOnWithASetThatItHasLeftIfTheNextProgramDoesNotBegin) {
  site_.configure(clicks("store = \"main\"\n"));
  LoaderConfig config = load_config(site_.config_path());
  LoaderConfig without = config;
  without.seen.clear();
  site_.remove_store();
  Loader loader(config, [] { return true; });
  loader.look_at_seen_sets();
  EXPECT_TRUE(loader.hand_over(without).empty());
  std::filesystem::remove(site_.root() / "store");
  open_store(site_.store_url());
  loader.try_again_now();
  do loader.look_at_seen_sets();
  while (loader.has_more());
  ASSERT_TRUE(worker().is_ready()) << worker().reason() << loader.summary();
  const auto troubles = [&] { return seen_set_facts(site_.directory(), "clicks", unix_now()).troubles; };
  EXPECT_EQ(loader.hand_over(config).size(), 2U) << "the lock and the page's";
  EXPECT_EQ(troubles(), Codes{});
  config.directory = site_.root() / "other";
  EXPECT_TRUE(loader.hand_over(config).empty());
  EXPECT_EQ(troubles(), Codes{"not_configured"});
}

TEST_F(KeysievedSeen, SaysThatTheDirectoryIsFullAndGoesOnWithTheOthers) {
  const MountedTmpfs full(site_.directory(), "128k");  // the page of a seen set has 164
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
  const MountedTmpfs directory(site_.directory(), "256k");
  if (!directory.is_there()) GTEST_SKIP() << "may not mount";
  site_.configure(clicks());
  start();
  ASSERT_TRUE(is_ready()) << worker().reason();
  EXPECT_EQ(add_many(0, 100), 100);
  std::ofstream(site_.directory() + "/rest") << std::string(256 << 10, '.');
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

}  // namespace
}  // namespace keysieve::test
