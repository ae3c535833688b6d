#include <gmock/gmock.h>

#include "core/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(RedisTls, IsRefusedByABuildWithoutIt) {
  for (const std::string url :
       {"rediss://127.0.0.1:1", "rediss-cluster://127.0.0.1:1", "rediss-sentinel://127.0.0.1:1/mymaster"}) {
    EXPECT_THAT(
        test::message_of<ErrorKind::Usage>([&] { open_store(url + "?ca_file=/ca.crt"); }),
        AllOf(StartsWith(url + ": this build has no TLS, since hiredis "), HasSubstr("redis+unix://")));
  }
}

}  // namespace
}  // namespace keysieve
