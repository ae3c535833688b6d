#include <filesystem>
#include <map>

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

TEST_F(Push, RefusesCountersOfAnotherBuild) {
  const Words counting{"--kind", "bloom", "--counting"};
  const std::string snapshot = build("tags", numbered_lines(100), counting);
  const std::string counters = read(snapshot + ".counters");
  build("tags", numbered_lines(100), counting);
  write("tags.ks.counters", counters);
  EXPECT_THAT(refusal(65, {"push", snapshot, store()}),
              AllOf(StartsWith(path("tags.ks.counters") + ": holds the counters of another build: "),
                    HasSubstr("; build again with --counting, or remove " + path("tags.ks.counters"))));
  write("tags.ks.counters", "");
  EXPECT_THAT(refusal(65, {"push", snapshot, store()}), HasSubstr("tags.ks.counters: is empty"));
}

TEST_F(Push, ChecksEachGuardUnlessItIsLifted) {
  push(build("before", numbered_lines(10'000)));
  const std::string others = write("others.txt", "猫\n犬\n鳥\n魚\n虫\n");
  const std::string own = write("own.txt", "w1\nw4999\n");
  const std::string seed = path("before.ks");
  const std::string to_store =
      build("tags", numbered_lines(5000), {"--like", seed, "--allow-shrink"}) + " " + store();
  const std::string lifted = "push --allow-shrink ";
  expect_refusals(
      65, {{"push " + to_store, "from 10,000 to 5,000 keys"},
           {lifted + "--min-keys 5001 " + to_store, "fewer than 5,001"},
           {lifted + "--max-fpr 0.0001% " + to_store, "above 0.000100 %"},
           {lifted + "--required-keys " + others + " " + to_store, "required key \""},
           {"push --dry-run " + to_store, "from 10,000 to 5,000 keys"},
           {"push --dry-run --min-keys 5001 --allow-shrink " + to_store, "fewer than 5,001"},
           {"push --dry-run --allow-shrink --required-keys " + others + " " + to_store, "required key \""}});
  EXPECT_THAT(pull(), has({{"generation", 1}}));
  EXPECT_EQ(read(path("pulled.ks")), read(seed));
  run(words_of(lifted + "--min-keys 5000 --max-fpr 2% --required-keys " + own + " " + to_store));
  EXPECT_THAT(pull(), has({{"generation", 2}}));
}

TEST_F(Push, CreatesNoStoreByADryRun) {
  const std::string snapshot = build("tags", "a\n");
  for (const char* scheme : {"lmdb:", "dir:"}) {
    EXPECT_THAT(refusal(69, {"push", "--dry-run", snapshot, scheme + path("none")}), StartsWith(scheme));
    EXPECT_FALSE(std::filesystem::exists(path("none")));
  }
}

TEST_F(Push, RefusesAWrongPasswordAndNone) {
  const RedisServer server({"--requirepass", "s3cret"});
  const std::string snapshot = build("tags", "a\n");
  const std::string address = "127.0.0.1:" + std::to_string(server.port());
  EXPECT_THAT(refusal(77, {"push", snapshot, "redis://:wr0ng@" + address}),
              AllOf(StartsWith("redis://" + address + ": the server refuses user or password"),
                    Not(HasSubstr("wr0ng"))));
  EXPECT_THAT(refusal(77, {"push", snapshot, "redis://" + address}), HasSubstr("NOAUTH"));
}

class DryPush : public KeysieveWithStore {
 protected:
  [[nodiscard]] std::map<std::string, std::optional<std::string>> records() const {
    const auto store = open_store(url_);
    std::map<std::string, std::optional<std::string>> all;
    for (const std::string& key : store->keys_with_prefix("")) all[key] = store->get(key);
    return all;
  }
  [[nodiscard]] LogPosition end_of_log() const {
    const auto store = open_store(url_);
    return store->end_of(adds_log(*store, "tags"));
  }
};

TEST_P(DryPush, SaysWhatThePushThenDoes) {
  open_store(url_);
  Json planned = json({"push", "--dry-run", build("first", numbered_lines(100)), url_});
  EXPECT_THAT(planned,
              has({{"dry_run", true}, {"replaces", nullptr}, {"generation", 1}, {"key_count", 100}}));
  EXPECT_THAT(records(), IsEmpty());
  push(path("first.ks"), url_);
  run({"add", "tags", "added", url_});

  const auto before = records();
  const LogPosition end = end_of_log();
  const std::string next = build("next", numbered_lines(90), {"--like", url_});
  planned = json({"push", "--dry-run", next, url_});
  EXPECT_THAT(planned, has({{"dry_run", true}, {"replaces", 1}, {"generation", 2}, {"key_count", 90}}));
  EXPECT_THAT(said({"push", "--dry-run", next, url_}),
              AllOf(HasSubstr("nothing is written"), ContainsRegex("replaces +generation 1: .* 100 keys")));
  EXPECT_TRUE(records() == before);
  EXPECT_EQ(end_of_log(), end) << "no loader is woken";
  planned["dry_run"] = false;
  EXPECT_EQ(json({"push", next, url_}), planned);
}

TEST_P(DryPush, WarnsAsThePush) {
  push(build("first", numbered_lines(100)), url_);
  const std::string other = build("other", numbered_lines(100), {"--kind", "bloom"});
  const std::string warnings = keysieve({"push", "--dry-run", other, url_}).errors;
  EXPECT_THAT(warnings, AllOf(HasSubstr("keysieve: warning: "), HasSubstr("seed changed from "),
                              HasSubstr("kind changed from split_block_bloom to bloom")));
  EXPECT_EQ(keysieve({"push", other, url_}).errors, warnings);
}

INSTANTIATE_TEST_SUITE_P(EveryStore, DryPush, every_store, store_kind_name);

}  // namespace
}  // namespace keysieve::test
