#include "tools/plot/spread.hpp"

#include <gmock/gmock.h>

namespace keysieve {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Spread, LeavesPlacesThatAreFarApart) {
  EXPECT_THAT(spread({50, 10, 90}, 10, 0, 100), ElementsAre(50, 10, 90));
}

TEST(Spread, MovesApartWhatWouldCoverAnother) {
  EXPECT_THAT(spread({12, 10, 11}, 10, 0, 100), ElementsAre(30, 10, 20));
}

TEST(Spread, StaysWithinTheEnds) {
  EXPECT_THAT(spread({99, 98, -5}, 10, 0, 100), ElementsAre(100, 90, 0));
}

TEST(Spread, KeepsTheOrderOfEquals) {
  EXPECT_THAT(spread({7, 7, 7}, 2, 0, 100), ElementsAre(7, 9, 11));
}

TEST(Spread, PlacesNothing) {
  EXPECT_THAT(spread({}, 10, 0, 100), IsEmpty());
}

}  // namespace
}  // namespace keysieve
