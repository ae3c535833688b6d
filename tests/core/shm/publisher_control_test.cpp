// A publisher repairs or refuses a control page that is not as it should be.
#include <gmock/gmock.h>

#include "core/publisher/shm/bypass.hpp"
#include "core/publisher/shm/new_pages.hpp"
#include "core/worker/base/error.hpp"
#include "tests/core/shm/shared_memory.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using test::answers_from_new;
using test::change_byte;
using ::testing::HasSubstr;

class PublisherControlTest : public test::SharedMemory {};

TEST_F(PublisherControlTest, ReplacesADamagedControlPage) {
  for (const std::streamoff offset : {0, 16, 24}) {
    SetReader reader = reader_of_old();
    const std::uint64_t instance = reader.control()->instance;
    // A damaged page under the same name, while the reader still maps the good one.
    std::filesystem::copy_file(file(kControlName), file("copy"));
    std::filesystem::rename(file("copy"), file(kControlName));
    change_byte(file(kControlName), offset);
    publish("new");
    reader.check_soon();
    EXPECT_TRUE(answers_from_new(reader)) << offset;
    EXPECT_NE(reader.control()->instance, instance) << offset;
    std::filesystem::remove_all(folder());
  }
}

TEST_F(PublisherControlTest, ReplacesAControlFileOfAnotherSize) {
  publish("old");
  std::filesystem::resize_file(file(kControlName), 10);
  EXPECT_GT(publish("new"), 1U);
  EXPECT_TRUE(reader().follow());
}

// Left by a publisher in PHP that was killed.
TEST_F(PublisherControlTest, RemovesTheOldPageBesideTheNewOne) {
  publish("old");
  std::filesystem::copy_file(file(kControlName), file("control.old"));
  publish("new");
  EXPECT_FALSE(std::filesystem::exists(file("control.old")));
  EXPECT_TRUE(reader().follow());
}

TEST_F(PublisherControlTest, CreatesTheControlFileAgainWhenItWasRemoved) {
  SetReader running = reader_of_old();
  Publisher publisher = this->publisher();
  std::filesystem::remove(file(kControlName));
  publisher.publish(snapshot_of("new").get(), 1);
  running.check_soon();
  SetReader fresh = this->reader();
  EXPECT_TRUE(answers_from_new(running));
  EXPECT_TRUE(answers_from_new(fresh));
}

TEST_F(PublisherControlTest, PublishesNothingWhileAnotherHoldsTheControlFile) {
  publish("old");
  Publisher publisher = this->publisher();
  std::filesystem::copy_file(file(kControlName), file("copy"));
  std::filesystem::rename(file("copy"), file(kControlName));
  {
    const FileDescriptor another =
        SetFolder::open(directory_.path(), kSet, std::nullopt).open_file(kControlName, O_RDWR);
    ASSERT_TRUE(lock_page(another, file(kControlName)));
    for (int attempt = 0; attempt < 2; ++attempt) {
      EXPECT_EQ(test::failure_of([&] { publisher.publish(snapshot_of("new").get(), 1); }), ErrorKind::Locked)
          << attempt;
    }
    EXPECT_EQ(publication_of(writable_control().page().current), 1U);
  }
  EXPECT_EQ(publisher.publish(snapshot_of("new").get(), 1), 2U);
}

TEST_F(PublisherControlTest, LeavesAControlPageOfAnotherAbiAlone) {
  publish("old");
  {
    const MappedPage<ControlPage> control = writable_control();
    control.page().abi_major = 3;
  }
  EXPECT_THAT(test::message_of<ErrorKind::Incompatible>([&] { publisher(); }),
              AllOf(HasSubstr(file(kControlName)), HasSubstr("ABI 3")));
  std::array<std::byte, kPageBytes> bytes{};
  std::ifstream(file(kControlName)).read(reinterpret_cast<char*>(bytes.data()), kPageBytes);
  EXPECT_EQ(load<std::uint16_t>(bytes.data() + offsetof(ControlPage, abi_major)), 3U);
}

// As `keysieve bypass` does before the first publication.
TEST_F(PublisherControlTest, KeepsABypassOfASetThatWasNeverPublished) {
  Publisher publisher = this->publisher();
  set_bypass(directory_.path(), kSet, 0);
  publisher.leave();
  EXPECT_TRUE(is_bypassed(writable_control().page().current.load()));
}

TEST_F(PublisherControlTest, RemovesTheFolderOfASetThatWasNeverPublished) {
  publisher().leave();
  EXPECT_FALSE(std::filesystem::exists(folder()));
}

TEST_F(PublisherControlTest, SaysThatAPublishedSetHasNoLoaderAnyMore) {
  publish("old");
  publisher().beat(1, 2);
  publisher().leave();
  EXPECT_TRUE(Troubles(writable_control().page().troubles).has(Trouble::NotConfigured));
  EXPECT_EQ(writable_control().page().next_look, 0) << "none is promised, so none is missed";
}

// What is added to the page later must find zero there.
TEST_F(PublisherControlTest, WritesReservedBytesAsZero) {
  constexpr std::size_t kFields[] = {64, 128, 192, 256, 320, 384, 448, 512};  // docs/concurrency.md
  publish("old");
  Publisher publisher = this->publisher();
  publisher.publish(snapshot_of("new").get(), 1);
  publisher.mark_adds_lost(1);
  publisher.confirm(1);
  publisher.beat(1, 1);
  publisher.leave();
  set_bypass(directory_.path(), kSet, 1);
  set_store_bypass(directory_.path(), kSet, 1);
  const MappedPage<ControlPage> control = writable_control();
  const Bytes page = std::as_bytes(std::span(&control.page(), 1));
  for (std::size_t at = kCacheLineBytes; at < page.size(); ++at) {
    const bool is_field =
        std::ranges::any_of(kFields, [at](std::size_t field) { return at / 8 == field / 8; });
    EXPECT_TRUE(is_field || page[at] == std::byte{0}) << at;
  }
}

// The page can be created again, with a new number.
TEST_F(PublisherControlTest, KeepsWhatIsPublishedWhereTheControlPageWasLost) {
  publish("old");
  std::filesystem::remove(file(kControlName));
  publisher().leave();
  EXPECT_TRUE(std::filesystem::exists(file(snapshot_file_name(1))));
}

}  // namespace
}  // namespace keysieve
