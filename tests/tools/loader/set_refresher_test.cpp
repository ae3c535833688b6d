#include "tools/loader/set_refresher.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "core/shm/bypass.hpp"
#include "core/shm/control_file.hpp"
#include "tests/tools/loader/site.hpp"
#include "tests/tools/transfer/store_decorator.hpp"
#include "tools/transfer/chunk.hpp"

namespace keysieve::test {
namespace {

constexpr SteadyTime kStart{std::chrono::hours(1)};
constexpr Milliseconds kPollInterval{1000};

// The store of a site, where something else happens while it is asked.
class EventfulStore : public StoreDecorator {
 public:
  EventfulStore(std::unique_ptr<Store> real, std::function<void()> before_get)
      : StoreDecorator(*real), real_(std::move(real)), before_get_(std::move(before_get)) {}

  std::optional<std::string> get(const std::string& key) override {
    before_get_();
    return StoreDecorator::get(key);
  }

 private:
  std::unique_ptr<Store> real_;
  std::function<void()> before_get_;
};

class SetRefresherTest : public ::testing::Test {
 protected:
  SetRefresherTest() {
    loader_.directory = site_.directory();
    loader_.cache = site_.cache();
    loader_.poll_interval = kPollInterval;
    set_.name = "tags";
    set_.store = "main";
    start();
  }

  // As a new process or a reload would.
  void start() {
    refresher_.emplace(set_, loader_, store_, [] { return true; });
  }

  // One look, ten minutes after the last, so that every backoff has passed.
  const SetState& refresh() {
    now_ += std::chrono::minutes(10);
    const SetState& state = refresher_->refresh(now_);
    store_.close();
    return state;
  }
  Trouble trouble() { return refresh().trouble; }

