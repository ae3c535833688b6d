// The way of the data with the program alone: build, inspect, verify, push, pull, publish, query, status,
// bypass, for every kind and every store, with keys of every sort. No key may ever be answered absent. A kind
// knows no store: each of both comes once.
#include "core/builder/filters/filter_kind.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using namespace std::string_literals;
using ::testing::ValuesIn;

// Keys that a line can hold, a line each.
std::string awkward_lines() {
  std::string lines = "猫\n初音ミク\nO'Reilly\n \n2024\n-7\n007\n[a,b]\n{}\n--\n++\na\rb\n\xff\xfe\n"s;
  for (int i = 0; i < 3000; ++i) lines += std::to_string(i * 17) + "\n";
  lines += std::string(1'048'576, 'x') + "\n" + std::string(1'048'575, 'x') + "y\n";
  return lines;
}

// The same, NUL-separated, and the empty key and keys with line ends.
std::string awkward_list() {
  std::string list = "\0\n\0a\nb\0\r\0a\r\n\0\n\n\0"s;
  for (int i = 0; i < 3000; ++i) list += std::to_string(i * 17) + '\0';
  return list + std::string(1'048'576, '\n') + '\0';
}

class RoundTrip : public KeysieveProgram,
                  public ::testing::WithParamInterface<std::tuple<std::string, StoreKind>> {
 protected:
  void expect_every_key_to_arrive(const std::string& keys, const Words& format) const {
    const auto& [kind, store_kind] = GetParam();
    const std::string url = store_kind.empty_store(directory_);
    const Words options{"--kind", kind, "--shard-size",        "1KiB", "--fpr", "0.0001%",
                        "--like", url,  "--allow-suspect-keys"};
    const std::string built = build("tags", keys, options + format);
    const Json inspected = inspect(built);
    EXPECT_EQ(inspected.at("kind"), kind);
    EXPECT_EQ(json(Words{"verify", built, "--keys", path("tags.txt")} + format).at("false_negatives"), 0);

    EXPECT_EQ(json({"push", built, url}).at("generation"), 1);
    EXPECT_EQ(pull(url).at("build_id"), inspected.at("build_id"));
    EXPECT_EQ(read(path("pulled.ks")), read(built));

    EXPECT_EQ(json({"publish", path("pulled.ks")}).at("publication"), 1);
    EXPECT_EQ(status_of_set().at("key_count"), inspected.at("key_count"));
    const ProgramResult present = keysieve(Words{"query", "tags", "--stdin"} + format, keys);
    EXPECT_EQ(present.exit_status, 0) << present.errors;
    EXPECT_TRUE(present.output == keys) << "a key is absent";
    EXPECT_EQ(answer("surely nobody has this key"), "absent");
    run({"bypass", "tags"});
    EXPECT_EQ(keysieve({"query", "tags", "surely nobody has this key"}).output, "maybe\n");
  }
};

TEST_P(RoundTrip, CarriesEveryLineToSharedMemory) {
  expect_every_key_to_arrive(awkward_lines(), {});
}

TEST_P(RoundTrip, CarriesEveryNulSeparatedKeyToSharedMemory) {
  expect_every_key_to_arrive(awkward_list(), {"-0"});
  EXPECT_EQ(json({"query", "--file", path("pulled.ks"), "tags", "", "--"}).at("answers").at(0).at("answer"),
            "maybe");
}

std::vector<RoundTrip::ParamType> every_kind_and_store() {
  const auto kinds = filter_kinds();
  std::vector<RoundTrip::ParamType> pairs;
  for (std::size_t i = 0; i < std::max(kinds.size(), stores_to_push_to.size()); ++i)
    pairs.emplace_back(kinds[i % kinds.size()].name, stores_to_push_to[i % stores_to_push_to.size()]);
  return pairs;
}

std::string case_name(const ::testing::TestParamInfo<RoundTrip::ParamType>& info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(EveryKindAndStore, RoundTrip, ValuesIn(every_kind_and_store()), case_name);
#ifdef KEYSIEVE_REDIS_TLS
INSTANTIATE_TEST_SUITE_P(OverTls, RoundTrip,
                         ::testing::Combine(::testing::Values("split_block_bloom"), every_redis_over_tls),
                         case_name);
#endif

// A set without keys, a ban list with nobody left. That every kind answers absent is proved in
// tests/core/snapshot.
using EmptySet = KeysieveProgram;

TEST_F(EmptySet, AnswersAbsentFromBuildToQuery) {
  const std::string bans = build("bans", "", {"--min-keys", "0"});
  EXPECT_THAT(inspect(bans), has({{"key_count", 0}}));
  run({"inspect", bans});
  EXPECT_THAT(refusal(65, {"push", bans, store()}), HasSubstr("has 0 keys, fewer than 1; --min-keys"));
  EXPECT_EQ(json({"push", "--min-keys", "0", bans, store()}).at("key_count"), 0);
  EXPECT_THAT(pull(), has({{"key_count", 0}}));
  publish(path("pulled.ks"));
  EXPECT_EQ(keysieve({"query", "tags", "--stdin"}, numbered_lines(10'000)).output, "");
  EXPECT_EQ(answer("w1"), "absent");
  EXPECT_THAT(said({"status"}), HasSubstr("ready"));
}

TEST_F(EmptySet, CanFollowAndPrecedeASetWithKeys) {
  const std::string before = build("before", numbered_lines(1000));
  push(before);
  const std::string bans = build("bans", "\n", {"--like", store(), "--min-keys", "0", "--allow-shrink"});
  EXPECT_EQ(inspect(bans).at("shard_count"), inspect(before).at("shard_count"));
  run({"push", "--min-keys", "0", "--allow-shrink", bans, store()});
  push(build("after", numbered_lines(1000), {"--like", store()}));
  EXPECT_THAT(pull(), has({{"generation", 3}, {"key_count", 1000}}));
}

}  // namespace
}  // namespace keysieve::test
