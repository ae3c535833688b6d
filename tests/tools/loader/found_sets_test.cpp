// Patterns: which sets of a store the loader follows, and that no store makes it lose one.
#include "tools/loader/found_sets.hpp"

#include <gmock/gmock.h>

#include "tests/support/store_decorator.hpp"
#include "tests/tools/loader/site.hpp"
#include "tools/loader/loader.hpp"
#include "tools/status/set_facts.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kShops = "[[set]]\nname = \"shop-*\"\nstore = \"main\"\n";

class Patterns : public ::testing::Test {
 protected:
  // Begins with that configuration, as after a restart.
  void start(const std::string& sets = kShops) {
    site_.configure(sets);
    loader_.reset();
    loader_.emplace(load_config(site_.config_path()), board_, [&] {
      on_progress_();
      return true;
    });
  }
  void round() {
    loader_->try_again_now();
    loader_->round();
  }
  void push(const std::string& set_name) { site_.push(set_name, first_keys(100)); }
  void remove_from_store(const std::string& set_name) const {
    const auto store = open_store(site_.store_url());
    const std::string key = pointer_key(*store, set_name);
    store->remove_many({&key, 1});
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
  [[nodiscard]] std::vector<std::string_view> troubles(const std::string& set_name) const {
    SetReader reader({.directory = site_.directory(), .max_jitter = std::chrono::milliseconds(0)}, set_name);
    reader.follow();
    return set_facts(reader, unix_now(), Reading::Headers).troubles;
  }

  Site site_;
  StatusBoard board_;
  std::function<void()> on_progress_ = [] {};
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

TEST_F(Patterns, AreBothNamedIfTheyMatchTheSameSet) {
  for (const char* name : {"shop-1", "shop-eu"}) push(name);
  start(kShops + "[[set]]\nname = \"*-eu\"\nstore = \"main\"\n");
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1"));
  EXPECT_EQ(report().reason, "shop-eu is not followed, because shop-* and *-eu match it");
  EXPECT_EQ(loader_->exit_status(), 78);
  EXPECT_THAT(loader_->summary(), HasSubstr("1 of 1 set current; shop-*: shop-eu"));
}

TEST_F(Patterns, TakeNoMoreSetsThanTheyMay) {
  for (const char* name : {"shop-1", "shop-2", "shop-3", "shop-4"}) push(name);
  start(kShops + "max_sets = 2\n");
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2"));
  EXPECT_EQ(report().reason, "2 sets are followed, as max_sets allows; 2 more of the store are not");
  EXPECT_EQ(loader_->exit_status(), 78);
  push("shop-0");
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2")) << "which were there before";
  remove_from_store("shop-1");
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-2"));
  round();
  EXPECT_THAT(followed(), ElementsAre("shop-0", "shop-2"));
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
  for (const char* name : {"shop-1", "shop-2"}) remove_from_store(name);
  for (int i = 0; i < 3; ++i) round();
  EXPECT_THAT(followed(), ElementsAre("shop-1", "shop-2"));
  for (const char* name : {"shop-1", "shop-2"}) {
    EXPECT_EQ(site_.live_generation(name), 1U) << name;
    EXPECT_THAT(troubles(name), ElementsAre("not_pushed")) << name;
  }
}

TEST_F(Patterns, LeaveASetThatTheStoreHoldsNoMoreAndTakeItAgain) {
  for (const char* name : {"shop-1", "shop-2"}) push(name);
  start();
  round();
  remove_from_store("shop-1");
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
}

TEST_F(Patterns, OutliveAReloadThatHasThem) {
  push("shop-1");
  start();
  round();
  const LoaderConfig same = load_config(site_.config_path());
  loader_->leave_sets(same);
  EXPECT_THAT(troubles("shop-1"), IsEmpty());
  site_.configure(tags_set);
  loader_->leave_sets(load_config(site_.config_path()));
  EXPECT_THAT(troubles("shop-1"), ElementsAre("not_configured"));
  EXPECT_EQ(site_.live_generation("shop-1"), 1U);
}

TEST_F(Patterns, TakeNoRecordThatIsNoSet) {
  push("shop-1");
  put("keysieve:shop-UP:current", "{}");
  put("keysieve:shop-..:current", "{}");
  put("keysieve:shop-2:bypass", "{}");
  put("keysieve:shop-bad:current", "{");
  remove_from_store("shop-3");
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
  start(kShops + "max_sets = 1\n");
  EXPECT_THAT(followed(), ElementsAre("shop-1"));
}

// As a server might that is not the one it seems to be.
class LyingStore : public StoreDecorator {
 public:
  using StoreDecorator::StoreDecorator;
  std::vector<std::string> keys_like(const KeyPattern& /*pattern*/) override {
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
  StoreConnection connection([&] { return std::make_unique<LyingStore>(*honest); }, "lying",
                             Milliseconds(20));
  FoundSets found(config.patterns.at(0));
  EXPECT_THAT(found.look(connection, config), ElementsAre("shop-1"));
  EXPECT_TRUE(found.report().is_good()) << found.report().reason;
}

}  // namespace
}  // namespace keysieve::test
