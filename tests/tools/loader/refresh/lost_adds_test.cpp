// A store that loses entries of its adds log: the host then does not know, and must not say absent.

#include <filesystem>
#include <thread>

#include "core/builder/base/log_positions.hpp"
#include "tests/support/redis_server.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/traced_process.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"
#include "tools/loader/adds/adds_mirror.hpp"
#include "tools/transfer/delete_set.hpp"

namespace keysieve::test {
namespace {

MATCHER(SaysThatAddsAreLost, "") {
  *result_listener << to_string(arg.trouble) << ": " << arg.reason;
  return arg.trouble == Trouble::AddsLost && arg.exit_status == 65;
}

class LostAdds : public SetRefresherTest {
 protected:
  LostAdds() { use(shared_redis().unix_url()); }

  // An empty store.
  void use(const std::string& url) {
    shared_redis().command("FLUSHALL");
    url_ = url;
    open_store(url_);
    start();
  }
  void push(KeyRange keys) { site_.push("tags", keys, url_); }
  void push_begun_now(KeyRange keys) { site_.push_begun_now("tags", keys, url_); }
  void add(KeyRange keys) { site_.add("tags", keys, url_); }
  // As a watch and then a poll would.
  const RefreshOutcome& refresh_all() {
    do {
      refresher_->take_adds(now_, Changed::Adds);
      refresh();
    } while (refresher_->has_more());
    return refresher_->outcome();
  }
  void become_new_host() {
    site_.wipe_shared_memory();
    for (const auto& entry : std::filesystem::directory_iterator(site_.cache()))
      std::filesystem::remove_all(entry);
    start();
  }
  // Every key is maybe.
  [[nodiscard]] bool answers_maybe() const {
    SetReader reader({.directory = site_.directory()}, "tags");
    return reader.follow() == nullptr && reader.availability() == Availability::Bypassed;
  }
  void command(const std::string& words) { shared_redis().command(words); }
  // Up to where keys may be lost, as the host remembers it.
  [[nodiscard]] LogPosition lost_to() const {
    AddsMirror mirror(site_.cache() + "/tags.adds");
    mirror.load();
    return mirror.known_log().witness.lost_to;
  }
  // A host has read ten keys.
  void begin() {
    push(kKeys);
    add(kAdded);
    ASSERT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
    ASSERT_TRUE(site_.knows("tags", kAdded));
  }
  void expect_loss() {
    EXPECT_THAT(refresh_all(), SaysThatAddsAreLost());
    EXPECT_TRUE(answers_maybe());
  }
};

TEST_F(LostAdds, AreNoticedWhenTheLogIsGone) {
  begin();
  command("DEL keysieve:tags:adds");
  expect_loss();
  become_new_host();
  expect_loss();
}

TEST_F(LostAdds, AreNoticedInAStoreThatWasEmptiedAndGotNewAdds) {
  begin();
  command("FLUSHALL");
  add(kAddedLater);
  EXPECT_EQ(refresh_all().trouble, Trouble::NeverPushed);
  EXPECT_TRUE(answers_maybe());
  push(kMoreKeys);
  expect_loss();
}

// The server has lost the last entries and their count: only who had read them can tell.
TEST_F(LostAdds, AreNoticedByAHostThatHadReadThem) {
  push(kKeys);
  add(kAdded);
  command("COPY keysieve:tags:adds older");
  add(kAddedLater);
  ASSERT_EQ(refresh_all().trouble, Trouble::None);
  command("COPY older keysieve:tags:adds REPLACE");
  expect_loss();
  add({7000, 15});
  expect_loss();
  start();  // another process remembers
  expect_loss();
  become_new_host();
  EXPECT_EQ(refresh_all().trouble, Trouble::None) << "nobody has told it";
}

TEST_F(LostAdds, AreNoticedByAHostThatHadReadNoneIfAPushKnewTheLog) {
  push(kKeys);
  ASSERT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
  add(kAdded);
  command("DEL keysieve:tags:adds");
  expect_loss();
  add(kAddedLater);
  expect_loss();
}

// The newer log may have got keys that this host has not read, until it was replaced.
TEST_F(LostAdds, AreNoticedIfABackupOfAnOlderLogIsPutBack) {
  begin();
  command("COPY keysieve:tags:adds older");
  command("DEL keysieve:tags:adds");
  expect_loss();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  push_begun_now(kMoreKeys);
  ASSERT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
  add(kAddedLater);
  command("COPY older keysieve:tags:adds REPLACE");
  expect_loss();
}

TEST_F(LostAdds, AreOverWithALaterBuildThoughTheClockOfTheStoreWasAhead) {
  begin();
  command("COPY keysieve:tags:adds older");
  const LogFacts log = open_store(url_)->facts_of(kLog);
  command("XADD keysieve:tags:adds 4000000000000-0 key ahead log " + to_text(log.begun) + " count " +
          std::to_string(log.count + 1));
  ASSERT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
  command("COPY older keysieve:tags:adds REPLACE");
  expect_loss();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  push_begun_now(kMoreKeys);
  EXPECT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
  add(kAddedLater);
  EXPECT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
  EXPECT_TRUE(site_.knows("tags", kAddedLater));
}

// A push knows how many there were, whoever has read them.
TEST_F(LostAdds, AreNoticedByANewHostIfAPushHadCountedThem) {
  push(kKeys);
  command("COPY keysieve:tags:adds older");
  add(kAdded);
  push(kMoreKeys);
  command("COPY older keysieve:tags:adds REPLACE");
  expect_loss();
  add(kAddedLater);
  expect_loss();
}

TEST_F(LostAdds, AreKnownAfterARebootWithoutTheStore) {
  begin();
  command("DEL keysieve:tags:adds");
  expect_loss();
  site_.wipe_shared_memory();
  url_ = "redis+unix://" + site_.root() / "nobody";
  openers_.clear();
  start();
  EXPECT_EQ(refresh().trouble, Trouble::StoreUnreachable);
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  EXPECT_TRUE(answers_maybe());
}

TEST_F(LostAdds, AreOverWithABuildThatWasBegunLater) {
  begin();
  command("DEL keysieve:tags:adds");
  add(kAddedLater);
  expect_loss();
  EXPECT_THROW(push(kMoreKeys), Error) << "keys are missing in what was built before";
  expect_loss();
  push_begun_now(kMoreKeys);
  EXPECT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
  EXPECT_EQ(site_.live_generation("tags"), 2U);
  EXPECT_TRUE(site_.knows("tags", kMoreKeys));
  EXPECT_FALSE(site_.knows("tags", {9000, 100}));
  become_new_host();
  EXPECT_EQ(refresh_all().trouble, Trouble::None);
  site_.roll_back("tags", url_);
  expect_loss();
}

// A later build that begins the log anew must not need another one after it.
TEST_F(LostAdds, AreOverWithTheFirstBuildAfterTheLogWasFoundToBeGone) {
  begin();
  command("FLUSHALL");
  EXPECT_EQ(refresh_all().trouble, Trouble::NeverPushed);
  EXPECT_TRUE(answers_maybe());
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  push_begun_now(kMoreKeys);
  EXPECT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
  EXPECT_TRUE(site_.knows("tags", kMoreKeys));
}

// With each add, no build would ever be late enough.
TEST_F(LostAdds, AreNotMoreWithEachAdd) {
  begin();
  command("DEL keysieve:tags:adds");
  add(kAddedLater);
  expect_loss();
  const LogPosition before = lost_to();
  EXPECT_NE(before, kBeforeAll);
  for (int i = 0; i < 3; ++i) {
    add({7000 + i, 1});
    expect_loss();
    if (i == 1) start();
  }
  EXPECT_EQ(lost_to(), before);
}

// The cache was emptied, or its mirror is damaged: only readers still know.
TEST_F(LostAdds, AreRememberedByTheSetAlone) {
  begin();
  command("FLUSHALL");
  push(kMoreKeys);
  expect_loss();
  std::filesystem::remove(site_.cache() + "/tags.adds");
  start();
  expect_loss();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  push_begun_now(first_keys(1050));
  EXPECT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
}

TEST_F(LostAdds, AreNotForgottenBeforeTheLogWasReadToItsEnd) {
  push(kKeys);
  ASSERT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
  add(kAdded);
  push(kMoreKeys);
  command("COPY keysieve:tags:adds older");
  command("DEL keysieve:tags:adds");
  expect_loss();
  command("RENAME older keysieve:tags:adds");
  add({10'000, 70'000});
  refresh();
  ASSERT_TRUE(refresher_->has_more());
  EXPECT_TRUE(answers_maybe()) << "it may be another log";
  EXPECT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
  EXPECT_FALSE(answers_maybe());
}

TEST_F(LostAdds, AreNoneIfTheHostHasNeverReadAny) {
  push(kKeys);
  ASSERT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
  command("FLUSHALL");
  EXPECT_EQ(refresh_all().trouble, Trouble::NeverPushed);
  EXPECT_FALSE(answers_maybe());
  push(kMoreKeys);
  EXPECT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
  EXPECT_TRUE(site_.knows("tags", kMoreKeys));
}

// The clock of the emptied store was ahead.
TEST_F(LostAdds, HideNoKeyOfTheNextLogFromAHostThatHadReadNone) {
  push(kKeys);
  const LogFacts log = open_store(url_)->facts_of(kLog);
  command("XADD keysieve:tags:adds 4000000000000-0 mark later log " + to_text(log.begun) + " count 0");
  ASSERT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
  command("FLUSHALL");
  push(kMoreKeys);
  add(kAdded);
  EXPECT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
  EXPECT_TRUE(site_.knows("tags", kAdded));
}

TEST_F(LostAdds, AreNoneInASetThatWasDeletedAndPushedAgain) {
  begin();
  add(kAddedLater);
  const auto store = open_store(url_);
  delete_set(*store, "tags");
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  push_begun_now(kMoreKeys);
  EXPECT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
}

TEST_F(LostAdds, AreNoneInALogThatWasTrimmed) {
  begin();
  for (int generation = 2; generation <= 6; ++generation) {
    push_begun_now({0, 1000 + generation});
    EXPECT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
  }
  EXPECT_THAT(keys_in(*open_store(url_)), ::testing::IsEmpty());
  start();
  EXPECT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
  add(kAddedLater);
  EXPECT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
  become_new_host();
  EXPECT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
}

TEST_F(LostAdds, ComeBackWithTheLog) {
  use(site_.store_url());
  begin();
  const std::string log = site_.root() / "store/.log-keysieve:tags:adds";
  std::filesystem::rename(log, log + ".aside");
  expect_loss();
  std::filesystem::rename(log + ".aside", log);
  EXPECT_EQ(refresh_all().trouble, Trouble::None) << refresher_->outcome().reason;
  EXPECT_FALSE(answers_maybe());
}

TEST_F(LostAdds, HideNoKeyThatWasAddedBeforeTheyCameBack) {
  if (!can_trace()) GTEST_SKIP() << "may not trace a process";
  use(site_.store_url());
  begin();
  const std::string log = site_.root() / "store/.log-keysieve:tags:adds";
  std::filesystem::rename(log, log + ".aside");
  expect_loss();
  std::filesystem::rename(log + ".aside", log);
  add(kAddedLater);
  TracedProcess look([this] {
    refresh_all();
    return 0;
  });
  while (look.step() && !HasFailure()) EXPECT_TRUE(answers_maybe() || site_.knows("tags", kAddedLater));
  EXPECT_FALSE(answers_maybe());
}

TEST_F(LostAdds, AreNoticedInFoldersAndInLmdb) {
  for (const std::string& url : {"dir:" + site_.root() / "plain", "lmdb:" + site_.root() / "embedded"}) {
    const bool is_folder = url.starts_with("dir:");
    const std::filesystem::path file =
        (is_folder ? site_.root() / "plain/.log-keysieve:tags:adds" : site_.root() / "embedded/data.mdb");
    use(url);
    openers_.clear();
    become_new_host();
    push(kKeys);
    store_.close();
    openers_.clear();
    std::filesystem::copy_file(file, file.string() + ".older");
    add(kAdded);
    ASSERT_EQ(refresh_all().trouble, Trouble::None) << url << refresher_->outcome().reason;
    store_.close();
    openers_.clear();
    std::filesystem::rename(file.string() + ".older", file);
    expect_loss();
    add(kAddedLater);
    expect_loss();
  }
}

}  // namespace
}  // namespace keysieve::test
