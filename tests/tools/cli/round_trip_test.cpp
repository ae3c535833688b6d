// The way of the data with the program alone: build, inspect, verify, push, pull, publish, query, status,
// bypass, for every kind and every store, with keys of every sort. No key may ever be answered absent.
#include "core/builder/filters/filter_kind.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

using namespace std::string_literals;
using ::testing::Combine;
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

TEST_P(RoundTrip, CarriesKnownAbsentKeysToSharedMemory) {
  const auto& [kind, store_kind] = GetParam();
  const std::string url = store_kind.empty_store(directory_);
  const std::string absent = numbered_lines(30'000, "absent");
  const std::string built =
      build("tags", numbered_lines(3'000),
            {"--kind", kind, "--shard-size", "1KiB", "--known-absent", write("absent.txt", absent)});
  push(built, url);
  EXPECT_THAT(pull(url), has({{"key_count", 3'000}, {"known_absent_count", 30'000}}));
  EXPECT_TRUE(read(path("pulled.ks")) == read(built));
  publish(path("pulled.ks"));
  EXPECT_EQ(status_of_set().at("known_absent_count"), 30'000);
  EXPECT_TRUE(keysieve({"query", "tags", "--stdin"}, numbered_lines(3'000)).output == numbered_lines(3'000));
  const ProgramResult known = keysieve({"query", "tags", "--stdin"}, absent);
  EXPECT_EQ(known.output, "");
  EXPECT_EQ(known.errors, "");
  EXPECT_THAT(refusal(64, {"update", "tags", "--add", write("new.txt", "absent1\n"), url}),
              AllOf(HasSubstr("set \"tags\""), HasSubstr("keys")));
}

std::vector<std::string> every_kind() {
  std::vector<std::string> names;
  for (const FilterKind& kind : filter_kinds()) names.emplace_back(kind.name);
  return names;
}

std::string case_name(const ::testing::TestParamInfo<RoundTrip::ParamType>& info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(EveryKindAndStore, RoundTrip,
                         Combine(ValuesIn(every_kind()), every_store_to_push_to), case_name);

}  // namespace
}  // namespace keysieve::test
