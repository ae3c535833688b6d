// keysieved in a control group that has too little memory for all windows of a seen set. Without sanitizers,
// which need memory of their own.
#include <gmock/gmock.h>

#include "tests/support/test_cgroup.hpp"
#include "tests/tools/loader/seen/keysieved_seen.hpp"

namespace keysieve::test {
namespace {

// Some windows fit, the last one does not.
TEST_F(KeysievedSeen, OutlivesAMemoryLimitAndKeepsTheLastWindowOpen) {
  const TestCgroup cgroup(60U << 20);
  if (!cgroup.is_there()) GTEST_SKIP() << "may not make a control group";
  site_.push("tags", kKeys);
  site_.configure(tags_set +
                  "[[seen]]\nname = \"clicks\"\nkeys = \"5M\"\nwindow = \"1s\"\nwindows = 9\nfpr = 0.001\n");
  keysieved_.emplace(std::vector<std::string>{"--config", site_.config_path()}, std::vector<std::string>{},
                     cgroup.path());
  ASSERT_TRUE(is_ready()) << worker().reason() << log();
  EXPECT_TRUE(says("a window needs ")) << log();
  EXPECT_THAT(log(), ::testing::AllOf(::testing::HasSubstr("raise MemoryMax= or the container's limit"),
                                      ::testing::HasSubstr("[seen_overdue]")));
  EXPECT_EQ(add_many(0, 100), 100);
  EXPECT_TRUE(follows("tags", 1)) << log();
  site_.push("tags", kMoreKeys);
  EXPECT_TRUE(follows("tags", 2)) << log();
  EXPECT_EQ(worker().page()->deaths_taking_memory, 0U);
  EXPECT_EQ(keysieved_->stop(), 0);
}

}  // namespace
}  // namespace keysieve::test
