#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class Seed : public KeysieveProgram {
 protected:
  // Builds as a nightly script does, and pushes; returns the warning.
  [[nodiscard]] std::string built_and_pushed(const std::string& set_name) const {
    const std::string snapshot = build(set_name, numbered_lines(1000), {"--like", store()}, set_name);
    const ProgramResult result = keysieve({"push", snapshot, store()});
    EXPECT_EQ(result.exit_status, 0) << result.errors;
    return result.errors;
  }
  [[nodiscard]] Json seed_of_file(const std::string& name) const { return inspect(path(name)).at("seed"); }
  [[nodiscard]] Json seed_of_store() const { return json({"seed", store()}).at("seed"); }
  [[nodiscard]] Json others() const { return json({"seed", store()}).at("sets_of_other_seeds"); }
};

TEST_F(Seed, IsNoneBeforeTheFirstBuild) {
  push(build("tags", numbered_lines(10)));
  EXPECT_EQ(seed_of_store(), nullptr);
  EXPECT_THAT(said({"seed", store()}), HasSubstr("none yet"));
}

// A loader that saves seen sets creates no store.
TEST_F(Seed, BeginsAStoreThatIsNotThereYet) {
  EXPECT_EQ(keysieve({"seed", store()}).exit_status, 69);
  const Json drawn = json({"seed", "--new", store()}).at("seed");
  EXPECT_EQ(drawn, seed_of_store());
}

TEST_F(Seed, IsRenewedSetBySetWhileTheOthersKeepTheirs) {
  for (const char* set_name : {"shop", "tags"}) EXPECT_EQ(built_and_pushed(set_name), "");
  const Json before = seed_of_store();
  EXPECT_EQ(before, seed_of_file("tags.ks"));
  EXPECT_THAT(others(), IsEmpty());
  const Json renewed = json({"seed", "--new", store()});
  EXPECT_NE(renewed.at("seed"), before);
  EXPECT_THAT(renewed.at("sets_of_other_seeds"), ElementsAre("shop", "tags"));

  EXPECT_THAT(built_and_pushed("tags"), HasSubstr("seed"));
  EXPECT_EQ(seed_of_file("tags.ks"), renewed.at("seed"));
  EXPECT_THAT(others(), ElementsAre("shop"));
  EXPECT_THAT(said({"seed", store()}), HasSubstr("shop\n"));
  EXPECT_THAT(built_and_pushed("shop"), HasSubstr("seed"));
  EXPECT_THAT(others(), IsEmpty());
}

}  // namespace
}  // namespace keysieve::test
