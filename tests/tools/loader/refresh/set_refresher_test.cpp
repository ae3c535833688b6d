
#include <filesystem>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/publisher/shm/bypass.hpp"
#include "core/worker/shm/control_file.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"
#include "tests/tools/loader/site.hpp"
#include "tools/loader/report/refresh_outcome.hpp"
#include "tools/program/program.hpp"

namespace keysieve::test {
namespace {

TEST_F(SetRefresherTest, CannotPublishWhatIsWipedMeanwhile) {
  for (std::function<void()>* event : {&events_.before_records, &events_.before_log}) {
    go_live();
    *event = [this] { site_.wipe_shared_memory(); };
    const RefreshOutcome& outcome = refresh();
    EXPECT_EQ(outcome.trouble, Trouble::CannotPublish);
    EXPECT_EQ(outcome.exit_status, 66);
    EXPECT_TRUE(holds_back_ready(outcome));
    *event = [] {};
    EXPECT_EQ(trouble(), Trouble::None);
    EXPECT_TRUE(site_.knows("tags", kKeys));
  }
}

TEST_F(SetRefresherTest, GoesOnWithoutABypassWhileNothingOfTheStoreCanBeRead) {
  go_live();
  for (const std::string name : {"keysieve:tags:current", "keysieve:bypass", ".log-keysieve:tags:adds"}) {
    std::filesystem::remove(site_.root() / ("store/" + name));
    std::filesystem::create_directory(site_.root() / ("store/" + name));
  }
  EXPECT_THAT(refresh(), IsRefused());
  EXPECT_TRUE(site_.knows("tags", kKeys));
  EXPECT_FALSE(site_.knows("tags", kTwiceAsManyKeys));
}

TEST_F(SetRefresherTest, EndsABypassWhoseTimeHasPassed) {
  go_live();
  const auto control =
      open_control_page<const ControlPage>(SetFolder::open(site_.directory(), "tags", std::nullopt));
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
  EXPECT_TRUE(site_.knows("tags", kKeys));
}

TEST_F(SetRefresherTest, HoldsBackReadyOnlyWhileSomethingCannotBePublished) {
  EXPECT_FALSE(holds_back_ready(refresh()));  // never pushed
  site_.push("tags", kKeys);
  {
    const Publisher other({.directory = site_.directory()}, "tags");
    EXPECT_TRUE(holds_back_ready(refresh()));
    EXPECT_EQ(refresher_->outcome().exit_status, 75);
  }
  EXPECT_FALSE(holds_back_ready(refresh()));
  const Publisher other({.directory = site_.directory()}, "tags");
  EXPECT_FALSE(holds_back_ready(refresh()));  // generation 1 is live
  EXPECT_EQ(refresher_->outcome().trouble, Trouble::CannotPublish);
}

TEST(RefreshOutcome, SaysWhatIsWrongAndWhereWhateverTheErrorIs) {
  for (int i = 0; i <= static_cast<int>(ErrorKind::KnownAbsentSample); ++i) {
    const Error error(static_cast<ErrorKind>(i), "why");
    const auto expect = [&](const RefreshOutcome& outcome, Trouble trouble, const std::string& reason) {
      EXPECT_EQ(outcome.trouble, trouble) << i;
      EXPECT_EQ(outcome.reason, reason);
      EXPECT_EQ(outcome.exit_status, keysieve::exit_status_of(error.kind()));
    };
    SnapshotRecord build;
    build.generation = 8;
    expect(refused(build, error), Trouble::Refused, "generation 8 refused: why");
    expect(cannot_publish(error), Trouble::CannotPublish, "cannot publish: why");
    if (is_refusal(error)) {
      expect(cannot_ask(error), Trouble::Refused, "why");
    } else if (error.kind() == ErrorKind::Login) {
      expect(cannot_ask(error), Trouble::CannotLogIn, "cannot log in to why");
    } else {
      expect(cannot_ask(error), Trouble::StoreUnreachable, "the store is unreachable: why");
    }
  }
}

TEST(RefreshOutcome, TellsALackOfMemoryFromOtherErrors) {
  EXPECT_EQ(cannot_publish(std::bad_alloc()).reason, "cannot publish: not enough memory");
  EXPECT_EQ(cannot_publish(std::bad_alloc()).exit_status, 71);
}

}  // namespace
}  // namespace keysieve::test
