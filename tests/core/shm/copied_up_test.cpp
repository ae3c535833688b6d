// Sets and seen sets in the lower layer of an overlayfs, as in a container's image. A file that is opened for
// writing is copied up: device and inode stay the same, and mappings stay with the lower one.
#include <gmock/gmock.h>

#include <unistd.h>

#include <fstream>

#include "core/publisher/shm/bypass.hpp"
#include "tests/core/seen/seen_sets.hpp"
#include "tests/core/shm/live_layer.hpp"
#include "tests/support/mounts.hpp"

namespace keysieve {
namespace {

using test::answers_from_new;
using test::may_contain;
using test::publication_seen_by;

FileIdentity identity_at(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return identity_of(status);
}

class CopiedUpTest : public test::LiveLayers {
 protected:
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
  const std::string path = file(live_file_name(1));
  const FileIdentity before = identity_at(path);
  publisher.open_layer()->add(hash("added"));
  EXPECT_EQ(identity_at(path), before) << "the case that is tested";
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

// The page of a seen set.
using CopiedUpPageTest = test::SeenSets;

TEST_F(CopiedUpPageTest, IsFollowed) {
  static_cast<void>(started_writer());
  MOUNT_OVERLAY_OR_SKIP();
  SeenReader reader = this->reader();
  EXPECT_TRUE(test::is_new(reader, test::numbered_hash(1))) << reader.reason();
  const FileIdentity before = identity_at(page_path());
  SeenWriter writer = this->started_writer();
  test::append(writer, {plan(kForever - 1)});
  EXPECT_EQ(identity_at(page_path()), before) << "the case that is tested";
  reader.check_soon();
  EXPECT_TRUE(test::was_seen(reader, test::numbered_hash(1)));
  EXPECT_EQ(reader.attached(), writer.state());
}

TEST_F(CopiedUpPageTest, CanBeBypassed) {
  static_cast<void>(started_writer());
  MOUNT_OVERLAY_OR_SKIP();
  SeenReader reader = this->reader();
  EXPECT_TRUE(reader.follow());
  set_seen_bypass(directory_.path(), kSet, 0);
  reader.check_soon();
  EXPECT_FALSE(reader.follow());
  EXPECT_EQ(reader.availability(), Availability::Bypassed);
}

}  // namespace
}  // namespace keysieve
