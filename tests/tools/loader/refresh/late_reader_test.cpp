// What is added is known to processes that still answer from the publication before the current one.
#include <filesystem>

#include "core/worker/shm/set_reader.hpp"
#include "tests/tools/loader/refresh/refresher_fixture.hpp"

namespace keysieve::test {
namespace {

constexpr KeyRange kManyAdded = added_keys(200);
constexpr KeyRange kAddedAndPushed{1000, 100};  // what kMoreKeys has and kKeys has not

class SetRefresherLateReader : public SetRefresherTest {
 protected:
  explicit SetRefresherLateReader(const std::string& store = "dir:") {
    url_ = store + site_.root() / "store";
    site_.push("tags", kKeys, url_);
    EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
    EXPECT_EQ(publication_of_late(), 1U);
  }

  std::uint64_t publication_of_late() {
    const Attachment* attached = late_.follow();
    return attached ? attached->id().publication : 0;
  }
  int absent_for_late(KeyRange keys) {
    const Attachment* attached = late_.follow();
    int absent = 0;
    for (int i = 0; attached && i < keys.count; ++i) {
      if (!attached->may_contain(attached->snapshot().hasher()(key_number(keys.first + i)))) ++absent;
    }
    return absent;
  }

  SetReader late_{{.directory = site_.directory(), .max_jitter = std::chrono::hours(1)}, "tags"};
};

TEST_F(SetRefresherLateReader, KnowsWhatIsAddedWhileTheLayerIsEnlarged) {
  for (int count = 1000; site_.live("tags")->id.publication < 3; count *= 2) {
    ASSERT_LT(count, 100'000);
    site_.add("tags", added_keys(count));
    refresh();
    EXPECT_EQ(absent_for_late({5000, count}), 0) << count;
  }
}

// The new snapshot holds these keys, so the log would be read only from behind them.
TEST_F(SetRefresherLateReader, KnowsWhatWasAddedAndPushedWhileNoLoaderRan) {
  site_.add("tags", kAddedAndPushed);
  site_.push_after_adds("tags", kMoreKeys);
  start();
  refresh();
  ASSERT_EQ(site_.live("tags")->id.publication, 2U);
  EXPECT_TRUE(site_.knows("tags", kAddedAndPushed));
  EXPECT_EQ(publication_of_late(), 1U);
  EXPECT_EQ(absent_for_late(kAddedAndPushed), 0);
}

// A log in LMDB does not say how far it was trimmed, one in a folder does.
class SetRefresherLateReaderOf : public SetRefresherLateReader,
                                 public ::testing::WithParamInterface<std::string> {
 protected:
  SetRefresherLateReaderOf() : SetRefresherLateReader(GetParam()) {}
};

TEST_P(SetRefresherLateReaderOf, AnswersFromTheNewPublicationWhereTheLogWasTrimmedBehindTheOldOne) {
  site_.add("tags", kAddedAndPushed, url_);
  for (std::size_t i = 0; i < kKeptGenerations; ++i) {
    site_.push_after_adds("tags", kMoreKeys, url_);
    site_.add("tags", kAddedLater, url_);
  }
  start();
  EXPECT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  EXPECT_EQ(publication_of_late(), 2U);
  EXPECT_EQ(absent_for_late(kAddedAndPushed), 0);
}

INSTANTIATE_TEST_SUITE_P(Stores, SetRefresherLateReaderOf, ::testing::Values("dir:", "lmdb:"));

TEST_F(SetRefresherLateReader, AnswersFromTheNewPublicationWhereTheOldOneCannotBeFilled) {
  site_.push("tags", kMoreKeys);
  refresh();
  EXPECT_EQ(publication_of_late(), 1U);
  std::filesystem::remove(site_.directory() + "/tags/" + live_file_name(1));
  site_.add("tags", kManyAdded);
  refresh();
  EXPECT_EQ(publication_of_late(), 2U);
  EXPECT_EQ(absent_for_late(kManyAdded), 0);
}

}  // namespace
}  // namespace keysieve::test
