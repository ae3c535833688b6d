// Patterns: which sets of a store the loader follows, and that no store makes it lose one.
#include "tools/loader/found_sets.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/support/redis_server.hpp"
#include "tests/support/store_decorator.hpp"
#include "tests/tools/loader/site.hpp"
#include "tools/loader/loader.hpp"
#include "tools/status/set_facts.hpp"
#include "tools/transfer/delete_set.hpp"
#include "tools/transfer/store_bypass.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kShops = "[[set]]\nname = \"shop-*\"\nstore = \"main\"\n";

class Patterns : public ::testing::Test {
 protected:
  // Begins with that configuration, as after a restart.
  void start(const std::string& sets = kShops) { start(sets, site_.store_url()); }
  void start(const std::string& sets, const std::string& url) {
    site_.configure(sets, url);
    loader_.reset();
    begin({});
  }
  void reload(const std::string& sets = kShops) {
    site_.configure(sets);
    begin(loader_->leave_sets(load_config(site_.config_path())));
  }
  void begin(const std::set<std::string>& followed) {
    loader_.emplace(
        load_config(site_.config_path()), board_,
        [&] {
          on_progress_();
          return !is_stopped_;
        },
        followed);
  }
  void round() {
    loader_->try_again_now();
    loader_->round();
  }
  void push(const std::string& set_name) { site_.push(set_name, first_keys(100)); }
  void delete_from_store(const std::string& set_name) const {
    delete_set(*open_store(site_.store_url()), set_name);
  }
  // As a store does that evicts, or was wiped.
  void lose(const std::string& set_name) const {
    const auto store = open_store(site_.store_url());
    const std::string key = pointer_key(*store, set_name);
    store->remove_many({&key, 1});
  }
  void change(const std::string& set_name, const PointerChange& change) const {
    change_pointer(*open_store(site_.store_url()), set_name, change);
  }
  // Whether what is added to it now arrives.
  [[nodiscard]] bool receives(const std::string& set_name) {
    site_.add(set_name, kAdded);
    round();
    return site_.knows(set_name, kAdded);
  }
  void put(const std::string& key, const std::string& value) const {
    const Record record{key, value};
    open_store(site_.store_url())->put_many({&record, 1});
  }
  [[nodiscard]] PatternReport report() const { return board_.read().patterns.at(0); }
  [[nodiscard]] std::vector<std::string> followed() const {
    std::vector<std::string> names;
    for (const auto& set : board_.read().sets) names.push_back(set->name);
    return names;
  }
  [[nodiscard]] SetFacts facts(const std::string& set_name) const {
    SetReader reader({.directory = site_.directory(), .max_jitter = std::chrono::milliseconds(0)}, set_name);
    reader.follow();
    return set_facts(reader, unix_now(), Reading::Headers);
  }
  [[nodiscard]] std::vector<std::string_view> troubles(const std::string& set_name) const {
    return facts(set_name).troubles;
  }

  Site site_;
  StatusBoard board_;
  std::function<void()> on_progress_ = [] {};
  bool is_stopped_ = false;
  std::optional<Loader> loader_;
};

TEST_F(Patterns, FollowWhatTheStoreHoldsAndWhatComesLater) {
  for (const char* name : {"shop-1", "shop-2", "tags"}) push(name);
  start();
  EXPECT_FALSE(loader_->is_ready());
  round();
  EXPECT_EQ(loader_->exit_status(), 0) << loader_->summary();
  EXPECT_TRUE(loader_->is_ready());
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2"));
  push("shop-3");
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2", "shop-3"));
  EXPECT_EQ(report().sets, 3U);
  for (const char* name : {"shop-1", "shop-2", "shop-3"}) EXPECT_EQ(site_.live_generation(name), 1U) << name;
  EXPECT_EQ(site_.live_generation("tags"), 0U);
  EXPECT_EQ(loader_->summary(), "3 of 3 sets current");
  site_.add("shop-3", kAdded);
  round();
  EXPECT_TRUE(site_.knows("shop-3", kAdded));
}

