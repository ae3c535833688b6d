// A name that no set has is an error of every verb, with the name that was probably meant; and the verbs of
// an emergency still take every set that a host or a store may have.
#include "core/publisher/seen/seen_writer.hpp"
#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/transfer/store_bypass.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/stored_sets.hpp"

namespace keysieve::test {
namespace {

class SetNames : public KeysieveProgram {
 protected:
  const std::string tags_ = build("tags", "猫\n");
  const std::string keys_ = path("tags.txt");
};

TEST_F(SetNames, AreSuggestedByThoseOfTheDirectory) {
  publish(tags_);
  const std::string reason =
      "directory " + shared_memory() + ": no set \"tagz\" is published here; did you mean tags?";
  for (const char* command : {"status tagz", "status tags tagz", "bypass tagz", "bypass tagz --off"}) {
    EXPECT_EQ(refusal(66, words_of(command)), reason) << command;
  }
  EXPECT_EQ(refusal(2, {"query", "tagz", "猫"}), reason);
  EXPECT_EQ(refusal(2, {"query", "tagz", "--stdin"}), reason);
}

TEST_F(SetNames, OfSeenSetsAreSuggestedToo) {
  publish(tags_);
  SeenWriter(shared_memory(), "clicks", std::nullopt).create({42}, OnUnavailable::New);
  for (const char* command : {"status click", "bypass click"})
    EXPECT_THAT(refusal(66, words_of(command)), EndsWith("; did you mean clicks?")) << command;
}

class SetNamesInStore : public KeysieveWithStore {
 protected:
  SetNamesInStore() { push(tags_, url_); }

  [[nodiscard]] std::optional<StoreBypass> bypass_of(const std::string& set_name) const {
    return read_store_bypasses(*open_store(url_, IfMissing::Refuse), set_name).of_set;
  }
  // As a server that was emptied has it: bypasses and pointers are gone.
  void lose_pointer() const {
    const auto store = open_store(url_);
    const std::string key = pointer_key(*store, "tags");
    store->remove_many({&key, 1});
  }
  [[nodiscard]] Words bypass(const Words& options) const {
    return Words{"bypass", "--store", url_} + options;
  }

  const std::string tags_ = build("tags", "猫\n");
};

TEST_P(SetNamesInStore, AreSuggestedByThoseOfTheStore) {
  const std::string reason = store_name(url_) + ": there is no set \"tagz\"; did you mean tags?";
  for (const Words& command :
       {Words{"pull", "tagz", url_, "-o", path("new.ks")},
        Words{"update", "tagz", "--add", path("tags.txt"), url_}, Words{"rollback", "tagz", "--yes", url_},
        Words{"rollback", "tagz", "--list", url_}}) {
    EXPECT_EQ(refusal(66, command), reason) << command[0];
  }
  EXPECT_FALSE(open_store(url_)->get("keysieve:tagz:current"));
}

TEST_P(SetNamesInStore, OfSavedSeenSetsAreSaidToBeThat) {
  const auto store = open_store(url_);
  const std::string entry = "of a seen set";
  store->append(seen_log(*store, "clicks"), {&entry, 1});
  EXPECT_THAT(refusal(66, {"rollback", "clicks", "--list", url_}), EndsWith("; clicks is a seen set"));
}

TEST_P(SetNamesInStore, ThatAreMistypedDoNotSwitchABypass) {
  for (const Words& options : {Words{}, Words{"--for=1h"}, Words{"--off"}, Words{"--show"}}) {
    EXPECT_EQ(refusal(66, bypass(Words{"tagz"} + options)),
              "neither " + store_name(url_) + " nor " + shared_memory() +
                  " has a set \"tagz\"; did you mean tags? (--allow-unknown-set if that is intended)");
  }
  EXPECT_FALSE(bypass_of("tagz"));
  EXPECT_FALSE(bypass_of("tags"));
}

TEST_P(SetNamesInStore, OfTheDirectoryCanBeBypassedInAStoreThatWasEmptied) {
  lose_pointer();
  publish(tags_);
  run(bypass({"tags"}));
  EXPECT_TRUE(bypass_of("tags"));
}

TEST_P(SetNamesInStore, OfTheStoreCanBeBypassedWithoutADirectory) {
  run(bypass({"tags", "--directory", path("none")}));
  EXPECT_TRUE(bypass_of("tags"));
}

TEST_P(SetNamesInStore, WhoseRecordIsDamagedCanBeBypassed) {
  const Record damaged{"keysieve:tags:current", "{"};
  open_store(url_)->put_many({&damaged, 1});
  run(bypass({"tags"}));
  EXPECT_TRUE(bypass_of("tags"));
}

TEST_P(SetNamesInStore, CanBeBypassedAheadOfTheFirstPushAndEndThatWithoutTheOption) {
  run(bypass({"shop", "--allow-unknown-set"}));
  EXPECT_TRUE(bypass_of("shop"));
  EXPECT_THAT(json(bypass({"shop", "--show"})), has({{"bypass", true}}));
  run(bypass({"shop", "--off"}));
  EXPECT_FALSE(bypass_of("shop"));
}

INSTANTIATE_TEST_SUITE_P(EveryStore, SetNamesInStore, every_store, store_kind_name);

}  // namespace
}  // namespace keysieve::test
