// When a set answers, and the reason it gives when it does not.
#include <gmock/gmock.h>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/shm/set_reader.hpp"
#include "tests/core/shm/shared_memory.hpp"

namespace keysieve {
namespace {

using test::publication_seen_by;
using ::testing::HasSubstr;

class AvailabilityTest : public test::SharedMemory {
 protected:
  // Rewrites the control page's header, with the right checksum, as a publisher of another version would.
  template <typename Change>
  void rewrite_control(Change change) {
    const MappedPage<ControlPage> control = writable_control();
    ControlPage& page = control.page();
    change(page);
    page.header_checksum =
        checksum(Bytes(reinterpret_cast<const std::byte*>(&page), offsetof(ControlPage, header_checksum)));
  }
};

TEST_F(AvailabilityTest, IsMissingWhenTheDirectoryIs) {
  SetReader reader({.directory = directory_ / "gone"}, kSet);
  expect_missing(reader, AllOf(HasSubstr(directory_ / "gone"), HasSubstr("No such file or directory")));
}

TEST_F(AvailabilityTest, IsMissingBeforeTheFirstPublication) {
  [[maybe_unused]] const Publisher publisher = this->publisher();
  SetReader reader = this->reader();
  expect_missing(reader, HasSubstr("nothing is published yet"));
  EXPECT_EQ(reader.trouble(), ErrorKind::MissingInput);
}

TEST_F(AvailabilityTest, IsExpiredPastValidForUntilAFresherSnapshotIsPublished) {
  // The second in which it ends is past it.
  publish(snapshot_of("key", {.set_name = kSet, .as_of = unix_now() - 50, .valid_for = 50}));
  SetReader reader = this->reader();
  EXPECT_FALSE(reader.follow());
  EXPECT_EQ(reader.availability(), Availability::Expired);
  EXPECT_THAT(reader.reason(), HasSubstr("past valid_for"));
  EXPECT_EQ(reader.trouble(), std::nullopt) << "it is no error";
  ASSERT_NE(reader.attachment(), nullptr);
  EXPECT_EQ(reader.attachment()->id().publication, 1U);
  publish(snapshot_of("key", {.set_name = kSet, .as_of = unix_now(), .valid_for = 5'000}));
  EXPECT_EQ(publication_seen_by(reader), 2U);
}

TEST_F(AvailabilityTest, IsIncompatibleWithAControlPageOfAnotherAbi) {
  publish("key");
  rewrite_control([](ControlPage& page) { page.abi_major = 3; });
  SetReader reader = this->reader();
  EXPECT_FALSE(reader.follow());
  EXPECT_EQ(reader.availability(), Availability::Incompatible);
  EXPECT_THAT(reader.reason(), AllOf(HasSubstr(file(kControlName)), HasSubstr("ABI 3")));
  EXPECT_EQ(reader.trouble(), ErrorKind::Incompatible);
}

TEST_F(AvailabilityTest, AcceptsAControlPageOfAHigherMinorVersion) {
  publish("key");
  rewrite_control([](ControlPage& page) { page.abi_minor = 9; });
  EXPECT_TRUE(reader().follow());
}

TEST_F(AvailabilityTest, IsIncompatibleOnceASnapshotOfALaterFormatIsPublished) {
  publish("old");
  SetReader reader = this->reader();
  EXPECT_TRUE(reader.follow());
  SnapshotBytes later = snapshot_of("new");
  auto& header = *reinterpret_cast<SnapshotHeader*>(later.get().data());
  header.format = newest_snapshot_format() + 1;
  header.header_checksum = header_checksum(header);
  publish_by_hand(2, later.get());
  EXPECT_FALSE(reader.follow());
  EXPECT_EQ(reader.availability(), Availability::Incompatible);
  EXPECT_THAT(reader.reason(), AllOf(HasSubstr(file(snapshot_file_name(2))), HasSubstr("format 2")));
  publish("newer");
  EXPECT_EQ(publication_seen_by(reader), 3U);
}

}  // namespace
}  // namespace keysieve