// Neither at the start, nor when more sets come.
TEST_F(Patterns, AreReadyWhenAllThatTheyHaveFoundIsLiveAndStaySo) {
  for (const char* name : {"shop-1", "shop-2"}) push(name);
  on_progress_ = [&] {
    if (!board_.read().is_ready) return;
    EXPECT_EQ(site_.live_generation("shop-2"), 1U);
  };
  start();
  round();
  EXPECT_TRUE(board_.read().is_ready);
  for (const char* name : {"shop-3", "shop-4"}) push(name);
  on_progress_ = [&] { EXPECT_TRUE(board_.read().is_ready); };
  round();
  EXPECT_EQ(site_.live_generation("shop-4"), 1U);
}

TEST_F(Patterns, HaveNoNameThatIsConfiguredItself) {
  for (const char* name : {"shop-1", "shop-2"}) push(name);
  start(kShops + "[[set]]\nname = \"shop-1\"\nstore = \"main\"\nmin_keys = 1000\n");
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2"));
  EXPECT_EQ(report().sets, 1U);
  EXPECT_EQ(site_.live_generation("shop-1"), 0U) << "its own guard refuses it";
  EXPECT_EQ(site_.live_generation("shop-2"), 1U);
}

// Also one that comes in front of it, or else a reload would leave what is followed.
TEST_F(Patterns, GiveASetToTheFirstThatMatches) {
  for (const char* name : {"shop-1", "shop-eu"}) push(name);
  start();
  round();
  reload("[[set]]\nname = \"*-eu\"\nstore = \"main\"\n" + kShops);
  push("shop-eu");
  push("shop-2");
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-eu", "shop-1", "shop-2"));
  EXPECT_EQ(site_.live_generation("shop-eu"), 2U);
  EXPECT_EQ(report().sets, 1U);
  EXPECT_EQ(loader_->exit_status(), 0);
}

TEST_F(Patterns, SayThatASetIsNotFollowedFromAStoreThatComesSecond) {
  const std::string other = std::filesystem::path(site_.config_path()).replace_filename("other");
  site_.push("shop-eu", first_keys(200), "dir:" + other);
  site_.push("shop-1", first_keys(200), "dir:" + other);
  push("shop-1");
  const std::string second =
      "[store.other]\nurl = \"dir:" + other + "\"\n[[set]]\nname = \"*\"\nstore = \"other\"\n";
  start(kShops + second);
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1"));
  EXPECT_EQ(facts("shop-1").published->key_count, 100U) << "of the first pattern's store";
  EXPECT_EQ(board_.read().patterns.at(1).reason,
            "shop-1 is not followed from here: shop-* of store main comes first; and 1 more");
  EXPECT_EQ(loader_->exit_status(), 78);
}

TEST_F(Patterns, TakeNoMoreSetsThanTheyMay) {
  for (const char* name : {"shop-1", "shop-2", "shop-3", "shop-4"}) push(name);
  start(kShops + "max_sets = 2\n");
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2"));
  EXPECT_EQ(report().reason, "max_sets = 2 leaves out 2 sets of the store");
  EXPECT_EQ(loader_->exit_status(), 78);
  push("shop-0");
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2")) << "which were there before";
  delete_from_store("shop-1");
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-0", "shop-2"));
  EXPECT_EQ(report().reason, "max_sets = 2 leaves out 2 sets of the store");
  for (const char* name : {"shop-3", "shop-4"}) delete_from_store(name);
  round();
  EXPECT_TRUE(report().is_good()) << "deleted sets need no room, but: " << report().reason;
}

// One that is not followed any more would go on to answer absent for keys that are added.
TEST_F(Patterns, FollowWhatWasFollowedWhateverMaxSetsSays) {
  for (const char* name : {"shop-1", "shop-2", "shop-3"}) push(name);
  start(kShops + "max_sets = 2\n");
  round();
  reload(kShops + "max_sets = 1\n");
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2"));
  EXPECT_EQ(report().reason, "max_sets = 1 leaves out 1 set of the store");
  start(kShops + "max_sets = 1\n");
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2")) << "after a restart";
  EXPECT_TRUE(receives("shop-2"));
}

TEST_F(Patterns, FollowANamedSetThatBecomesTheirs) {
  for (const char* name : {"shop-1", "shop-2"}) push(name);
  start("[[set]]\nname = \"shop-2\"\nstore = \"main\"\n");
  round();
  reload(kShops + "max_sets = 1\n");
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-2"));
  EXPECT_TRUE(receives("shop-2"));
  start(kShops + "max_sets = 1\n");
  EXPECT_THAT(followed(), ElementsAre("shop-2")) << "after a restart";
}

