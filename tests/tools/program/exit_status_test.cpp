#include <gtest/gtest.h>

#include "tools/program/program.hpp"

namespace keysieve {
namespace {

TEST(ExitStatus, FollowsSysexits) {
  EXPECT_EQ(exit_status_of(ErrorKind::Usage), 64);
  EXPECT_EQ(exit_status_of(ErrorKind::Data), 65);
  EXPECT_EQ(exit_status_of(ErrorKind::Incompatible), 65);
  EXPECT_EQ(exit_status_of(ErrorKind::MissingInput), 66);
  EXPECT_EQ(exit_status_of(ErrorKind::Unavailable), 69);
  EXPECT_EQ(exit_status_of(ErrorKind::CannotCreate), 73);
  EXPECT_EQ(exit_status_of(ErrorKind::Locked), 75);
  EXPECT_EQ(exit_status_of(ErrorKind::Permission), 77);
  EXPECT_EQ(exit_status_of(ErrorKind::Login), 77);
  EXPECT_EQ(exit_status_of(ErrorKind::Config), 78);
  EXPECT_EQ(kExitInternal, 70);
}

}  // namespace
}  // namespace keysieve
