#include "core/base/error.hpp"

#include <gmock/gmock.h>

#include <cerrno>

namespace keysieve {
namespace {

using ::testing::StrEq;
using ::testing::ThrowsMessage;

TEST(Error, CarriesItsKind) {
  EXPECT_EQ(DataError("x").kind(), ErrorKind::Data);
  EXPECT_EQ(LockedError("x").kind(), ErrorKind::Locked);
}

TEST(Error, IsCaughtByItsBase) {
  EXPECT_THROW(throw IncompatibleError("x"), Error);
}

TEST(Error, TellsReadingFromNotBeingAllowedTo) {
  EXPECT_THAT([] { throw_read_error("f", ENOENT); },
              ThrowsMessage<MissingInputError>(StrEq("f: No such file or directory")));
  EXPECT_THAT([] { throw_read_error("f", EACCES); },
              ThrowsMessage<PermissionError>(StrEq("f: Permission denied")));
}

TEST(Error, TellsWritingFromNotBeingAllowedTo) {
  EXPECT_THAT([] { throw_write_error("f", ENOSPC); },
              ThrowsMessage<CannotCreateError>(StrEq("f: No space left on device")));
  EXPECT_THAT([] { throw_write_error("f", EPERM); },
              ThrowsMessage<PermissionError>(StrEq("f: Operation not permitted")));
}

}  // namespace
}  // namespace keysieve