TEST_F(Patterns, ServeWhatTheyHadFoundFromTheCacheWhileTheStoreIsAway) {
  for (const char* name : {"shop-1", "shop-2"}) push(name);
  start();
  round();
  site_.wipe_shared_memory();
  site_.remove_store();
  start();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2"));
  round();
  for (const char* name : {"shop-1", "shop-2"}) EXPECT_TRUE(site_.knows(name, first_keys(100))) << name;
  EXPECT_THAT(report().reason, HasSubstr(site_.store_url()));
  EXPECT_EQ(report().sets, 2U);
  EXPECT_NE(loader_->exit_status(), 0);
  EXPECT_TRUE(loader_->is_ready());
}

TEST_F(Patterns, KeepEverySetOfAStoreThatHasLostAll) {
  for (const char* name : {"shop-1", "shop-2"}) push(name);
  start();
  round();
  for (const char* name : {"shop-1", "shop-2"}) lose(name);
  for (int i = 0; i < 3; ++i) round();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2"));
  for (const char* name : {"shop-1", "shop-2"}) {
    EXPECT_EQ(site_.live_generation(name), 1U) << name;
    EXPECT_THAT(troubles(name), ElementsAre("not_pushed")) << name;
  }
}

TEST_F(Patterns, KeepEverySetOfAWipedStoreThatIsFilledAgainOneByOne) {
  for (const char* name : {"shop-1", "shop-2", "shop-3"}) push(name);
  start();
  round();
  for (const char* name : {"shop-1", "shop-2", "shop-3"}) lose(name);
  round();
  push("shop-1");
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2", "shop-3"));
  EXPECT_TRUE(receives("shop-2"));
  set_store_bypass(*open_store(site_.store_url()), "shop-2", {.until = 0, .set_at = 1});
  round();
  EXPECT_TRUE(facts("shop-2").bypasses->in_store.is_on);
  site_.wipe_shared_memory();
  site_.remove_store();
  start();
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2", "shop-3"));
  EXPECT_TRUE(site_.knows("shop-2", first_keys(100)));
  EXPECT_TRUE(site_.knows("shop-2", kAdded));
}

// A push announces itself in the record before anything is current, and may be killed there.
TEST_F(Patterns, KeepALostSetThatIsAboutToBePushedAgain) {
  push("shop-1");
  start();
  round();
  lose("shop-1");
  change("shop-1", [](PointerRecord& pointer) {
    pointer.pending.push_back({.push_id = {1}, .chunk_count = 1});
    return true;
  });
  round();
  EXPECT_TRUE(receives("shop-1"));
  change("shop-1", [](PointerRecord& pointer) {
    pointer.pending.clear();  // as the next push does
    return true;
  });
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1"));
  EXPECT_TRUE(receives("shop-1"));
}

TEST_F(Patterns, LeaveASetThatIsDeletedAndTakeItAgain) {
  for (const char* name : {"shop-1", "shop-2"}) push(name);
  start();
  round();
  delete_from_store("shop-1");
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-2"));
  EXPECT_EQ(site_.live_generation("shop-1"), 1U) << "stays live";
  EXPECT_THAT(troubles("shop-1"), ElementsAre("not_configured"));
  EXPECT_EQ(loader_->exit_status(), 0) << loader_->summary();
  EXPECT_EQ(report().sets, 1U);
  start();
  EXPECT_THAT(followed(), ElementsAre("shop-2")) << "after a restart";
  push("shop-1");
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2"));
  EXPECT_THAT(troubles("shop-1"), IsEmpty());
  delete_from_store("shop-1");
  delete_from_store("shop-2");
  round();
  EXPECT_THAT(followed(), IsEmpty()) << "also the last one";
}

TEST_F(Patterns, StayReadyWhenTheConfigurationIsReloaded) {
  push("shop-1");
  start();
  round();
  int unready = 0;
  on_progress_ = [&] { unready += board_.read().is_ready ? 0 : 1; };
  reload();
  round();
  EXPECT_EQ(unready, 0);
  EXPECT_THAT(followed(), ElementsAre("shop-1"));
  EXPECT_THAT(troubles("shop-1"), IsEmpty());
  reload(tags_set);
  EXPECT_THAT(troubles("shop-1"), ElementsAre("not_configured"));
  EXPECT_EQ(site_.live_generation("shop-1"), 1U);
}

