#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/transfer/adds_log.hpp"

namespace keysieve::test {
namespace {

class SignedSets : public KeysieveProgram {
 protected:
  // Makes a key; returns its public one.
  std::string make_key(const std::string& name) const {
    return json({"keygen", path(name)}).at("public_key").get<std::string>();
  }
  std::string build_signed(const std::string& name, const std::string& key, const Words& options = {}) const {
    return build(name, numbered_lines(1'000), Words{"--sign-key", path(key)} + options);
  }

  const std::string public_key_ = make_key("sign.key");
  const std::string other_ = make_key("other.key");
  const std::string snapshot_ = build_signed("tags", "sign.key");
};

TEST_F(SignedSets, KeygenMakesAKeyAndShowsThePublicOne) {
  EXPECT_EQ(public_key_.size(), 64U);
  EXPECT_EQ(json({"keygen", "--show", path("sign.key")}).at("public_key"), public_key_);
  EXPECT_THAT(said({"keygen", "--show", path("sign.key")}), ContainsRegex("public key +" + public_key_));
  EXPECT_THAT(refusal(73, {"keygen", path("sign.key")}), HasSubstr("sign.key: is there already"));
  permit(path("sign.key"), 0644);
  EXPECT_THAT(refusal(77, {"keygen", "--show", path("sign.key")}), HasSubstr("chmod 600"));
}

TEST_F(SignedSets, InspectShowsTheSigner) {
  EXPECT_EQ(inspect(snapshot_).at("public_key"), public_key_);
  EXPECT_THAT(said({"inspect", snapshot_}), ContainsRegex("signed by +" + public_key_));
  EXPECT_EQ(inspect(build("unsigned", numbered_lines(10))).at("public_key"), nullptr);
}

TEST_F(SignedSets, PullPublishAndVerifyRefuseWhatAnotherKeyHasSigned) {
  push(snapshot_);
  const std::string keys = write("keys", numbered_lines(1'000));
  const std::vector<Words> verbs{{"pull", "tags", store(), "-o", path("pulled.ks")},
                                 {"publish", snapshot_},
                                 {"verify", snapshot_, "--keys", keys}};
  for (const Words& verb : verbs) {
    EXPECT_THAT(refusal(65, verb + Words{"--public-key", other_}), HasSubstr("is signed by"));
    EXPECT_THAT(refusal(65, verb + Words{"--public-key", other_, "--json"}), HasSubstr("is signed by"));
  }
  EXPECT_THAT(names_in(directory_.path()), Not(::testing::Contains("pulled.ks")));
  for (const Words& verb : verbs) run(verb + Words{"--public-key", other_, "--public-key", public_key_});
}

TEST_F(SignedSets, PullRefusesWhatIsNotSigned) {
  push(build("unsigned", numbered_lines(1'000)));
  EXPECT_THAT(refusal(65, {"pull", "tags", store(), "-o", path("pulled.ks"), "--public-key", public_key_}),
              HasSubstr("is not signed"));
}

TEST_F(SignedSets, UpdateSignsWithTheSameKey) {
  push(snapshot_);
  const std::string list = write("new", "one more\n");
  EXPECT_THAT(refusal(64, {"update", "tags", store(), "--add", list}), HasSubstr("would lose its signature"));
  EXPECT_THAT(refusal(65, {"update", "tags", store(), "--add", list, "--sign-key", path("other.key")}),
              HasSubstr("is signed by"));
  run({"update", "tags", store(), "--add", list, "--sign-key", path("sign.key")});
  run({"pull", "tags", store(), "-o", path("pulled.ks"), "--public-key", public_key_});
}

// What stands in for a rollback, which hosts would refuse.
TEST_F(SignedSets, TheOlderListBuiltAgainNeedsTheAddsThatTheOlderGenerationNeeded) {
  const auto add = [this](const std::string& key) { run({"add", "tags", key, store()}); };
  const auto next = [this](const std::string& name, const Words& options = {}) {
    return build_signed(name, "sign.key", Words{"--like", store(), "--adds-overlap", "0s"} + options);
  };
  push(snapshot_);
  add("before");
  push(next("older"));
  add("in between");
  push(build_signed("wrong", "sign.key", {"--like", store(), "--adds-overlap", "0s"}));
  const std::string adds_from =
      json({"rollback", "tags", "--list", store()}).at("generations").at(1).at("adds_from");
  EXPECT_EQ(adds_from, inspect(path("older.ks")).at("adds_from"));
  const std::string again = build_signed("again", "sign.key", {"--like", store(), "--adds-from", adds_from});
  push(again);
  const auto log = open_store(store());
  const auto keys_after = [&](const std::string& position) {
    Words keys;
    for (const LogEntry& entry : log->read_after(adds_log(*log, "tags"), *parse_log_position(position), 10))
      keys.push_back(entry.key.value_or(""));
    return keys;
  };
  EXPECT_THAT(keys_after(inspect(again).at("adds_from")), ::testing::Contains("in between"));
}

TEST_F(SignedSets, WrongKeysAreUsageErrors) {
  const std::string list = write("list", "a\n");
  expect_refusals(
      64, {{"publish tags.ks --public-key abc", "--public-key: is not a public key"},
           {"build --set tags " + list + " -o x.ks --kind bloom --counting --sign-key " + path("sign.key"),
            "--counting"}});
  EXPECT_THAT(refusal(66, {"build", "--set", "tags", list, "-o", path("x.ks"), "--sign-key", path("none")}),
              HasSubstr("none"));
}

}  // namespace
}  // namespace keysieve::test
