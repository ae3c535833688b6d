#include "tools/loader/config/config.hpp"

#include <gmock/gmock.h>
#include <grp.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "tests/tools/loader/site.hpp"

namespace keysieve::test {
namespace {

// What reading a file in a folder of its own gives. What it says of a wrong one: configurations.transcript.
class Config : public ::testing::Test {
 protected:
  static constexpr const char* kStore = "[store.main]\nurl = \"lmdb:/var/lib/keysieve\"\n";

  LoaderConfig load(const std::string& text) {
    site_.write("keysieve.toml", text);
    return load_config(site_.config_path());
  }

  Site site_;
};

TEST_F(Config, ReadsEveryKey) {
  site_.write("required_keys", "one\ntwo words\n");
  const group* root_group = ::getgrgid(0);
  ASSERT_NE(root_group, nullptr);
  const LoaderConfig config = load(
      "directory = \"/run/ks\"\ncache = \"/var/cache/ks\"\ngroup = \"" + std::string(root_group->gr_name) +
      "\"\npoll_interval = \"1500ms\"\nmax_total_size = \"1GiB\"\nlog_level = \"debug\"\n" + kStore +
      "[[set]]\nname = \"tags\"\nstore = \"main\"\nmax_fpr = 0.02\nmax_size = \"64MiB\"\n"
      "max_shrink = \"50%\"\nmin_keys = 1000\nrequired_keys = \"" +
      site_.root().path() + "/required_keys\"\n");
  EXPECT_EQ(config.directory, "/run/ks");
  EXPECT_EQ(config.cache, "/var/cache/ks");
  EXPECT_EQ(config.group, gid_t{0});
  EXPECT_EQ(config.poll_interval, std::chrono::milliseconds(1500));
  EXPECT_EQ(config.max_total_bytes, std::uint64_t{1} << 30);
  EXPECT_EQ(config.log_level, "debug");
  ASSERT_EQ(config.stores.size(), 1U);
  EXPECT_EQ(config.stores[0].name, "main");
  EXPECT_EQ(config.stores[0].url, "lmdb:/var/lib/keysieve");
  ASSERT_EQ(config.sets.size(), 1U);
  const SetConfig& set = config.sets[0];
  EXPECT_EQ(set.name, "tags");
  EXPECT_EQ(set.store, "main");
  EXPECT_EQ(set.max_bytes, std::uint64_t{64} << 20);
  EXPECT_EQ(set.guards.max_fpr, 0.02);
  EXPECT_EQ(set.guards.max_shrink, 0.5);
  EXPECT_EQ(set.guards.min_keys, 1000U);
  EXPECT_EQ(set.guards.source, GuardSource::Configuration) << "whose words its messages use";
  EXPECT_THAT(set.guards.required_keys, ::testing::ElementsAre("one", "two words"));
}

TEST_F(Config, ReadsOnePublicKeyOrSeveral) {
  const std::string one(64, 'a');
  const std::string other(64, 'b');
  EXPECT_TRUE(load(kStore + tags_set).sets.at(0).public_keys.empty());
  EXPECT_EQ(load(kStore + tags_set + "public_key = \"" + one + "\"\n").sets.at(0).public_keys,
            (PublicKeys{parse_public_key(one)}));
  EXPECT_EQ(
      load(kStore + tags_set + "public_key = [\"" + one + "\", \"" + other + "\"]\n").sets.at(0).public_keys,
      (PublicKeys{parse_public_key(one), parse_public_key(other)}));
}

TEST_F(Config, HasDefaultsForAllButStoreAndSet) {
  const LoaderConfig config = load(kStore + tags_set);
  EXPECT_EQ(config.directory, "/run/keysieve");
  EXPECT_EQ(config.cache, "/var/cache/keysieve");
  EXPECT_EQ(config.group, std::nullopt);
  EXPECT_EQ(config.poll_interval, std::chrono::seconds(5));
  EXPECT_EQ(config.max_total_bytes, 0U);
  EXPECT_EQ(config.log_level, "info");
  const SetConfig& set = config.sets.at(0);
  EXPECT_EQ(set.max_bytes, 0U);
  EXPECT_EQ(set.guards.max_fpr, std::nullopt);
  EXPECT_EQ(set.guards.max_shrink, kDefaultMaxShrink);
  EXPECT_EQ(set.guards.min_keys, 1U);
}

TEST_F(Config, AsksWebServersLessOftenThanOtherStores) {
  const std::string stores = std::string(kStore) + "[store.web]\nurl = \"https://host/tags\"\n";
  const LoaderConfig config = load(stores + tags_set);
  EXPECT_EQ(config.stores.at(0).poll_interval, std::chrono::seconds(5));
  EXPECT_EQ(config.stores.at(1).poll_interval, std::chrono::seconds(30));
  for (const StoreConfig& store : load("poll_interval = \"7s\"\n" + stores + tags_set).stores) {
    EXPECT_EQ(store.poll_interval, std::chrono::seconds(7)) << store.name;
  }
}

TEST_F(Config, TakesNumbersWithoutUnits) {
  const LoaderConfig config = load("max_total_size = 8192\n" + std::string(kStore) + tags_set +
                                   "max_shrink = 1\nmin_keys = \"30k\"\n");
  EXPECT_EQ(config.sets.at(0).guards.min_keys, 30'000U);
  EXPECT_EQ(load(kStore + tags_set + "min_keys = 0\n").sets.at(0).guards.min_keys, 0U);
  EXPECT_EQ(config.max_total_bytes, 8192U);
  EXPECT_EQ(config.sets.at(0).guards.max_shrink, 1.0);
}

TEST_F(Config, IncludesTheFilesNextToItByName) {
  site_.write("conf.d/20-shop.toml", "[[set]]\nname = \"shop\"\nstore = \"other\"\n");
  site_.write("conf.d/10-more.toml", "poll_interval = \"1s\"\n[store.other]\nurl = \"dir:/srv/other\"\n" +
                                         std::string("[[set]]\nname = \"more\"\nstore = \"main\"\n"));
  site_.write("conf.d/README", "not a configuration");
  const LoaderConfig config = load(kStore + tags_set);
  EXPECT_EQ(config.poll_interval, std::chrono::seconds(1));
  ASSERT_EQ(config.sets.size(), 3U);
  EXPECT_EQ(config.sets[0].name, "tags");
  EXPECT_EQ(config.sets[1].name, "more");
  EXPECT_EQ(config.sets[2].name, "shop");
}

TEST_F(Config, IsSummarisedInJsonWhateverBytesAPathHas) {
  const LoaderConfig config = load("[store.main]\nurl = \"dir:/caf%E9\"\n" + tags_set);
  EXPECT_THAT(summary_json(config), ::testing::HasSubstr("\"url\": \"dir:/caf\xEF\xBF\xBD\""));
}

// The file that is shipped as an example must be one.
TEST_F(Config, UnderstandsTheExampleWithEveryOptionSwitchedOn) {
  std::ifstream example(KEYSIEVED_EXAMPLE);
  ASSERT_TRUE(example.is_open());
  std::string text;
  for (std::string line; std::getline(example, line);) {
    const bool is_option = line.size() > 1 && line[0] == '#' && line[1] != ' ';
    text += (is_option ? line.substr(1) : line) + "\n";
  }
  const auto replace = [&text](const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  };
  site_.write("required_keys", "cat\n");
  replace("/etc/keysieve/tags.required", site_.root() / "required_keys");
  replace("\"www-data\"", "\"root\"");
  replace("PUBLIC KEY", std::string(64, '1'));
  const LoaderConfig config = load(text);
  EXPECT_EQ(config.sets.at(0).guards.max_fpr, 0.02);
  EXPECT_EQ(config.sets.at(0).guards.required_keys.size(), 1U);
  EXPECT_EQ(config.seen.at(0).host, "web1");
}

using ConfiguredSeenSet = Config;

TEST_F(ConfiguredSeenSet, HasTheSettingsOfTheFile) {
  const LoaderConfig config = load(
      kStore + tags_set +
      "[[seen]]\nname = \"clicks\"\nkeys = \"1M\"\nwindow = \"10m\"\nwindows = 144\nfpr = 0.001\n"
      "on_unavailable = \"seen\"\ngroup = 0\nstore = \"main\"\nsave_interval = \"5s\"\nhost = \"web1\"\n");
  ASSERT_EQ(config.seen.size(), 1U);
  const SeenConfig& seen = config.seen[0];
  EXPECT_EQ(seen.name, "clicks");
  EXPECT_EQ(seen.keys, 1'000'000U);
  EXPECT_EQ(seen.window, std::chrono::minutes(10));
  EXPECT_EQ(seen.windows, 144U);
  EXPECT_EQ(seen.fpr, 0.001);
  EXPECT_EQ(seen.on_unavailable, OnUnavailable::Seen);
  EXPECT_EQ(seen.group, gid_t{0});
  EXPECT_EQ(seen.store, "main");
  EXPECT_EQ(seen.save_interval, std::chrono::seconds(5));
  EXPECT_EQ(seen.host, "web1");
}

TEST_F(ConfiguredSeenSet, NeedsNoStore) {
  const SeenConfig seen = load("[[seen]]\nname = \"clicks\"\nkeys = 1\nwindow = \"1s\"\n").seen.at(0);
  EXPECT_EQ(seen.windows, 1U);
  EXPECT_EQ(seen.fpr, 1e-4);
  EXPECT_EQ(seen.on_unavailable, OnUnavailable::Throw);
  EXPECT_EQ(seen.store, "");
}

TEST_F(ConfiguredSeenSet, IsSavedEverySecondUnderTheNameOfTheHost) {
  std::array<char, 65> name{};
  ASSERT_EQ(::gethostname(name.data(), name.size() - 1), 0);
  const SeenConfig seen =
      load(kStore + std::string("[[seen]]\nname = \"clicks\"\nkeys = 1\nwindow = \"1s\"\nstore = \"main\"\n"))
          .seen.at(0);
  EXPECT_EQ(seen.save_interval, std::chrono::seconds(1));
  EXPECT_EQ(seen.host, name.data());
}

}  // namespace
}  // namespace keysieve::test