  Site site_;
  LoaderConfig loader_;
  SetConfig set_;
  std::function<void()> before_get_ = [] {};
  StoreConnection store_{[this] {
                           return std::make_unique<EventfulStore>(open_store(site_.store_url()),
                                                                  [this] { before_get_(); });
                         },
                         "the store", kPollInterval};
  std::optional<SetRefresher> refresher_;
  SteadyTime now_ = kStart;
};

TEST_F(SetRefresherTest, FollowsEveryGeneration) {
  for (int generation = 1; generation <= 5; ++generation) {
    site_.push("tags", {0, 1000 * generation});
    const SetState& state = refresh();
    EXPECT_EQ(state.trouble, Trouble::None) << state.reason;
    ASSERT_TRUE(state.live);
    EXPECT_EQ(state.live->generation, static_cast<std::uint64_t>(generation));
    EXPECT_EQ(state.live->publication, static_cast<std::uint64_t>(generation));
    EXPECT_TRUE(site_.knows("tags", {0, 1000 * generation}));
  }
}

TEST_F(SetRefresherTest, PublishesNothingWhenNothingChanged) {
  site_.push("tags", {0, 1000});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(refresh().live->publication, 1U);
  start();
  EXPECT_EQ(refresh().live->publication, 1U);
}

TEST_F(SetRefresherTest, PublishesAgainWhenSharedMemoryWasWiped) {
  site_.push("tags", {0, 1000});
  refresh();
  site_.wipe_shared_memory();
  const SetState& state = refresh();
  EXPECT_EQ(state.trouble, Trouble::None);
  EXPECT_EQ(state.live->generation, 1U);
  EXPECT_TRUE(site_.knows("tags", {0, 1000}));
}

TEST_F(SetRefresherTest, CannotPublishWhatIsWipedMeanwhile) {
  site_.push("tags", {0, 1000});
  refresh();
  before_get_ = [this] { site_.wipe_shared_memory(); };
  const SetState& state = refresh();
  EXPECT_EQ(state.trouble, Trouble::CannotPublish);
  EXPECT_EQ(state.exit_status, 73);
  EXPECT_NE(state.reason.find("is gone again"), std::string::npos) << state.reason;
  EXPECT_TRUE(holds_back_ready(state));
  before_get_ = [] {};
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_TRUE(site_.knows("tags", {0, 1000}));
}

TEST_F(SetRefresherTest, PublishesAgainWhenAPublicationIsDamaged) {
  site_.push("tags", {0, 1000});
  refresh();
  std::filesystem::remove(site_.directory() + "/tags/" + snapshot_file_name(1));
  EXPECT_EQ(refresh().live->publication, 2U);
  EXPECT_TRUE(site_.knows("tags", {0, 1000}));
}

TEST_F(SetRefresherTest, ReplacesWhatWasPublishedByHand) {
  site_.push("tags", {0, 1000});
  refresh();
  const SnapshotBytes by_hand = build_snapshot("tags", {5000, 1000});
  Publisher({.directory = site_.directory()}, "tags").publish(by_hand.get(), 0);
  ASSERT_TRUE(site_.knows("tags", {5000, 1000}));
  EXPECT_EQ(refresh().live->generation, 1U);
  EXPECT_TRUE(site_.knows("tags", {0, 1000}));
}

TEST_F(SetRefresherTest, KeepsWhatIsLiveWhenTheStoreLostIt) {
  site_.push("tags", {0, 1000});
  refresh();
  std::filesystem::remove_all(site_.root() / "store");
  const SetState& state = refresh();
  EXPECT_EQ(state.trouble, Trouble::NeverPushed);
  EXPECT_EQ(state.exit_status, 66);
  EXPECT_EQ(state.live->generation, 1U);
}

TEST_F(SetRefresherTest, KeepsTheLiveGenerationWhenAGuardRefusesTheNext) {
  struct Case {
    const char* name;
    Guards guards;
    std::uint64_t max_bytes;
    const char* reason;
  };
  const std::vector<Case> cases{
      {"min_keys", {.min_keys = 600, .max_shrink = 1.0}, 0, "fewer than 600"},
      {"max_shrink", {.min_keys = 1, .max_shrink = 0.2}, 0, "shrank from"},
      {"max_fpr", {.min_keys = 1, .max_shrink = 1.0, .max_fpr = 1e-12}, 0, "estimated FPR"},
      {"canaries", {.min_keys = 1, .max_shrink = 1.0, .canaries = {"key-900"}}, 0, "key-900"},
      {"max_size", {.min_keys = 1, .max_shrink = 1.0}, 4096, "above the limit"}};
  site_.push("tags", {0, 1000});
  refresh();
  site_.push("tags", {0, 500}, site_.store_url(), 0.3);
  for (const Case& wrong : cases) {
    set_.guards = wrong.guards;
    set_.max_bytes = wrong.max_bytes;
    start();
    const SetState& state = refresh();
    EXPECT_EQ(state.trouble, Trouble::Refused) << wrong.name;
    EXPECT_EQ(state.exit_status, 65) << wrong.name;
    EXPECT_EQ(state.live->generation, 1U) << wrong.name;
    EXPECT_EQ(state.reason.substr(0, 22), "generation 2 refused: ");
    EXPECT_NE(state.reason.find(wrong.reason), std::string::npos) << state.reason;
    EXPECT_TRUE(site_.knows("tags", {0, 1000})) << wrong.name;
  }
}

TEST_F(SetRefresherTest, TakesARefusedBuildOnceTheGuardsAllowIt) {
  site_.push("tags", {0, 1000});
  refresh();
  site_.push("tags", {0, 500});
  EXPECT_EQ(trouble(), Trouble::Refused);
  set_.guards.max_shrink = 1.0;
  start();
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live_generation("tags"), 2U);
}

// The chunks are gone after the first look, so that a second pull would be noticed.
TEST_F(SetRefresherTest, DoesNotPullABuildAgainThatAGuardRefused) {
  site_.push("tags", {0, 1000});
  refresh();
  const SnapshotRecord refused = site_.push("tags", {0, 500});
  const std::string reason = refresh().reason;
  site_.damage("tags", refused);
  EXPECT_EQ(refresh().reason, reason);
  refresher_->try_again_now();
  EXPECT_EQ(refresh().reason, reason);
  site_.push("tags", {0, 1100});
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live_generation("tags"), 3U);
}

TEST_F(SetRefresherTest, KeepsTheLiveGenerationWhenTheNextIsDamaged) {
  site_.push("tags", {0, 1000});
  refresh();
  site_.damage("tags", site_.push("tags", {0, 1001}));
  const SetState& state = refresh();
  EXPECT_EQ(state.trouble, Trouble::Refused);
  EXPECT_EQ(state.exit_status, 65);
  EXPECT_EQ(state.live->generation, 1U);
  site_.push("tags", {0, 1002});
  EXPECT_EQ(trouble(), Trouble::None);
}

