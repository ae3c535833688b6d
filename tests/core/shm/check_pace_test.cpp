// How many calls a process makes between two looks at the clock, at times that the test chooses.
#include "core/worker/shm/check_pace.hpp"

#include <gmock/gmock.h>

namespace keysieve {
namespace {

class CheckPaceTest : public ::testing::Test {
 protected:
  // The calls from the last check to the next one, which comes that long after it.
  int calls_until_check(int milliseconds_later) {
    int calls = 1;
    while (!pace_.count_call() && calls < 10'000) ++calls;
    EXPECT_TRUE(pace_.is_due());
    pace_.plan(now_ += std::chrono::milliseconds(milliseconds_later));
    EXPECT_FALSE(pace_.is_due());
    return calls;
  }

  CheckPace pace_;
  CheckPace::SteadyTime now_{std::chrono::hours(1)};
};

TEST_F(CheckPaceTest, ChecksAtTheFirstCallAndTwiceAsSeldomAfterEachFastOneUpTo4096Calls) {
  for (int calls = 1; calls <= 4'096; calls *= 2) ASSERT_EQ(calls_until_check(249), calls);
  EXPECT_EQ(calls_until_check(0), 4'096);
}

TEST_F(CheckPaceTest, KeepsItsPaceWhileChecksAre250To500MsApart) {
  for (int calls = 1; calls <= 64; calls *= 2) calls_until_check(0);
  for (const int later : {250, 500, 300}) EXPECT_EQ(calls_until_check(later), 128);
  EXPECT_EQ(calls_until_check(0), 128);
}

TEST_F(CheckPaceTest, ChecksEachCallAfterAPause) {
  for (int calls = 1; calls <= 64; calls *= 2) calls_until_check(0);
  EXPECT_EQ(calls_until_check(501), 128);
  EXPECT_EQ(calls_until_check(501), 1);
  EXPECT_EQ(calls_until_check(500), 1);
}

TEST_F(CheckPaceTest, ARequestBeginsWithACheckAndThenWith64CallsAtMost) {
  for (int calls = 1; calls <= 4'096; calls *= 2) calls_until_check(0);
  pace_.check_soon();
  EXPECT_EQ(calls_until_check(0), 1);
  EXPECT_EQ(calls_until_check(0), 64);
}

TEST_F(CheckPaceTest, ARequestDoesNotMakeASlowPaceFaster) {
  calls_until_check(0);
  pace_.check_soon();
  EXPECT_EQ(calls_until_check(300), 1);
  EXPECT_EQ(calls_until_check(300), 2);
}

}  // namespace
}  // namespace keysieve
