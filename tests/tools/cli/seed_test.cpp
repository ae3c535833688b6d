#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Seed : public KeysieveProgram {
 protected:
  // Built as a nightly script does.
  [[nodiscard]] std::string built_like_store(const std::string& set_name) const {
    return build(set_name, numbered_lines(1000), {"--like", store()}, set_name);
  }
  [[nodiscard]] std::string push(const std::string& set_name) const {
    const ProgramResult result = keysieve({"push", built_like_store(set_name), store()});
    EXPECT_EQ(result.exit_status, 0) << result.errors;
    return result.errors;
  }
  [[nodiscard]] Json seed_of_file(const std::string& path) const {
    return json({"inspect", path}).at("seed");
  }
};

TEST_F(Seed, IsNoneBeforeTheFirstBuild) {
  static_cast<void>(said({"push", build("tags", numbered_lines(10)), store()}));
  EXPECT_EQ(json({"seed", store()}).at("seed"), nullptr);
  EXPECT_THAT(said({"seed", store()}), HasSubstr("none yet"));
  EXPECT_EQ(refusal(69, {"seed", "lmdb:" + path("none")}).substr(0, 5), "lmdb:");
}

TEST_F(Seed, IsThatOfTheSetsOfTheStore) {
  EXPECT_EQ(push("tags"), "");
  EXPECT_EQ(json({"seed", store()}).at("seed"), seed_of_file(path("tags.ks")));
  EXPECT_THAT(json({"seed", store()}).at("sets_of_other_seeds"), IsEmpty());
}

TEST_F(Seed, IsRenewedSetBySetWhileTheOldOnesAreServed) {
  for (const char* set_name : {"shop", "tags"}) EXPECT_EQ(push(set_name), "");
  const Json before = json({"seed", store()}).at("seed");
  const Json renewed = json({"seed", "--new", store()});
  EXPECT_NE(renewed.at("seed"), before);
  EXPECT_THAT(renewed.at("sets_of_other_seeds"), ElementsAre("shop", "tags"));

  // What is there goes on with its seed: it can be pulled, changed and published.
  static_cast<void>(said({"update", "tags", "--add", write("more.txt", "more\n"), store()}));
  static_cast<void>(said({"pull", store(), "tags", "-o", path("pulled.ks")}));
  EXPECT_EQ(seed_of_file(path("pulled.ks")), before);
  static_cast<void>(said({"publish", path("pulled.ks")}));
  for (const char* key : {"w0", "w999", "more"}) EXPECT_EQ(answer(key), "maybe");

  EXPECT_THAT(push("tags"), HasSubstr("seed"));
  EXPECT_EQ(seed_of_file(path("tags.ks")), renewed.at("seed"));
  EXPECT_THAT(json({"seed", store()}).at("sets_of_other_seeds"), ElementsAre("shop"));
  EXPECT_THAT(said({"seed", store()}), HasSubstr("shop\n"));
  static_cast<void>(said({"publish", path("tags.ks")}));
  for (const char* key : {"w0", "w999"}) EXPECT_EQ(answer(key), "maybe");
  EXPECT_THAT(push("shop"), HasSubstr("seed"));
  EXPECT_THAT(json({"seed", store()}).at("sets_of_other_seeds"), IsEmpty());
}

TEST_F(Seed, OfTheGenerationThatIsBroughtBackIsItsOwn) {
  EXPECT_EQ(push("tags"), "");
  const Json before = seed_of_file(path("tags.ks"));
  static_cast<void>(said({"seed", "--new", store()}));
  EXPECT_THAT(push("tags"), HasSubstr("seed"));
  static_cast<void>(said({"rollback", "tags", "--yes", store()}));
  static_cast<void>(said({"pull", store(), "tags", "-o", path("pulled.ks")}));
  EXPECT_EQ(seed_of_file(path("pulled.ks")), before);
  EXPECT_THAT(json({"seed", store()}).at("sets_of_other_seeds"), ElementsAre("tags"));
}

}  // namespace
}  // namespace keysieve::test