TEST_F(Patterns, KeepNoOtherSetFromBeingServedWhenOneCannotBePublished) {
  for (const char* name : {"shop-1", "shop-2"}) push(name);
  site_.write("shm/shop-1", "in the way");
  start();
  round();
  EXPECT_NE(loader_->exit_status(), 0);
  EXPECT_EQ(site_.live_generation("shop-2"), 1U);
  EXPECT_TRUE(loader_->is_ready());
}

TEST_F(Patterns, SaveTheirSetsBeforeTheyPullThem) {
  for (const char* name : {"shop-1", "shop-2"}) push(name);
  on_progress_ = [&] {
    if (site_.live_generation("shop-1") == 0) return;
    EXPECT_TRUE(std::filesystem::exists(site_.cache() + "/found.sets"));
  };
  start();
  round();
  EXPECT_EQ(site_.live_generation("shop-1"), 1U);
}

// The failure is what the followed set met last; since then, it does not come to ask.
TEST_F(Patterns, LookAgainInAStoreThatIsBackThoughNoneOfTheirSetsCanAskIt) {
  push("shop-1");
  start();
  round();
  const std::string store = site_.root() / "store";
  std::filesystem::rename(store, store + ".away");
  round();
  EXPECT_FALSE(report().is_good());
  std::filesystem::rename(store + ".away", store);
  site_.wipe_shared_memory();
  site_.write("shm/shop-1", "in the way");
  push("shop-2");
  round();
  EXPECT_EQ(site_.live_generation("shop-2"), 1U) << report().reason;
}

TEST_F(Patterns, TakeNoRecordThatIsNoSet) {
  push("shop-1");
  put("keysieve:shop-UP:current", "{}");
  put("keysieve:shop-..:current", "{}");
  put("keysieve:shop-2:bypass", "{}");
  put("keysieve:shop-bad:current", "{");
  start();
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1"));
  EXPECT_THAT(report().reason, HasSubstr("keysieve:shop-bad:current"));
  EXPECT_NE(loader_->exit_status(), 0);
}

TEST_F(Patterns, RememberNoNameThatTheyDoNotMatch) {
  push("shop-1");
  start();
  round();
  site_.write("cache/found.sets", "shop-1\n../../etc\nshop-UP\n\ntags\nshop-\xff\nshop-9");
  start();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-9"));
}

TEST_F(Patterns, SayThatTheirSetsCannotBeSavedAndKeepThemOverAReload) {
  push("shop-1");
  start();
  round();
  push("shop-2");
  std::filesystem::remove(site_.cache() + "/found.sets");
  site_.write("cache/found.sets/in the way", "");
  for (int i = 0; i < 3; ++i) round();
  EXPECT_THAT(report().reason, AllOf(HasSubstr("a restart without the store would miss new sets: "),
                                     HasSubstr("cache/found.sets")));
  EXPECT_EQ(loader_->exit_status(), 73);
  site_.remove_store();
  reload();
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2"));
  std::filesystem::remove_all(site_.cache() + "/found.sets");
  start();
  EXPECT_THAT(followed(), IsEmpty());
}

TEST_F(Patterns, SaveTheirSetsOnceThatIsPossible) {
  push("shop-1");
  site_.write("cache/found.sets/in the way", "");
  start();
  round();
  EXPECT_FALSE(report().is_good());
  std::filesystem::remove_all(site_.cache() + "/found.sets");
  round();
  EXPECT_TRUE(report().is_good()) << report().reason;
  start();
  EXPECT_THAT(followed(), ElementsAre("shop-1"));
}

TEST_F(Patterns, FindTheOthersNextToARecordThatIsTooLarge) {
  const RedisServer redis;
  for (const char* name : {"shop-1", "shop-2"}) site_.push(name, first_keys(100), redis.unix_url());
  open_store(redis.unix_url());
  redis.command("EVAL \"redis.call('SET', 'keysieve:shop-0:current', string.rep('x', 100000))\" 0");
  start(kShops, redis.unix_url());
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2"));
  EXPECT_THAT(report().reason, HasSubstr("keysieve:shop-0:current"));
  EXPECT_EQ(loader_->exit_status(), 65);
}

