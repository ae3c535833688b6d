#include "core/worker/base/error.hpp"

#include <gmock/gmock.h>

#include <cerrno>

#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using ::testing::StrEq;

TEST(Error, SeparatesAFailedReadFromAMissingPermission) {
  EXPECT_THAT(test::message_of<ErrorKind::MissingInput>([] { throw_read_error("f", ENOENT); }),
              StrEq("f: No such file or directory"));
  EXPECT_THAT(test::message_of<ErrorKind::Permission>([] { throw_read_error("f", EACCES); }),
              StrEq("f: Permission denied"));
}

TEST(Error, SeparatesAFailedWriteFromAMissingPermission) {
  EXPECT_THAT(test::message_of<ErrorKind::CannotCreate>([] { throw_write_error("f", ENOSPC); }),
              StrEq("f: No space left on device"));
  EXPECT_THAT(test::message_of<ErrorKind::Permission>([] { throw_write_error("f", EPERM); }),
              StrEq("f: Operation not permitted"));
}

}  // namespace
}  // namespace keysieve
