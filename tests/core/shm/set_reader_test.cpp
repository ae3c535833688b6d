#include "core/worker/shm/set_reader.hpp"

#include <gmock/gmock.h>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/shm/attachment.hpp"
#include "tests/core/shm/shared_memory.hpp"

namespace keysieve {
namespace {

using test::answers_from_new;
using test::eventually;
using test::may_contain;
using test::numbered_keys;
using test::publication_seen_by;
using ::testing::HasSubstr;

// More calls than there are between two checks of clock and control file.
constexpr int kCallsOverACheck = 4'200;

class SetReaderTest : public test::SharedMemory {
 protected:
  static void expect_to_stay_at(std::uint64_t publication, SetReader& reader) {
    for (int call = 0; call < kCallsOverACheck; ++call) ASSERT_EQ(publication_seen_by(reader), publication);
  }
};

TEST_F(SetReaderTest, AnswersFromThePublication) {
  publish("key", 7);
  SetReader reader = this->reader();
  const Attachment* attached = reader.follow();
  ASSERT_TRUE(attached) << reader.reason();
  EXPECT_EQ(reader.availability(), Availability::Ready);
  EXPECT_EQ(attached->live().generation, 7U);
  EXPECT_EQ(attached->live().publication, attached->id().publication);
  EXPECT_NEAR(static_cast<double>(attached->live().published_at), static_cast<double>(unix_now()), 60.0);
  for (const std::string& key : numbered_keys("key", 100))
    EXPECT_TRUE(may_contain(attached->snapshot(), key));
  EXPECT_FALSE(may_contain(attached->snapshot(), "absent"));
}

TEST_F(SetReaderTest, SeesTheFirstPublicationAtTheNextCall) {
  Publisher publisher = this->publisher();
  SetReader reader = this->reader();
  EXPECT_FALSE(reader.follow());
  publisher.publish(snapshot_of("key").get(), 1);
  EXPECT_TRUE(reader.follow());
}

TEST_F(SetReaderTest, FindsASetThatComesLaterAtTheNextRequestOrInOneLongRequest) {
  SetReader next_request = this->reader();
  SetReader long_request = this->reader();
  EXPECT_FALSE(next_request.follow());
  EXPECT_FALSE(long_request.follow());
  publish("key");
  next_request.check_soon();
  EXPECT_TRUE(next_request.follow());
  EXPECT_TRUE(eventually([&] { return publication_seen_by(long_request) == 1; }));
}

// Calls that come fast put the next check off, by calls that then come slowly.
TEST_F(SetReaderTest, LooksForAMissingSetEachSecondWhenCallsBecomeRare) {
  SetReader reader = this->reader();
  for (int call = 0; call < 2 * kCallsOverACheck; ++call) ASSERT_FALSE(reader.follow());
  publish("key");
  int calls = 0;
  ASSERT_TRUE(eventually([&] { return ++calls > 0 && publication_seen_by(reader) == 1; }));
  EXPECT_LT(calls, 2'000) << "with a millisecond between two";
}

TEST_F(SetReaderTest, AnswersFromTheNewPublicationInTheCallThatFindsItCurrent) {
  SetReader reader = reader_of_old();
  for (std::uint64_t publication = 2; publication <= 5; ++publication) {
    publish("new");
    EXPECT_TRUE(may_contain(reader, "new1"));
    EXPECT_FALSE(may_contain(reader, "old1"));
    EXPECT_EQ(publication_seen_by(reader), publication);
  }
}

int mapped_snapshots() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) count += line.find(".ks") != std::string::npos ? 1 : 0;
  return count;
}

TEST_F(SetReaderTest, UnmapsWhatWasReplacedBetweenTwoRequests) {
  SetReader reader = reader_of_old();
  publish("new");
  EXPECT_EQ(publication_seen_by(reader), 2U);
  EXPECT_EQ(mapped_snapshots(), 2) << "nobody waits for the end of a request";
  reader.check_soon();
  EXPECT_EQ(mapped_snapshots(), 1);
  EXPECT_TRUE(answers_from_new(reader));
}

TEST_F(SetReaderTest, MapsNeverMoreThanTwoPublicationsInARequestThatNeverEnds) {
  SetReader reader = this->reader();
  for (std::uint64_t publication = 1; publication <= 5; ++publication) {
    publish("key");
    EXPECT_EQ(publication_seen_by(reader), publication);
    EXPECT_LE(mapped_snapshots(), 2);
  }
  publish_by_hand(6, snapshot_of("new").get().first(5'000));
  EXPECT_EQ(publication_seen_by(reader), 0U);
  EXPECT_EQ(mapped_snapshots(), 1) << "there is room for the next before that is mapped";
  EXPECT_EQ(publish("key"), 7U);
  EXPECT_EQ(publication_seen_by(reader), 7U);
  EXPECT_LE(mapped_snapshots(), 2);
}

TEST_F(SetReaderTest, MapsEverythingReadOnly) {
  publish("key");
  SetReader reader = this->reader();
  ASSERT_TRUE(reader.follow());
  std::ifstream maps("/proc/self/maps");
  int regions = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(folder()) == std::string::npos) continue;
    EXPECT_THAT(line, HasSubstr(" r--s "));
    ++regions;
  }
  EXPECT_EQ(regions, 3);  // control, snapshot, live page
}

TEST_F(SetReaderTest, RemembersWhichPublicationItRefused) {
  SetReader reader = reader_of_old();
  publish_by_hand(2, snapshot_of("new").get().first(5'000));
  EXPECT_EQ(publication_seen_by(reader), 0U);

  std::filesystem::remove(file(snapshot_file_name(2)));
  std::ofstream(file(snapshot_file_name(2))) << as_text(snapshot_of("new").get());
  std::filesystem::permissions(file(snapshot_file_name(2)), std::filesystem::perms::owner_read);
  expect_to_stay_at(0, reader);

  publish("newer");
  EXPECT_EQ(publication_seen_by(reader), 3U);
  EXPECT_EQ(reader.reason(), "");
  EXPECT_EQ(reader.trouble(), std::nullopt);
}

TEST_F(SetReaderTest, ForgetsWhatItRefusedWhenThePublicationBeforeIsCurrentAgain) {
  SetReader reader = reader_of_old();
  publish_by_hand(2, snapshot_of("new").get().first(5'000));
  EXPECT_EQ(publication_seen_by(reader), 0U);
  make_current_by_hand(1);
  EXPECT_EQ(publication_seen_by(reader), 1U);
  EXPECT_EQ(reader.trouble(), std::nullopt);
  make_current_by_hand(2);
  EXPECT_EQ(publication_seen_by(reader), 0U);
  EXPECT_EQ(reader.trouble(), ErrorKind::Data);
}

TEST_F(SetReaderTest, RefusesASnapshotOfAnotherSet) {
  SetReader reader = reader_of_old();
  publish_by_hand(2, snapshot_of("new", {.set_name = "shop"}).get());
  expect_missing(reader, HasSubstr("holds set \"shop\", not \"tags\""));
  EXPECT_EQ(reader.trouble(), ErrorKind::Data);
  EXPECT_EQ(reader.attachment()->id().publication, 1U) << "for those who ask about the set, not for keys";
}

TEST_F(SetReaderTest, RefusesALivePageOfAnotherPublication) {
  publish("old");
  publish("new");
  std::filesystem::copy_file(file(live_file_name(1)), file(live_file_name(2)),
                             std::filesystem::copy_options::overwrite_existing);
  expect_missing(HasSubstr("belongs to another publication"));
}

// Its keys would be looked up by other hashes than those they were added with.
TEST_F(SetReaderTest, RefusesALivePageOfAnotherSeed) {
  SetReader reader = reader_of_old();
  place_files(writable_control().page().instance, 2,
              snapshot_of("new", {.set_name = kSet, .seed = {2}}).get());
  std::filesystem::remove(file(snapshot_file_name(2)));
  const std::string other(as_text(snapshot_of("other", {.set_name = kSet, .seed = {3}}).get()));
  std::ofstream(file(snapshot_file_name(2)), std::ios::binary) << other;
  make_current_by_hand(2);
  expect_missing(reader, HasSubstr("live page has another seed than its snapshot"));
}

TEST_F(SetReaderTest, TriesAgainWhenThePublicationIsNotThereYet) {
  SetReader reader = reader_of_old();
  make_current_by_hand(2);
  expect_missing(reader, AllOf(HasSubstr(file(snapshot_file_name(2))), HasSubstr("No such file")));
  place_files(writable_control().page().instance, 2, snapshot_of("new").get());
  EXPECT_TRUE(eventually([&] { return publication_seen_by(reader) == 2; }));
}

TEST_F(SetReaderTest, FollowsAfterTheDirectoryWasWipedAtTheNextRequestOrInOneLongRequest) {
  SetReader next_request = reader_of_old();
  SetReader long_request = reader();
  EXPECT_TRUE(long_request.follow());
  std::filesystem::remove_all(folder());
  next_request.check_soon();
  EXPECT_EQ(publication_seen_by(next_request), 1U) << "nothing was published since";
  EXPECT_EQ(publish("new"), 1U);  // numbers begin again; the instance tells them apart
  next_request.check_soon();
  EXPECT_TRUE(answers_from_new(next_request));
  int calls = 0;
  while (may_contain(long_request, "old1") && calls < kCallsOverACheck) ++calls;
  EXPECT_LT(calls, kCallsOverACheck);
}

TEST_F(SetReaderTest, AnswersMaybeWhenAnUntrustedFolderReplacedIt) {
  SetReader reader = reader_of_old();
  std::filesystem::rename(folder(), directory_ / "moved");
  publish("new");
  std::filesystem::permissions(folder(), std::filesystem::perms::group_write,
                               std::filesystem::perm_options::add);
  reader.check_soon();
  EXPECT_TRUE(may_contain(reader, "absent"));
  EXPECT_THAT(reader.reason(), HasSubstr("not trusted"));
  EXPECT_EQ(reader.trouble(), ErrorKind::NotTrusted);
}

TEST_F(SetReaderTest, FollowsAFolderThatReplacedTheRenamedOne) {
  SetReader reader = reader_of_old();
  std::filesystem::rename(folder(), directory_ / "moved");
  reader.check_soon();
  EXPECT_TRUE(may_contain(reader, "old1")) << "nothing was published since";
  publish("new");
  reader.check_soon();
  EXPECT_TRUE(answers_from_new(reader));
}

TEST_F(SetReaderTest, DoesNotCallFilesDamagedThatBelongToAFolderInPlaceOfItsOwn) {
  SetReader reader = reader_of_old();
  publish("new");
  std::filesystem::rename(folder(), directory_ / "moved");
  publish("newer");
  publish("newest");  // publication 2 there, which the reader looks for as that of its own folder
  EXPECT_TRUE(may_contain(reader, "newest1"));
  EXPECT_EQ(reader.trouble(), std::nullopt) << reader.reason();
  EXPECT_FALSE(may_contain(reader, "absent"));
}

TEST_F(SetReaderTest, KeepsServingWhenAFileReplacedItsFolder) {
  SetReader reader = reader_of_old();
  std::filesystem::rename(folder(), directory_ / "moved");
  const std::ofstream file{folder()};
  reader.check_soon();
  EXPECT_EQ(publication_seen_by(reader), 1U);
  EXPECT_FALSE(may_contain(reader, "absent"));
}

// As after a move to another file system: the same numbers in other files, which get all later keys.
TEST_F(SetReaderTest, AttachesACopyThatReplacedTheFolder) {
  const auto maps_its_file = [this] {
    std::ifstream maps("/proc/self/maps");
    const std::string all{std::istreambuf_iterator<char>(maps), {}};
    return all.find(file(snapshot_file_name(1))) != std::string::npos;
  };
  SetReader reader = reader_of_old();
  std::filesystem::copy(folder(), directory_ / "copy", std::filesystem::copy_options::recursive);
  std::filesystem::permissions(directory_ / "copy", std::filesystem::perms(0750));
  std::filesystem::rename(folder(), directory_ / "moved");
  std::filesystem::rename(directory_ / "copy", folder());
  EXPECT_FALSE(maps_its_file());
  reader.check_soon();
  EXPECT_TRUE(may_contain(reader, "old1"));
  EXPECT_TRUE(maps_its_file());
}

TEST_F(SetReaderTest, KeepsNoFileOpen) {
  publish("key");
  const auto open_files = [] {
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return std::distance(begin(files), end(files));
  };
  const auto before = open_files();
  SetReader reader = this->reader();
  EXPECT_TRUE(reader.follow());
  EXPECT_EQ(open_files(), before);
}

// A new page names no publication. The page before it may have named a newer one.
TEST_F(SetReaderTest, AnswersMaybeFromANewControlPageIfItHasMissedAPublicationOfTheOneBefore) {
  SetReader reader = reader_of_old();
  publish("new");
  std::filesystem::remove_all(folder());
  static_cast<void>(publisher());
  reader.check_soon();
  expect_missing(reader, HasSubstr("nothing is published yet"));
}

}  // namespace
}  // namespace keysieve
