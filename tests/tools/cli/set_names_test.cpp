// A name that no set has is an error of every verb, with the name that was probably meant; and the verbs of
// an emergency still take every set that a host or a store may have.
#include "core/publisher/seen/seen_writer.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/transfer/store_bypass.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/stored_sets.hpp"

namespace keysieve::test {
namespace {

class SetNames : public KeysieveProgram {
 protected:
  const std::string tags_ = build("tags", "猫\n");
};

TEST_F(SetNames, AreSuggestedByThoseOfTheDirectory) {
  publish(tags_);
  SeenWriter(shared_memory(), "clicks", std::nullopt).create({42}, OnUnavailable::New);
  for (const auto& [name, hint] :
       {std::pair{"tagz", "; did you mean tags?"}, {"click", "; did you mean clicks?"}, {"nosuch", ""}}) {
    const std::string reason =
        "directory " + shared_memory() + ": no set \"" + name + "\" is published here" + hint;
    for (const Words& words :
         {Words{"status", name}, Words{"status", "tags", name}, Words{"status", "--json", name},
          Words{"bypass", name}, Words{"bypass", name, "--off"}}) {
      EXPECT_EQ(refusal(66, words), reason) << words[0];
    }
    EXPECT_EQ(refusal(2, {"query", name, "猫"}), reason);
    EXPECT_EQ(refusal(2, {"query", name, "--stdin"}), reason);
  }
}

class SetNamesInStore : public SetNames {
 protected:
  SetNamesInStore() { push(tags_); }

  [[nodiscard]] std::optional<StoreBypass> bypass_of(const std::string& set_name) const {
    return read_store_bypasses(*opened_store(), set_name).of_set;
  }
  [[nodiscard]] Words bypass(const Words& options) const {
    return Words{"bypass", "--store", store()} + options;
  }
};

TEST_F(SetNamesInStore, AreSuggestedByThoseOfTheStore) {
  const std::string entry = "of a seen set";
  const auto opened = opened_store();
  opened->append(seen_log(*opened, "clicks"), {&entry, 1});
  for (const auto& [name, hint] :
       {std::pair{"tagz", "; did you mean tags?"}, {"clicks", "; clicks is a seen set"}, {"nosuch", ""}}) {
    const std::string reason = store() + ": there is no set \"" + name + "\"" + hint;
    for (const Words& words :
         {Words{"pull", name, store(), "-o", path("new.ks")}, Words{"rollback", name, "--yes", store()},
          Words{"rollback", name, "--list", store()}}) {
      EXPECT_EQ(refusal(66, words), reason) << words[0];
    }
    EXPECT_FALSE(opened->get("keysieve:" + std::string(name) + ":current"));
  }
  EXPECT_EQ(refusal(66, {"delete", "tagz", "--yes", store()}),
            store() + ": there is no set \"tagz\"; did you mean tags?");
}

TEST_F(SetNamesInStore, ThatAreMistypedDoNotSwitchABypass) {
  for (const Words& options : {Words{}, Words{"--for=1h"}, Words{"--off"}, Words{"--show"}}) {
    EXPECT_EQ(refusal(66, bypass(Words{"tagz"} + options)),
              "neither " + store() + " nor " + shared_memory() +
                  " has a set \"tagz\"; did you mean tags? (--allow-unknown-set if that is intended)");
  }
  EXPECT_THAT(refusal(66, bypass({"nosuch"})), HasSubstr("has a set \"nosuch\" (--allow-unknown-set"));
  EXPECT_FALSE(bypass_of("tagz"));
  EXPECT_FALSE(bypass_of("tags"));
}

// As a server that was emptied has it: bypasses and pointers are gone.
TEST_F(SetNamesInStore, OfTheDirectoryCanBeBypassedInAStoreThatWasEmptied) {
  const auto opened = opened_store();
  remove_record(*opened, pointer_key(*opened, "tags"));
  publish(tags_);
  run(bypass({"tags"}));
  EXPECT_TRUE(bypass_of("tags"));
}

TEST_F(SetNamesInStore, OfTheStoreCanBeBypassedWithoutADirectoryAndWithADamagedRecord) {
  run(bypass({"tags", "--directory", path("none")}));
  EXPECT_TRUE(bypass_of("tags"));
  run(bypass({"tags", "--off"}));
  put(*opened_store(), "keysieve:tags:current", "{");
  run(bypass({"tags"}));
  EXPECT_TRUE(bypass_of("tags"));
}

TEST_F(SetNamesInStore, CanBeBypassedAheadOfTheFirstPushAndEndThatWithoutTheOption) {
  run(bypass({"shop", "--allow-unknown-set"}));
  EXPECT_TRUE(bypass_of("shop"));
  EXPECT_THAT(json(bypass({"shop", "--show"})), has({{"bypass", true}}));
  run(bypass({"shop", "--off"}));
  EXPECT_FALSE(bypass_of("shop"));
}

}  // namespace
}  // namespace keysieve::test