TEST_F(Patterns, FindTheOthersNextToARecordThatTheyMayNotRead) {
  const RedisServer redis;
  const std::string url = redis.unix_url();
  for (const char* name : {"shop-0", "shop-1", "shop-2"}) site_.push(name, first_keys(100), url);
  redis.command("ACL SETUSER default resetkeys ~keysieve:[^s]* ~keysieve:shop-[12]*");
  start(kShops, url);
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2"));
  EXPECT_THAT(report().reason, HasSubstr("keysieve:shop-0:current"));
  EXPECT_EQ(loader_->exit_status(), 77);
}

// A folder, a link, or a FIFO, for which a reader would wait.
TEST_F(Patterns, KeepNoOtherSetFromBeingRefreshedWhenARecordIsNoFile) {
  for (const char* name : {"shop-1", "shop-2", "shop-3", "shop-4"}) push(name);
  start();
  round();
  const auto record_of = [&](const std::string& name) {
    return site_.root() / ("store/keysieve:" + name + ":current");
  };
  for (const char* name : {"shop-1", "shop-2", "shop-3"}) std::filesystem::remove(record_of(name));
  for (const char* name : {"shop-1", "shop-01"}) std::filesystem::create_directory(record_of(name));
  for (const char* name : {"shop-2", "shop-02"})
    std::filesystem::create_symlink(record_of("shop-4"), record_of(name));
  for (const char* name : {"shop-3", "shop-03"}) ASSERT_EQ(::mkfifo(record_of(name).c_str(), 0600), 0);
  push("shop-5");
  EXPECT_TRUE(receives("shop-4"));
  EXPECT_EQ(site_.live_generation("shop-5"), 1U) << report().reason;
  for (const char* name : {"shop-1", "shop-2", "shop-3"})
    EXPECT_THAT(troubles(name), ElementsAre("refused")) << name;
}

TEST_F(Patterns, KeepNoOtherSetFromBeingRefreshedWhenALogIsNoFile) {
  for (const char* name : {"shop-1", "shop-2"}) push(name);
  start();
  round();
  std::filesystem::create_directory(site_.root() / "store/.log-keysieve:shop-1:adds");
  EXPECT_TRUE(receives("shop-2"));
}

TEST_F(Patterns, OfRedisFollowWhatComesAndLeaveWhatIsDeleted) {
  const RedisServer redis;
  const std::string url = redis.unix_url();
  for (const char* name : {"shop-1", "shop-2", "tags"}) site_.push(name, first_keys(100), url);
  start(kShops, url);
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2"));
  EXPECT_EQ(loader_->exit_status(), 0) << loader_->summary();
  site_.push("shop-3", first_keys(100), url);
  delete_set(*open_store(url), "shop-1");
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-2", "shop-3"));
  redis.command("FLUSHALL");
  site_.push("shop-2", first_keys(100), url);
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-2", "shop-3"));
}

TEST_F(Patterns, KeepNoOtherSetFromBeingRefreshedWhenTheirListFails) {
  const RedisServer redis({}, "rename-command SCAN \"\"\n");
  const std::string url = redis.unix_url();
  for (const char* name : {"shop-1", "tags"}) site_.push(name, first_keys(100), url);
  start(kShops + tags_set, url);
  for (int i = 0; i < 2; ++i) round();
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  site_.add("tags", kAdded, url);
  round();
  EXPECT_TRUE(site_.knows("tags", kAdded));
  EXPECT_THAT(troubles("tags"), IsEmpty());
  EXPECT_TRUE(loader_->is_ready());
  EXPECT_THAT(report().reason, HasSubstr("SCAN"));
  EXPECT_EQ(loader_->exit_status(), 69);
}

// Counts its lists, and answers them as long as it is asked to go on.
class EndlessStore : public StoreDecorator {
 public:
  EndlessStore(Store& inner, int& lists) : StoreDecorator(inner), lists_(lists) {}
  std::vector<std::string> keys_like(const KeyPattern& /*pattern*/, const ListLimits& limits) override {
    ++lists_;
    for (;;) limits.on_progress();
  }

 private:
  int& lists_;
};

