#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/builder/filters/filter_kind.hpp"
#include "core/publisher/shm/publisher.hpp"
#include "tests/support/live_keys.hpp"
#include "tests/support/mounts.hpp"
#include "tests/tools/cli/keysieve_program.hpp"

namespace keysieve::test {
namespace {

class Publish : public KeysieveProgram {
 protected:
  Publish() {
    build("old", numbered_lines(100) + "old\n");
    build("new", numbered_lines(100) + "new\n");
  }

  void publish_old() const { publish(path("old.ks")); }
  void expect_old_is_live() const {
    EXPECT_EQ(answer("old"), "maybe");
    EXPECT_EQ(answer("new"), "absent");
  }
};

TEST_F(Publish, MakesASnapshotCurrent) {
  EXPECT_THAT(said({"publish", path("old.ks")}),
              AllOf(ContainsRegex("set +tags\n"), ContainsRegex("publication +1\n"),
                    ContainsRegex("directory +" + shared_memory() + "\n"), ContainsRegex("keys +101\n")));
  expect_old_is_live();
  EXPECT_THAT(json({"publish", path("new.ks")}), has({{"set", "tags"},
                                                      {"publication", 2},
                                                      {"directory", shared_memory()},
                                                      {"key_count", 101},
                                                      {"bytes", read(path("new.ks")).size()}}));
  EXPECT_EQ(answer("new"), "maybe");
  EXPECT_EQ(answer("old"), "absent");
}

TEST_F(Publish, SaysHowManyKnownAbsentKeysThereAre) {
  const std::string known = build("known", "old\n", {"--known-absent", write("absent.txt", "a\nb\n")});
  EXPECT_THAT(said({"publish", known}), ContainsRegex("\nknown absent +2 keys\n"));
  EXPECT_EQ(json({"publish", known}).at("known_absent_count"), 2);
  EXPECT_THAT(said({"publish", path("old.ks")}), Not(HasSubstr("known absent")));
}

TEST_F(Publish, HidesNoAddedKeysUnlessToldTo) {
  publish_with_layer(shared_memory(), path("old.ks"));
  add_live_keys(shared_memory(), "tags", {"added"});
  EXPECT_EQ(refusal(65, {"publish", path("new.ks")}),
            "set \"tags\" has 1 added key, which would be absent until keysieved looks again; push the file "
            "instead, or lift this by --allow-hidden-adds");
  EXPECT_EQ(answer("added"), "maybe");
  run({"publish", "--allow-hidden-adds", path("new.ks")});
  EXPECT_EQ(answer("new"), "maybe");
}

// There may be no keysieved that would end it.
TEST_F(Publish, EndsTheMaybeForLostAddsIfToldTo) {
  publish_old();
  Publisher({.directory = shared_memory()}, "tags").mark_adds_lost(1);
  EXPECT_EQ(
      refusal(65, {"publish", path("old.ks")}),
      "set \"tags\" answers maybe, because the store has lost added keys, which would be absent; push a "
      "later build instead, or lift this by --allow-hidden-adds");
  EXPECT_THAT(
      keysieve({"query", "tags", "new"}),
      AllOf(::testing::Field(&ProgramResult::output, "maybe\n"),
            ::testing::Field(&ProgramResult::errors, HasSubstr("has lost keys that were added to it"))));
  run({"publish", "--allow-hidden-adds", path("old.ks")});
  expect_old_is_live();
}

TEST_F(Publish, RefusesAGroupThatIsNotThere) {
  EXPECT_EQ(refusal(64, {"publish", "--group", "no-such-group", path("old.ks")}),
            "group \"no-such-group\": no such group");
  EXPECT_THAT(names_in(shared_memory()), ElementsAre());
}

TEST_F(Publish, GivesFilesToTheGroup) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give files to any group";
  run({"publish", "--group", "www-data", path("old.ks")});
  struct stat status {};
  ASSERT_EQ(::stat((set_folder() + "/0000000000000001.ks").c_str(), &status), 0);
  EXPECT_EQ(status.st_gid, ::getgrnam("www-data")->gr_gid);
}

TEST_F(Publish, RefusesToPassTheLimitOfAllSets) {
  publish_old();
  EXPECT_THAT(refusal(73, {"publish", "--max-total-size", "16KiB", path("new.ks")}),
              AllOf(HasSubstr("limit of 16384 bytes"), HasSubstr("max_total_size")));
  expect_old_is_live();
}

TEST_F(Publish, NamesADirectoryThatIsReadOnly) {
  const MountedTmpfs mounted(shared_memory(), "256k");
  if (mounted.error() != 0) GTEST_SKIP() << "only root may mount a small tmpfs";
  publish_old();
  ASSERT_EQ(::mount(nullptr, shared_memory().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr), 0);
  EXPECT_THAT(refusal(73, {"publish", path("new.ks")}),
              AllOf(HasSubstr(set_folder()), HasSubstr("Read-only file system")));
  EXPECT_THAT(refusal(73, {"publish", build("shop", "a\n", {}, "shop")}),
              AllOf(HasSubstr(shared_memory() + "/shop"), HasSubstr("Read-only file system")));
  expect_old_is_live();
}

// The way of the data with the program alone: build, inspect, verify, push, pull, publish, query, status,
// bypass, for every kind and every store, with keys of every sort. No key may ever be answered absent. A kind
// knows no store: each of both comes once.

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
  const auto stores = stores_that({.write = true});
  std::vector<RoundTrip::ParamType> pairs;
  for (std::size_t i = 0; i < std::max(kinds.size(), stores.size()); ++i)
    pairs.emplace_back(kinds[i % kinds.size()].name, stores[i % stores.size()]);
  return pairs;
}

std::string case_name(const ::testing::TestParamInfo<RoundTrip::ParamType>& info) {
  return std::get<0>(info.param) + "_" + std::get<1>(info.param).name;
}

INSTANTIATE_TEST_SUITE_P(EveryKindAndStore, RoundTrip, ValuesIn(every_kind_and_store()), case_name);

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

}  // namespace
}  // namespace keysieve::test
