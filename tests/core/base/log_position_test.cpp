#include "core/builder/base/log_positions.hpp"

#include <gtest/gtest.h>

namespace keysieve {
namespace {

TEST(LogPosition, ComparesByMillisecondThenByNumber) {
  EXPECT_LT(LogPosition{}, log_position(0, 1));
  EXPECT_LT(log_position(1, 255), log_position(1, 256));
  EXPECT_LT(log_position(255, UINT64_MAX), log_position(256, 0));
}

TEST(LogPosition, ReturnsItsNumbers) {
  const LogPosition position = log_position(1'700'000'000'123, 42);
  EXPECT_EQ(milliseconds_of(position), 1'700'000'000'123U);
  EXPECT_EQ(number_of(position), 42U);
}

TEST(LogPosition, IsWrittenAndReadAsRedisPrintsIt) {
  const LogPosition position = log_position(1'700'000'000'123, 42);
  EXPECT_EQ(to_text(position), "1700000000123-42");
  EXPECT_EQ(parse_log_position(to_text(position)), position);
}

TEST(LogPosition, RefusesTextOfAnotherForm) {
  for (const char* text :
       {"", "-", "1", "1-", "-1", "1-2-3", "1-x", " 1-2", "1--2", "18446744073709551616-0"}) {
    EXPECT_EQ(parse_log_position(text), std::nullopt) << text;
  }
}

TEST(LogPosition, KnowsTheOneBefore) {
  EXPECT_EQ(position_before(log_position(1000, 7)), log_position(1000, 6));
  EXPECT_EQ(position_before(log_position(1000, 0)), log_position(999, UINT64_MAX));
  EXPECT_EQ(position_before(log_position(256, 0)), log_position(255, UINT64_MAX));
  EXPECT_EQ(position_before(LogPosition{}), LogPosition{}) << "nothing is before it";
}

TEST(LogPosition, RisesEvenWhenTheClockDoesNot) {
  const LogPosition last = log_position(1000, 7);
  EXPECT_EQ(next_log_position(last, 1001), log_position(1001, 0));
  EXPECT_EQ(next_log_position(last, 1000), log_position(1000, 8));
  EXPECT_EQ(next_log_position(last, 10), log_position(1000, 8)) << "a clock that went back";
  EXPECT_EQ(next_log_position(log_position(1000, UINT64_MAX), 1000), log_position(1001, 0));
}

}  // namespace
}  // namespace keysieve
