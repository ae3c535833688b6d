#include "tools/loader/config/schedule.hpp"

#include <gtest/gtest.h>

#include <random>

namespace keysieve {
namespace {

using std::chrono::seconds;

constexpr SteadyTime kStart{std::chrono::hours(1)};

// How long it takes until the next try is due.
seconds wait_of(const Backoff& backoff, SteadyTime from) {
  seconds wait{0};
  while (!backoff.is_due(from + wait)) ++wait;
  return wait;
}

TEST(Schedule, KeepsJitterWithinItsShare) {
  std::mt19937_64 random(1);
  Milliseconds shortest{10000};
  Milliseconds longest{0};
  for (int i = 0; i < 10000; ++i) {
    const Milliseconds wait = with_jitter(Milliseconds(5000), random);
    shortest = std::min(shortest, wait);
    longest = std::max(longest, wait);
  }
  EXPECT_GE(shortest, Milliseconds(4249));
  EXPECT_LE(longest, Milliseconds(5750));
  EXPECT_LT(shortest, Milliseconds(4300));
  EXPECT_GT(longest, Milliseconds(5700));
}

TEST(Schedule, NeverWaitsForNothing) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100; ++i) EXPECT_GE(with_jitter(Milliseconds(1), random), Milliseconds(1));
}

TEST(Backoff, IsDueBeforeAnythingFailed) {
  EXPECT_TRUE(Backoff(seconds(10)).is_due(SteadyTime{}));
}

TEST(Backoff, DoublesUpToFiveMinutes) {
  Backoff backoff{seconds(10)};
  for (const double expected : {10.0, 20.0, 40.0, 80.0, 160.0, 300.0, 300.0}) {
    backoff.failed(kStart);
    const auto wait = static_cast<double>(wait_of(backoff, kStart).count());
    EXPECT_GE(wait, expected * (1 - kJitter));
    EXPECT_LE(wait, expected * (1 + kJitter) + 1);
  }
}

TEST(Backoff, StartsOverAfterReset) {
  Backoff backoff{seconds(10)};
  for (int i = 0; i < 5; ++i) backoff.failed(kStart);
  backoff.reset();
  EXPECT_TRUE(backoff.is_due(kStart));
  backoff.failed(kStart);
  EXPECT_LE(wait_of(backoff, kStart), seconds(12));
}

TEST(Backoff, NeverShortensAPollIntervalBeyondItsLongest) {
  Backoff backoff{std::chrono::hours(1)};
  for (int i = 0; i < 3; ++i) {
    backoff.failed(kStart);
    EXPECT_GE(wait_of(backoff, kStart), std::chrono::minutes(50));
  }
}

}  // namespace
}  // namespace keysieve