// A folder that is copied bit by bit is whole only later; until then, every look would pull in vain.
TEST_F(SetRefresherTest, TriesADamagedBuildAgainAfterABackoff) {
  const SnapshotRecord record = site_.push("tags", {0, 1000});
  site_.damage("tags", record);
  EXPECT_EQ(refresher_->refresh(kStart).trouble, Trouble::Refused);
  site_.damage("tags", record);  // the same bit again: whole
  EXPECT_EQ(refresher_->refresh(kStart + Milliseconds(500)).trouble, Trouble::Refused);
  EXPECT_EQ(refresher_->refresh(kStart + Milliseconds(1200)).trouble, Trouble::None);
}

TEST_F(SetRefresherTest, TriesADamagedBuildAgainAtOnceWhenToldTo) {
  const SnapshotRecord record = site_.push("tags", {0, 1000});
  site_.damage("tags", record);
  EXPECT_EQ(refresher_->refresh(kStart).trouble, Trouble::Refused);
  site_.damage("tags", record);
  refresher_->try_again_now();
  EXPECT_EQ(refresher_->refresh(kStart).trouble, Trouble::None);
}

TEST_F(SetRefresherTest, RefusesAMissingChunkAndSaysToPushAgain) {
  site_.push("tags", {0, 1000});
  refresh();
  const SnapshotRecord record = site_.push("tags", {0, 1001});
  {
    const auto store = open_store(site_.store_url());
    const std::string key = chunk_key(store->prefix(), "tags", record.build_id, 0);
    store->remove_many({&key, 1});
  }
  const SetState& state = refresh();
  EXPECT_EQ(state.trouble, Trouble::Refused);
  EXPECT_NE(state.reason.find("push again"), std::string::npos) << state.reason;
  EXPECT_EQ(state.live->generation, 1U);
}

TEST_F(SetRefresherTest, RefusesADamagedPointerRecord) {
  site_.push("tags", {0, 1000});
  refresh();
  {
    const auto store = open_store(site_.store_url());
    const Record nonsense{store->prefix() + ":tags:current", "{\"generation\": "};
    store->put_many({&nonsense, 1});
  }
  const SetState& state = refresh();
  EXPECT_EQ(state.trouble, Trouble::Refused);
  EXPECT_EQ(state.exit_status, 65);
  EXPECT_EQ(state.live->generation, 1U);
}

// The pointer record of an earlier push, as a replica that lags behind would still have it.
TEST_F(SetRefresherTest, RefusesAnOlderGeneration) {
  site_.push("tags", {0, 1000});
  const std::string key = "keysieve:tags:current";
  const std::string older = open_store(site_.store_url())->get(key).value();
  site_.push("tags", {0, 2000});
  EXPECT_EQ(trouble(), Trouble::None);
  const Record stale{key, older};
  open_store(site_.store_url())->put_many({&stale, 1});
  const SetState& state = refresh();
  EXPECT_EQ(state.trouble, Trouble::Refused);
  EXPECT_EQ(state.exit_status, 65);
  EXPECT_EQ(state.live->generation, 2U);
  EXPECT_NE(state.reason.find("replica that lags behind"), std::string::npos) << state.reason;
  EXPECT_TRUE(site_.knows("tags", {0, 2000}));
}

// A store without persistence counts from 1 again.
TEST_F(SetRefresherTest, TakesALowerGenerationThatIsNewerByItsMoment) {
  site_.push("tags", {0, 1000});
  site_.push("tags", {0, 1100});
  refresh();
  std::filesystem::remove_all(site_.root() / "store");
  site_.push("tags", {0, 1200});
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_EQ(site_.live_generation("tags"), 1U);
  EXPECT_TRUE(site_.knows("tags", {0, 1200}));
  EXPECT_EQ(SnapshotCache(site_.cache()).newest_generation("tags"), 1U);
}

