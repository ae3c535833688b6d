// The page of a seen set in the lower layer of an overlayfs: as tests/core/shm/copied_up_test.cpp.
#include <gmock/gmock.h>

#include "core/publisher/shm/bypass.hpp"
#include "tests/core/seen/seen_sets.hpp"
#include "tests/support/mounts.hpp"

namespace keysieve {
namespace {

using test::append;
using test::is_new;
using test::numbered_hash;
using test::was_seen;

class CopiedUpPageTest : public test::SeenSets {
 protected:
  [[nodiscard]] FileIdentity identity() const {
    struct stat status {};
    EXPECT_EQ(::stat(page_path().c_str(), &status), 0);
    return identity_of(status);
  }
};

TEST_F(CopiedUpPageTest, IsFollowed) {
  static_cast<void>(started_writer());
  MOUNT_OVERLAY_OR_SKIP();
  SeenReader reader = this->reader();
  EXPECT_TRUE(is_new(reader, numbered_hash(1))) << reader.reason();
  const FileIdentity before = identity();
  SeenWriter writer = this->started_writer();
  append(writer, {plan(kForever - 1)});
  EXPECT_EQ(identity(), before) << "the case that is tested";
  reader.check_soon();
  EXPECT_TRUE(was_seen(reader, numbered_hash(1)));
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
