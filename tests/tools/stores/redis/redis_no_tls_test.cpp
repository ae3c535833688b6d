#include "tests/support/matchers.hpp"
#include "tests/support/store_calls.hpp"
#include "tools/stores/store.hpp"

namespace keysieve::test {
namespace {

TEST(RedisTls, IsRefusedByABuildWithoutIt) {
  for (const std::string url :
       {"rediss://127.0.0.1:1", "rediss-cluster://127.0.0.1:1", "rediss-sentinel://127.0.0.1:1/mymaster"}) {
    EXPECT_THAT(
        refusal_to_open<ErrorKind::Usage>(url + "?ca_file=/ca.crt"),
        AllOf(StartsWith(url + ": this build has no TLS, since hiredis "), HasSubstr("redis+unix://")));
  }
}

}  // namespace
}  // namespace keysieve::test
