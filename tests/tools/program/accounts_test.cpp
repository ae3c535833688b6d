#include "tools/program/accounts.hpp"

#include <gtest/gtest.h>

#include "tests/support/matchers.hpp"

namespace keysieve::test {
namespace {

TEST(Group, IsFoundByItsName) {
  EXPECT_EQ(group_named("root"), 0U);
}

TEST(Group, MayBeANumberWithoutAName) {
  EXPECT_EQ(group_named("54322"), 54322U);
  EXPECT_THAT([&] { group_named("54322x"); }, fails(ErrorKind::Usage));
  EXPECT_THAT([&] { group_named("-1"); }, fails(ErrorKind::Usage));
  EXPECT_THAT([&] { group_named("99999999999"); }, fails(ErrorKind::Usage));
}

TEST(Group, IsNamedWhenTheSystemDoesNotKnowIt) {
  EXPECT_EQ(message_of<ErrorKind::Usage>([] { group_named("no-such-group"); }),
            "group \"no-such-group\": no such group");
  EXPECT_THAT([&] { group_named(""); }, fails(ErrorKind::Usage));
}

TEST(Accounts, HaveNamesWhereTheSystemKnowsThem) {
  EXPECT_EQ(user_name(0), "root");
  EXPECT_EQ(group_name(0), "root");
  EXPECT_EQ(user_name(3'999'999'999), "3999999999");
  EXPECT_EQ(group_name(3'999'999'999), "3999999999");
}

}  // namespace
}  // namespace keysieve::test
