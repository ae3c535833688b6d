#include <unistd.h>

#include <filesystem>

#include "core/base/clock.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Bypass : public KeysieveProgram {
 protected:
  Bypass() { static_cast<void>(said({"publish", build("tags", "猫\n")})); }

  [[nodiscard]] bool is_bypassed() const { return keysieve({"query", "tags", "犬"}).output == "maybe\n"; }
};

TEST_F(Bypass, LastsUntilItIsSwitchedOff) {
  EXPECT_FALSE(is_bypassed());
  EXPECT_THAT(said({"bypass", "tags"}), HasSubstr("on, until `--off`: every lookup answers maybe"));
  EXPECT_TRUE(is_bypassed());
  EXPECT_THAT(said({"bypass", "tags", "--off"}), HasSubstr("off: lookups are answered"));
  EXPECT_FALSE(is_bypassed());
}

TEST_F(Bypass, OutlivesAPublication) {
  static_cast<void>(said({"bypass", "tags"}));
  static_cast<void>(said({"publish", path("tags.ks")}));
  EXPECT_TRUE(is_bypassed());
}

TEST_F(Bypass, CanEndByItself) {
  const UnixSeconds now = unix_now();
  const Json report = json({"bypass", "tags", "--for", "2h"});
  EXPECT_EQ(report.at("set"), "tags");
  EXPECT_EQ(report.at("bypass"), true);
  EXPECT_GE(report.at("bypass_until"), now + 7200);
  EXPECT_LE(report.at("bypass_until"), unix_now() + 7200);
  EXPECT_TRUE(is_bypassed());
  EXPECT_EQ(json({"status"}).at("sets").at(0).at("bypass_until"), report.at("bypass_until"));
  EXPECT_EQ(json({"bypass", "tags", "--off"}).at("bypass"), false);
}

TEST_F(Bypass, LosesItsEndWhenItIsSetAgain) {
  static_cast<void>(said({"bypass", "tags", "--for", "2h"}));
  EXPECT_FALSE(json({"bypass", "tags"}).contains("bypass_until"));
  EXPECT_EQ(json({"status"}).at("sets").at(0).at("bypass_until"), nullptr);
}

TEST_F(Bypass, IsNotSwitchedOnAndOffAtOnce) {
  EXPECT_THAT(refusal(64, {"bypass", "tags", "--for", "2h", "--off"}),
              AllOf(HasSubstr("--for"), HasSubstr("--off")));
  EXPECT_FALSE(is_bypassed());
}

TEST_F(Bypass, RefusesASpanThatIsNone) {
  for (const char* span : {"0", "0ms", "-1h", "soon", ""}) {
    EXPECT_THAT(refusal(64, {"bypass", "tags", std::string("--for=") + span}), HasSubstr("--for")) << span;
  }
  EXPECT_FALSE(is_bypassed());
}

TEST_F(Bypass, NamesASetThatIsNotThere) {
  EXPECT_EQ(refusal(66, {"bypass", "shop"}), shared_memory() + "/shop: No such file or directory");
  EXPECT_THAT(refusal(66, {"bypass", "--directory", path("none"), "tags"}), HasSubstr(path("none")));
  EXPECT_THAT(refusal(64, {"bypass", ".."}), HasSubstr("set name \"..\""));
  EXPECT_THAT(names_in(shared_memory()), ::testing::ElementsAre("tags"));
}

TEST_F(Bypass, IsForTheOwnerAlone) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  std::filesystem::permissions(directory_.path(), std::filesystem::perms(0755));
  std::filesystem::permissions(shared_memory() + "/tags", std::filesystem::perms(0755));
  ProgramCall call = call_of({"bypass", "tags"});
  call.user = kNobody;
  const ProgramResult result = run_program(call);
  EXPECT_EQ(result.exit_status, 77);
  EXPECT_EQ(result.errors, "keysieve: " + shared_memory() + "/tags/control: Permission denied\n");
  EXPECT_FALSE(is_bypassed());
}

TEST_F(Bypass, IsOfOneSetOnThisHost) {
  EXPECT_THAT(refusal(64, {"bypass"}), HasSubstr("give a set"));
  EXPECT_THAT(refusal(64, {"bypass", "tags", "--show"}), HasSubstr("--store"));
  EXPECT_FALSE(is_bypassed());
}

}  // namespace
}  // namespace keysieve::test
