#include "core/worker/base/set_name.hpp"

#include <gmock/gmock.h>

#include "core/worker/base/error.hpp"
#include "tests/support/message_of.hpp"

namespace keysieve {
namespace {

using ::testing::HasSubstr;

TEST(SetName, AcceptsLettersDigitsUnderscoreAndHyphen) {
  for (const std::string name : {"tags", "a", "0", "2024-tags", "a_b-c", "a--", "z9_"}) {
    EXPECT_TRUE(is_set_name(name)) << name;
    EXPECT_EQ(checked_set_name(name), name);
  }
  EXPECT_TRUE(is_set_name(std::string(64, 'a')));
}

TEST(SetName, RefusesNamesThatCouldLeaveTheFolderOrBreakAStoreKey) {
  using namespace std::string_literals;
  for (const std::string& name :
       {""s, "."s, ".."s, "-x"s, "_x"s, "A"s, "tagS"s, "a/b"s, "../a"s, "a b"s, "a."s, "a:b"s, "a\0b"s, "\0"s,
        "a\n"s, "猫"s, "a*"s, std::string(65, 'a')}) {
    EXPECT_FALSE(is_set_name(name)) << name;
    EXPECT_EQ(test::failure_of([&] { checked_set_name(name); }), ErrorKind::Usage) << name;
  }
}

TEST(SetName, SaysWhatIsAllowedWhenItRefuses) {
  EXPECT_THAT(test::message_of<ErrorKind::Usage>([] { checked_set_name("Tags"); }),
              AllOf(HasSubstr("\"Tags\""), HasSubstr("a-z, 0-9, _ or -")));
}

}  // namespace
}  // namespace keysieve
