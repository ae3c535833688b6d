// Sets in the lower layer of an overlayfs, as in a container's image. A file that is opened for writing is
// copied up: device and inode stay the same, and mappings stay with the lower one.
#include <gmock/gmock.h>

#include <unistd.h>

#include <fstream>

#include "core/publisher/shm/bypass.hpp"
#include "tests/core/shm/live_layer.hpp"
#include "tests/support/mounts.hpp"

namespace keysieve {
namespace {

using test::answers_from_new;
using test::may_contain;
using test::publication_seen_by;

class CopiedUpTest : public test::LiveLayers {
 protected:
  [[nodiscard]] FileIdentity identity_at(const std::string& name) const {
    struct stat status {};
    EXPECT_EQ(::stat(file(name).c_str(), &status), 0);
    return identity_of(status);
  }
  // As a start script that sets modes or owners.
  void copy_up(const std::string& name) const {
    std::filesystem::permissions(file(name), std::filesystem::perms(0600));
  }
};

TEST_F(CopiedUpTest, AControlPageIsFollowedInOneLongRequest) {
  publish("old");
  MOUNT_OVERLAY_OR_SKIP();
  SetReader reader = this->reader();
  EXPECT_EQ(publication_seen_by(reader), 1U);
  publish("new");
  EXPECT_TRUE(test::eventually([&] { return answers_from_new(reader); }));
}

TEST_F(CopiedUpTest, AControlPageIsFollowedThoughItWasCopiedUpByOthers) {
  publish("old");
  MOUNT_OVERLAY_OR_SKIP();
  SetReader reader = this->reader();
  EXPECT_EQ(publication_seen_by(reader), 1U);
  copy_up(kControlName);
  reader.check_soon();
  EXPECT_EQ(publication_seen_by(reader), 1U);
  publish("new");
  reader.check_soon();
  EXPECT_TRUE(answers_from_new(reader));
}

TEST_F(CopiedUpTest, ASetCanBeBypassed) {
  publish("old");
  MOUNT_OVERLAY_OR_SKIP();
  SetReader reader = this->reader();
  EXPECT_EQ(publication_seen_by(reader), 1U);
  set_bypass(directory_.path(), kSet, 0);
  reader.check_soon();
  EXPECT_FALSE(reader.follow());
  EXPECT_EQ(reader.availability(), Availability::Bypassed);
  set_bypass(directory_.path(), kSet, kBypassOver);
  EXPECT_TRUE(reader.follow()) << "from now on at the next call";
}

// The control page was copied up before the reader came, the layer afterwards.
TEST_F(CopiedUpTest, ALiveLayerIsFollowed) {
  publish_with(empty_layer());
  MOUNT_OVERLAY_OR_SKIP();
  Publisher publisher = this->publisher();
  SetReader reader = this->reader();
  EXPECT_FALSE(may_contain(reader, "added"));
  const std::string name = live_file_name(1);
  const FileIdentity before = identity_at(name);
  publisher.open_layer()->add(hash("added"));
  EXPECT_EQ(identity_at(name), before) << "the case that is tested";
  reader.check_soon();
  EXPECT_TRUE(may_contain(reader, "added"));
  EXPECT_FALSE(may_contain(reader, "absent"));
}

TEST_F(CopiedUpTest, ALiveLayerThatMayNotBeOpenedAnyMoreMakesEachAnswerMaybe) {
  publish_with(empty_layer());
  MOUNT_OVERLAY_OR_SKIP();
  Publisher publisher = this->publisher();
  SetReader reader = this->reader();
  EXPECT_FALSE(may_contain(reader, "added"));
  publisher.open_layer()->add(hash("added"));
  constexpr uid_t kAnother = 54321;
  ASSERT_EQ(::chown(file(live_file_name(1)).c_str(), kAnother, kAnother), 0);
  reader.check_soon();
  EXPECT_TRUE(may_contain(reader, "added"));
  EXPECT_NE(reader.availability(), Availability::Ready);
}

TEST_F(CopiedUpTest, AReaderStaysWithWhatIsMappedIfSomethingElseLiesThere) {
  publish("old");
  MOUNT_OVERLAY_OR_SKIP();
  SetReader reader = this->reader();
  EXPECT_EQ(publication_seen_by(reader), 1U);
  std::filesystem::remove(file(live_file_name(1)));
  std::ofstream(file(live_file_name(1))) << std::string(kPageBytes, 'x');
  reader.check_soon();
  EXPECT_EQ(publication_seen_by(reader), 1U);
  EXPECT_EQ(reader.availability(), Availability::Ready);
}

TEST_F(CopiedUpTest, AReaderStaysWithWhatIsMappedWhileNothingIsCopiedUp) {
  publish("old");
  MOUNT_OVERLAY_OR_SKIP();
  SetReader reader = this->reader();
  EXPECT_EQ(publication_seen_by(reader), 1U);
  const std::byte* const mapped = reader.attachment()->snapshot().bytes().data();
  reader.check_soon();
  EXPECT_EQ(publication_seen_by(reader), 1U);
  EXPECT_EQ(reader.attachment()->snapshot().bytes().data(), mapped);
}

}  // namespace
}  // namespace keysieve