class EndlessList : public Patterns {
 protected:
  EndlessList() {
    push("shop-1");
    site_.configure(kShops + "[[set]]\nname = \"*-eu\"\nstore = \"main\"\n");
    config_ = load_config(site_.config_path());
    found_.emplace(
        config_, config_.stores.at(0), [&] { return std::make_unique<EndlessStore>(*honest_, lists_); },
        std::chrono::milliseconds(20));
  }

  const std::unique_ptr<Store> honest_ = open_store(site_.store_url());
  LoaderConfig config_;
  std::optional<FoundSets> found_;
  int lists_ = 0;
};

TEST_F(EndlessList, IsEndedAfterAWhileForAllPatternsAtOnce) {
  const SteadyTime begun = std::chrono::steady_clock::now();
  EXPECT_THAT(found_->look([] { return true; }), IsEmpty());
  EXPECT_EQ(lists_, 1);
  for (const PatternReport& pattern : found_->reports()) {
    EXPECT_THAT(pattern.reason, HasSubstr("takes longer than 1 s to list what it holds"));
    EXPECT_EQ(pattern.exit_status, 69);
  }
  EXPECT_FALSE(found_->is_due(begun + std::chrono::milliseconds(400))) << "a twentieth of the time";
}

TEST_F(EndlessList, IsEndedAtOnceWhenTheLoaderIsStopped) {
  int calls = 0;
  EXPECT_THROW(found_->look([&] { return ++calls < 3; }), Stopped);
  EXPECT_EQ(calls, 3);
}

// Holds sets without a snapshot, and keeps the first name of each call.
class StoreOfDeletedSets : public StoreDecorator {
 public:
  StoreOfDeletedSets(Store& inner, std::vector<std::string>& asked) : StoreDecorator(inner), asked_(asked) {}
  std::vector<std::string> keys_like(const KeyPattern& /*pattern*/, const ListLimits& /*limits*/) override {
    std::vector<std::string> keys;
    for (int i = 100; i < 200; ++i) keys.push_back("keysieve:shop-" + std::to_string(i) + ":current");
    return keys;
  }
  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    asked_.push_back(keys.front());
    return std::vector<std::optional<std::string>>(keys.size());
  }

 private:
  std::vector<std::string>& asked_;
};

TEST_F(Patterns, GoOnWhereALookHasEnded) {
  site_.configure(kShops);
  const LoaderConfig config = load_config(site_.config_path());
  const std::unique_ptr<Store> inner = open_store(site_.store_url());
  std::vector<std::string> asked;
  FoundSets found(config, config.stores.at(0),
                  [&] { return std::make_unique<StoreOfDeletedSets>(*inner, asked); });
  int calls = 0;
  EXPECT_THROW(found.look([&] { return ++calls < 2; }), Stopped);
  EXPECT_THAT(asked, ElementsAre("keysieve:shop-100:current"));
  found.look([] { return true; });
  EXPECT_THAT(asked, ElementsAre("keysieve:shop-100:current", "keysieve:shop-164:current",
                                 "keysieve:shop-128:current"));
}

// As a server might that is not the one it seems to be.
class LyingStore : public StoreDecorator {
 public:
  using StoreDecorator::StoreDecorator;
  std::vector<std::string> keys_like(const KeyPattern& /*pattern*/, const ListLimits& /*limits*/) override {
    return {"keysieve:tags:current",
            "nonsense",
            "",
            "keysieve:shop-1:current",
            "keysieve:shop-1:current",
            "keysieve:shop-/:current",
            ":current",
            "keysieve"};
  }
};

TEST_F(Patterns, BelieveNoNameThatTheStoreWasNotAskedFor) {
  for (const char* name : {"shop-1", "tags"}) push(name);
  site_.configure(kShops);
  const LoaderConfig config = load_config(site_.config_path());
  const auto honest = open_store(site_.store_url());
  FoundSets found(config, config.stores.at(0), [&] { return std::make_unique<LyingStore>(*honest); });
  EXPECT_THAT(found.look([] { return true; }), ElementsAre(Field(&SetConfig::name, "shop-1")));
  EXPECT_TRUE(found.reports().at(0).is_good()) << found.reports().at(0).reason;
}

}  // namespace
}  // namespace keysieve::test