// Saved, but not published: the directory is full.
TEST_F(SetRefresherTest, PublishesASavedSnapshotWithoutPullingItAgain) {
  loader_.max_total_bytes = 65536;
  start();
  site_.push("tags", {0, 1000});
  refresh();
  const SnapshotRecord large = site_.push("tags", {0, 80000});
  EXPECT_EQ(refresh().exit_status, 73);
  EXPECT_EQ(refresher_->state().live->generation, 1U);
  site_.damage("tags", large);
  EXPECT_EQ(trouble(), Trouble::CannotPublish);
  loader_.max_total_bytes = 0;
  start();
  EXPECT_EQ(trouble(), Trouble::None);
  EXPECT_TRUE(site_.knows("tags", {0, 80000}));
}

// As at a reboot with the store away, after the configuration was tightened.
TEST_F(SetRefresherTest, PublishesNothingFromTheCacheThatIsNotAllowedAnyMore) {
  struct Case {
    const char* name;
    Guards guards;
    std::uint64_t max_bytes;
  };
  const std::vector<Case> cases{{"min_keys", {.min_keys = 2000}, 0},
                                {"max_fpr", {.max_fpr = 1e-12}, 0},
                                {"canaries", {.canaries = {"no such key"}}, 0},
                                {"max_size", {}, 4096}};
  site_.push("tags", {0, 1000});
  refresh();
  site_.wipe_shared_memory();
  site_.remove_store();
  for (const Case& tightened : cases) {
    set_.guards = tightened.guards;
    set_.max_bytes = tightened.max_bytes;
    start();
    EXPECT_EQ(trouble(), Trouble::StoreAway) << tightened.name;
    EXPECT_EQ(site_.live("tags"), std::nullopt) << tightened.name;
  }
  set_.guards = {};
  set_.max_bytes = 0;
  start();
  refresh();
  EXPECT_EQ(site_.live_generation("tags"), 1U);
}

TEST_F(SetRefresherTest, RefusesASavedSnapshotThatIsTooLargeNow) {
  loader_.max_total_bytes = 65536;
  start();
  site_.push("tags", {0, 80000});
  EXPECT_EQ(trouble(), Trouble::CannotPublish);  // but saved
  loader_.max_total_bytes = 0;
  set_.max_bytes = 65536;
  start();
  EXPECT_EQ(trouble(), Trouble::Refused);
  EXPECT_EQ(site_.live("tags"), std::nullopt);
}

TEST_F(SetRefresherTest, EndsABypassWhoseTimeHasPassed) {
  site_.push("tags", {0, 1000});
  refresh();
  const auto control = ControlFile::open_read_only(SetFolder::open(site_.directory(), "tags", std::nullopt));
  const auto is_set = [&] { return is_bypassed(control.page().current.load()); };
  for (const UnixSeconds until : {UnixSeconds{0}, unix_now() + 3600}) {
    set_bypass(site_.directory(), "tags", until);
    refresh();
    EXPECT_TRUE(is_set()) << until;
  }
  set_bypass(site_.directory(), "tags", unix_now() - 1);
  EXPECT_TRUE(is_set());
  refresh();
  EXPECT_FALSE(is_set());
  EXPECT_TRUE(site_.knows("tags", {0, 1000}));
}

TEST_F(SetRefresherTest, HoldsBackReadyOnlyWhileSomethingCannotBePublished) {
  EXPECT_FALSE(holds_back_ready(refresh()));  // never pushed
  site_.push("tags", {0, 1000});
  {
    const Publisher other({.directory = site_.directory()}, "tags");
    EXPECT_TRUE(holds_back_ready(refresh()));
    EXPECT_EQ(refresher_->state().exit_status, 75);
  }
  EXPECT_FALSE(holds_back_ready(refresh()));
  const Publisher other({.directory = site_.directory()}, "tags");
  EXPECT_FALSE(holds_back_ready(refresh()));  // generation 1 is live
  EXPECT_EQ(refresher_->state().trouble, Trouble::CannotPublish);
}

// root may write anywhere, so root becomes somebody else.
TEST_F(SetRefresherTest, SaysThatTheDirectoryIsNotWritable) {
  std::filesystem::permissions(site_.root().path(), std::filesystem::perms(0755));
  std::filesystem::permissions(site_.directory(), std::filesystem::perms(0555));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(1);
    const SetState& state = refresh();
    const bool is_named =
        state.reason.find(site_.directory() + "/tags: Permission denied") != std::string::npos;
    ::_exit(is_named && !state.live ? state.exit_status : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 77);
  std::filesystem::permissions(site_.directory(), std::filesystem::perms(0755));
}

}  // namespace
}  // namespace keysieve::test
