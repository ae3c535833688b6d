#include "core/publisher/shm/publisher.hpp"

#include <gmock/gmock.h>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/error.hpp"
#include "tests/core/shm/shared_memory.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::exit_status_of;
using test::publication_seen_by;
using test::run_in_process;
using ::testing::UnorderedElementsAre;

class PublisherTest : public test::SharedMemory {
 protected:
  // The old publication is live, and nothing is left of a failed one.
  void expect_only_the_first_publication() {
    SetReader reader = this->reader();
    EXPECT_EQ(publication_seen_by(reader), 1U) << reader.reason();
    EXPECT_THAT(file_names(),
                UnorderedElementsAre("lock", "control", snapshot_file_name(1), live_file_name(1)));
  }
};

TEST_F(PublisherTest, NumbersPublicationsFrom1AcrossPublishers) {
  {
    Publisher publisher = this->publisher();
    for (std::uint64_t expected = 1; expected <= 5; ++expected) {
      EXPECT_EQ(publisher.publish(snapshot_of("key").get(), 10 + expected), expected);
    }
  }
  EXPECT_EQ(publish("key"), 6U);
  EXPECT_EQ(publish("key"), 7U);
}

TEST_F(PublisherTest, PublishesTheGivenBytes) {
  const SnapshotBytes snapshot = snapshot_of("key");
  publish(snapshot, 7);
  const Attachment& attached = attach();
  EXPECT_TRUE(as_text(attached.snapshot().bytes()) == as_text(snapshot.get()));
  EXPECT_EQ(attached.live().generation, 7U);
  EXPECT_EQ(attached.live().layer_shard_count, 0U);
}

TEST_F(PublisherTest, ReplacesADamagedPublicationForEveryReader) {
  SetReader reader = reader_of_old();
  EXPECT_TRUE(publisher().mark_damaged());
  EXPECT_FALSE(publisher().mark_damaged());
  EXPECT_FALSE(reader.follow());
  publish("new");
  EXPECT_EQ(publication_seen_by(reader), 2U);
}

TEST_F(PublisherTest, KeepsThePreviousPublicationAndRemovesOlderOnes) {
  for (int i = 0; i < 5; ++i) publish("key");
  EXPECT_THAT(file_names(), UnorderedElementsAre("lock", "control", snapshot_file_name(4), live_file_name(4),
                                                 snapshot_file_name(5), live_file_name(5)));
}

// And uses no number of theirs.
TEST_F(PublisherTest, RemovesTheLeftoversOfACrashAndNothingElse) {
  publish("key");
  for (const std::string& name :
       {snapshot_file_name(2), live_file_name(2), snapshot_file_name(3) + ".tmp", live_file_name(0xff),
        std::string("note"), std::string("000000000000000g.ks")}) {
    std::ofstream(file(name)) << "half a file";
  }
  EXPECT_EQ(publish("key"), 0x100U);
  EXPECT_THAT(file_names(),
              UnorderedElementsAre("lock", "control", "note", "000000000000000g.ks", snapshot_file_name(1),
                                   live_file_name(1), snapshot_file_name(0x100), live_file_name(0x100)));
  std::ofstream(file(live_file_name(0x1ff) + ".tmp")) << "half a file";
  EXPECT_EQ(publish("key"), 0x200U);
}

TEST_F(PublisherTest, RefusesASecondPublisherInThisProcessOrAnother) {
  const Publisher first = publisher();
  EXPECT_EQ(test::failure_of([&] { publisher(); }), ErrorKind::Locked);
  EXPECT_EQ(run_in_process([&] {
              publisher();
              return 0;
            }),
            exit_status_of(ErrorKind::Locked));
}

// In its header, its tables, and shards of several pieces.
TEST_F(PublisherTest, FindsDamageAnywhereInALargeSnapshot) {
  publish("old");
  SnapshotBytes corrupt = large_snapshot_of("new");
  const std::size_t size = corrupt.get().size();
  for (const std::size_t offset : {std::size_t{100}, kPageBytes, size / 3, size / 2, size - 5'000}) {
    corrupt.get()[offset] ^= std::byte{1};
    EXPECT_EQ(test::failure_of([&] { publish(corrupt); }), ErrorKind::Data) << offset;
    corrupt.get()[offset] ^= std::byte{1};
  }
  expect_only_the_first_publication();
  EXPECT_EQ(publish(corrupt), 2U);
}

TEST_F(PublisherTest, KeepsTheOldPublicationWhenTheSnapshotIsOfAnotherSet) {
  publish("old");
  EXPECT_EQ(test::failure_of([&] { publish(snapshot_of("new", {.set_name = "shop"})); }), ErrorKind::Data);
  expect_only_the_first_publication();
}

TEST_F(PublisherTest, NoticesThatItsLockFileWasReplaced) {
  publish("old");
  Publisher first = publisher();
  std::filesystem::remove(file("lock"));
  EXPECT_EQ(test::failure_of([&] { publisher(); }), ErrorKind::Locked);
  EXPECT_EQ(test::failure_of([&] { first.publish(snapshot_of("new").get(), 1); }), ErrorKind::Locked);
  expect_only_the_first_publication();
}

TEST_F(PublisherTest, RefusesToExceedTheLimitOfAllSetsWithSnapshotOrLayer) {
  publish("old");
  PublisherSettings settings{.directory = directory_.path(), .max_total_bytes = 25'000};
  const auto failure = [&](const NewLayer& layer) {
    return test::failure_of([&] { Publisher(settings, kSet).publish(snapshot_of("new").get(), 1, layer); });
  };
  EXPECT_EQ(failure({}), ErrorKind::CannotCreate);
  settings.max_total_bytes = 500'000;
  EXPECT_EQ(failure(NewLayer(layer_geometry_for(1'000'000, 0.01))), ErrorKind::CannotCreate);
  expect_only_the_first_publication();
  EXPECT_EQ(failure({}), std::nullopt);
}

// Loaders of other versions read and write these bits.
TEST_F(PublisherTest, NotesEachTroubleAtItsOwnBit) {
  Publisher publisher = this->publisher();
  for (const Trouble trouble : {Trouble::NotAsked, Trouble::CannotPublish, Trouble::SeenLost}) {
    Troubles troubles;
    troubles.add(trouble);
    publisher.note(troubles);
    EXPECT_EQ(writable_control().page().troubles, std::uint64_t{1} << static_cast<unsigned>(trouble));
  }
}

}  // namespace
}  // namespace keysieve
