#include "core/worker/base/error.hpp"

#include <gmock/gmock.h>

#include <cerrno>

#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using ::testing::StrEq;

TEST(Error, CarriesItsKind) {
  EXPECT_EQ(Error(ErrorKind::Data, "x").kind(), ErrorKind::Data);
}

TEST(Error, SeparatesAFailedReadFromAMissingPermission) {
  EXPECT_THAT([] { throw_read_error("f", ENOENT); },
              test::fails(ErrorKind::MissingInput, StrEq("f: No such file or directory")));
  EXPECT_THAT([] { throw_read_error("f", EACCES); },
              test::fails(ErrorKind::Permission, StrEq("f: Permission denied")));
}

TEST(Error, SeparatesAFailedWriteFromAMissingPermission) {
  EXPECT_THAT([] { throw_write_error("f", ENOSPC); },
              test::fails(ErrorKind::CannotCreate, StrEq("f: No space left on device")));
  EXPECT_THAT([] { throw_write_error("f", EPERM); },
              test::fails(ErrorKind::Permission, StrEq("f: Operation not permitted")));
}

}  // namespace
}  // namespace keysieve
