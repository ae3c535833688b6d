#include "core/worker/base/error.hpp"

#include <gmock/gmock.h>

#include <cerrno>

#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using ::testing::StrEq;

TEST(Error, SeparatesAFailedReadOrWriteFromAMissingPermission) {
  EXPECT_THAT(test::message_of<ErrorKind::MissingInput>([] { throw_read_error("f", ENOENT); }),
              StrEq("f: No such file or directory"));
  EXPECT_THAT(test::message_of<ErrorKind::CannotCreate>([] { throw_write_error("f", ENOSPC); }),
              StrEq("f: No space left on device"));
  for (const auto refuse : {throw_read_error, throw_write_error}) {
    for (const int error_number : {EACCES, EPERM})
      EXPECT_EQ(test::failure_of([&] { refuse("f", error_number); }), ErrorKind::Permission);
  }
}

}  // namespace
}  // namespace keysieve
