// What is said about a set that is not there.
#include "core/worker/seen/unknown_name.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temporary_directory.hpp"

namespace keysieve {
namespace {

class UnknownName : public ::testing::Test {
 protected:
  UnknownName() {
    for (const char* folder : {"tags", "tagt", "shop", "seen.d/clicks", "seen.d/events"}) {
      std::filesystem::create_directories(directory_.path() + "/" + folder);
    }
  }
  [[nodiscard]] std::string said(const std::string& name, SetType type = SetType::Published) const {
    return about_unknown_name(directory_.path(), name, type);
  }

  test::TemporaryDirectory directory_;
};

TEST_F(UnknownName, SuggestsTheNearestSetOfTheType) {
  EXPECT_EQ(said("tagz"), "no set has this name, did you mean \"tags\"?");
  EXPECT_EQ(said("click"), "no set has this name");
  EXPECT_EQ(said("click", SetType::Seen), "no seen set has this name, did you mean \"clicks\"?");
  EXPECT_EQ(said("something-else", SetType::Seen), "no seen set has this name");
}

TEST_F(UnknownName, SaysThatTheNameBelongsToTheOtherType) {
  EXPECT_EQ(said("clicks"), "it is a seen set: use KeySieve\\SeenSet");
  EXPECT_EQ(said("tags", SetType::Seen), "it is a published set: use KeySieve\\Set");
}

TEST_F(UnknownName, SaysNothingOfASetThatIsThereOrOfADirectoryThatIsNot) {
  EXPECT_EQ(said("tags"), "");
  EXPECT_EQ(said("clicks", SetType::Seen), "");
  EXPECT_EQ(about_unknown_name(directory_.path() + "/missing", "tags", SetType::Published), "");
}

}  // namespace
}  // namespace keysieve
