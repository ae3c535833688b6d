#include <algorithm>

#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/transfer/adds_log.hpp"

namespace keysieve::test {
namespace {

using Push = KeysieveProgram;

TEST_F(Push, AllotsTheNextGeneration) {
  const std::string snapshot = build("tags", numbered_lines(20'000));
  EXPECT_THAT(
      json({"push", snapshot, store()}),
      has({{"store", store()}, {"generation", 1}, {"key_count", 20'000}, {"bytes", read(snapshot).size()}}));
  EXPECT_THAT(
      said({"push", build("next", numbered_lines(20'000), {"--like", store()}), store()}),
      AllOf(ContainsRegex("generation +2\n"), ContainsRegex("keys +20,000\n"), HasSubstr(" in 1 chunk\n")));
}

TEST_F(Push, SaysWhenTheKeysNoLongerFitWhatLikeWouldKeep) {
  push(build("tags", numbered_lines(10'000)));
  const std::string outgrown = build("next", numbered_lines(100'000), {"--like", store()});
  EXPECT_THAT(keysieve({"push", "--dry-run", outgrown, store()}).errors,
              AllOf(HasSubstr("shard count changed from "), HasSubstr("; the keys no longer fit"),
                    Not(HasSubstr("--like keeps it"))));
  const std::string resized =
      build("resized", numbered_lines(9'000), {"--like", path("tags.ks"), "--resize", "--growth", "3"});
  EXPECT_THAT(keysieve({"push", resized, store()}).errors, HasSubstr("; build --like keeps it"));
}

class DryPush : public KeysieveProgram {
 protected:
  // What the store holds, and the end of its adds log.
  [[nodiscard]] Words content() const {
    const auto opened = opened_store();
    Words all{to_text(opened->end_of(adds_log(*opened, "tags")))};
    for (const std::string& key : opened->keys_with_prefix("")) {
      all.push_back(key + " " + opened->get(key).value());
    }
    std::sort(all.begin() + 1, all.end());
    return all;
  }
};

TEST_F(DryPush, SaysWhatThePushThenDoes) {
  const Words nothing = content();
  Json planned = json({"push", "--dry-run", build("first", numbered_lines(100)), store()});
  EXPECT_THAT(planned,
              has({{"dry_run", true}, {"replaces", nullptr}, {"generation", 1}, {"key_count", 100}}));
  EXPECT_EQ(content(), nothing);
  push(path("first.ks"));
  run({"add", "tags", "added", store()});

  const std::string next = build("next", numbered_lines(90), {"--like", store()});
  const Words before = content();
  planned = json({"push", "--dry-run", next, store()});
  EXPECT_THAT(planned, has({{"dry_run", true}, {"replaces", 1}, {"generation", 2}, {"key_count", 90}}));
  EXPECT_THAT(said({"push", "--dry-run", next, store()}),
              AllOf(HasSubstr("nothing is written"), ContainsRegex("replaces +generation 1: .* 100 keys")));
  EXPECT_TRUE(content() == before) << "no record is changed and no loader woken";
  planned["dry_run"] = false;
  EXPECT_EQ(json({"push", next, store()}), planned);
}

TEST_F(DryPush, WarnsAsThePush) {
  push(build("first", numbered_lines(100)));
  const std::string other = build("other", numbered_lines(100), {"--kind", "bloom"});
  const std::string warnings = keysieve({"push", "--dry-run", other, store()}).errors;
  EXPECT_THAT(warnings, AllOf(HasSubstr("keysieve: warning: "), HasSubstr("seed changed from "),
                              HasSubstr("kind changed from split_block_bloom to bloom")));
  EXPECT_EQ(keysieve({"push", other, store()}).errors, warnings);
}

using Pull = KeysieveProgram;

TEST_F(Pull, FetchesTheBytesThatWerePushed) {
  const std::string snapshot = build("tags", numbered_lines(100'000));
  push(snapshot);
  EXPECT_THAT(said({"pull", store(), "tags", "-o", path("pulled.ks")}),
              AllOf(ContainsRegex("written +" + path("pulled.ks") + "\n"), ContainsRegex("generation +1\n"),
                    ContainsRegex("keys +100,000 distinct\n")));
  EXPECT_EQ(read(path("pulled.ks")), read(snapshot));
  EXPECT_THAT(pull(), has({{"file", path("pulled.ks")},
                           {"generation", 1},
                           {"set", "tags"},
                           {"build_id", inspect(snapshot).at("build_id")}}));
}

TEST_F(Pull, KeepsTheOldFileWhenTheGenerationIsDamaged) {
  const std::string url = "dir:" + path("files");
  const std::string snapshot = build("tags", numbered_lines(100));
  push(snapshot, url);
  const Words call{"pull", url, "tags", "-o", path("pulled.ks")};
  run(call);
  for (const std::string& name : names_in(path("files"))) {
    if (name.ends_with(":0")) damage(path("files") + "/" + name, 5000);
  }
  EXPECT_THAT(refusal(65, call), HasSubstr(url + ": "));
  EXPECT_EQ(read(path("pulled.ks")), read(snapshot));
  push(snapshot, url);  // repairs it
  run(call);
}

}  // namespace
}  // namespace keysieve::test
