#include "tools/loader/config/config.hpp"

#include <grp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

#include "core/worker/base/error.hpp"
#include "tests/support/message_of.hpp"
#include "tests/tools/loader/site.hpp"

namespace keysieve::test {
namespace {

using ::testing::StartsWith;

// What reading a file in a folder of its own gives or says.
class Config : public ::testing::Test {
 protected:
  static constexpr const char* kStore = "[store.main]\nurl = \"lmdb:/var/lib/keysieve\"\n";

  LoaderConfig load(const std::string& text) {
    site_.write("keysieve.toml", text);
    return load_config(site_.config_path());
  }
  // What the error says, without the root's path.
  std::string refusal(const std::string& text) {
    const std::string message = message_of<ErrorKind::Config>([&] { load(text); });
    const std::string root = site_.root().path() + "/";
    const auto at = message.find(root);
    return at == std::string::npos ? message : message.substr(0, at) + message.substr(at + root.size());
  }
  // The wrong part is line 1, above a configuration that is right.
  static std::string with_line(const std::string& line) { return line + "\n" + kStore + tags_set; }

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
  const std::string secret = "keysieve-secret-key:" + one;
  const std::string message = refusal(kStore + tags_set + "public_key = \"" + secret + "\"\n");
  EXPECT_THAT(message, ::testing::AllOf(::testing::HasSubstr("is a secret key"),
                                        ::testing::Not(::testing::HasSubstr(one))));
}

// Each setting of each table, below the headings that do not know it: all that a message lists as known must
// be found.
TEST_F(Config, SaysWhereASettingBelongsThatStandsInTheWrongTable) {
  struct Table {
    std::string own;
    std::string text;
  };
  const std::string seen = "[[seen]]\nname = \"clicks\"\nkeys = 100\nwindow = \"1h\"\n";
  const std::string status = "[status]\nlisten = \"127.0.0.1:9427\"\n";
  const std::vector<Table> tables{{"the whole file: put it above the first [table]", ""},
                                  {"[status]", kStore + std::string(tags_set) + status},
                                  {"a [store.NAME]", tags_set + std::string(kStore)},
                                  {"a [[set]]", kStore + std::string(tags_set)},
                                  {"a [[seen]]", kStore + std::string(tags_set) + seen}};
  const auto refused = [&](const Table& table, const std::string& key) {
    const std::string line = key + " = \"x\"\n";
    return refusal(table.text.empty() ? line + kStore + tags_set : table.text + line);
  };
  std::size_t settings = 0;
  for (const Table& home : tables) {
    const std::string known = refused(home, "no_such_key");
    std::istringstream names(known.substr(known.find("known here are ") + 15));
    for (std::string name; std::getline(names >> std::ws, name, ',');) {
      if (home.text.empty() && (name == "set" || name == "seen" || name == "status" || name == "store"))
        continue;
      ++settings;
      for (const Table& wrong : tables) {
        const std::string own = refused(wrong, "no_such_key");
        if ((own + ",").find(" " + name + ",") != std::string::npos) continue;
        EXPECT_NE(refused(wrong, name).find(home.own), std::string::npos) << refused(wrong, name);
      }
    }
  }
  EXPECT_EQ(settings, 28U);
  EXPECT_EQ(refusal(kStore + std::string(tags_set) + "poll_interval = \"1s\"\n"),
            "keysieve.toml:6: [[set]] poll_interval: unknown key here; it is a setting of the whole file: "
            "put it above "
            "the first [table]");
  EXPECT_NE(refusal("store = \"main\"\n" + std::string(tags_set))
                .find("else it is a setting of a [[set]], or of a [[seen]]"),
            std::string::npos);
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
  site_.write("conf.d/20-shop.toml", "# comment\nfoo = 1\n");
  EXPECT_THAT(refusal(kStore + tags_set), StartsWith("conf.d/20-shop.toml:2: foo: unknown key;"));
}

TEST_F(Config, ChecksEachValue) {
  const auto expect_named = [&](const std::string& place, const std::string& before, const char* line) {
    const std::string key(line, std::string_view(line).find(' '));
    EXPECT_THAT(refusal(before + line + "\n" + (before.empty() ? kStore + tags_set : "")),
                StartsWith(place + key + ":"));
  };
  for (const char* line : {"directory = \"run/keysieve\"", "directory = 1", "cache = \"./cache\"",
                           "group = \"no-such-group-here\"", "poll_interval = \"9ms\"",
                           "poll_interval = \"25h\"", "poll_interval = \"soon\"", "poll_interval = 3",
                           "poll_interval = \"3\"", "poll_interval = true", "max_total_size = \"1KiB\"",
                           "max_total_size = -1", "max_total_size = \"big\"", "log_level = \"loud\""}) {
    expect_named("keysieve.toml:1: ", "", line);
  }
  for (const char* line :
       {"max_fpr = 0", "max_fpr = 1.5", "max_fpr = \"200%\"", "max_size = 12", "max_size = \"x\"",
        "max_shrink = \"-1%\"", "max_shrink = 2", "min_keys = \"many\"", "min_keys = 1.5",
        "required_keys = \"relative\"", "required_keys = \"/no/such/file\"", "required_keys = \"/dev/null\"",
        "public_key = \"\"", "public_key = \"abc\"", "public_key = []", "public_key = [\"abc\"]",
        "public_key = [1]", "public_key = 1", "public_key = {}"}) {
    expect_named("keysieve.toml:6: [[set]] ", kStore + tags_set, line);
  }
  for (const char* line : {"name = \"\"", "name = \".\"", "name = \"..\"", "name = \"-x\"", "name = \"A\"",
                           "name = \"a b\"", "name = \"a/b\""}) {
    expect_named("keysieve.toml:5: [[set]] ", std::string(kStore) + "[[set]]\nstore = \"main\"\n", line);
  }
}

TEST_F(Config, NamesFileLineAndKeyOfWhatIsUnknownMissingOrOfAnotherShape) {
  const std::string store = kStore;
  const std::string nothing =
      "keysieve.toml: there is no [[set]] and no [[seen]] in it or in conf.d/*.toml next";
  for (const auto& [text, beginning] : std::vector<std::pair<std::string, std::string>>{
           {with_line("\n\npol_interval = \"5s\""), "keysieve.toml:3: pol_interval: unknown key; k"},
           {store + tags_set + "max_fp = 0.1\n", "keysieve.toml:6: [[set]] max_fp: unknown key; know"},
           {"[store.main]\nurl = \"dir:/x\"\npasword = \"x\"\n",
            "keysieve.toml:3: [store.main] pasword: unknown key; kno"},
           {store + tags_set + "[[sets]]\nname = \"x\"\n", "keysieve.toml:6: sets: unknown key;"},
           {store + "[[set]]\nstore = \"main\"\n", "keysieve.toml:3: [[set]] name: is missing"},
           {store + "[[set]]\nname = \"tags\"\n", "keysieve.toml:3: [[set]] store: is missing"},
           {store + "[[set]]\nname = \"tags\"\nstore = \"mian\"\n",
            "keysieve.toml:5: [[set]] store: there is no [store.mian]"},
           {"[store.main]\n" + tags_set, "keysieve.toml:1: [store.main] url: is missing"},
           {store, nothing},
           {"", nothing},
           {"[store.main]\nurl = \"ftp://user:secret@host\"\n" + tags_set,
            "keysieve.toml:2: [store.main] url: "},
           {"store = \"main\"\n" + tags_set, "keysieve.toml:1: store:"},
           {"[store]\nmain = \"dir:/x\"\n" + tags_set, "keysieve.toml:2: [store] main:"},
           {"set = \"tags\"\n", "keysieve.toml:1: set:"},
           {"set = [1, 2]\n", "keysieve.toml:1: set:"},
           {"[set]\nname = \"tags\"\n", "keysieve.toml:1: set:"},
           {"\n\npoll_interval = 5s\n", "keysieve.toml:3: "}}) {
    EXPECT_THAT(refusal(text), StartsWith(beginning));
  }
}

TEST_F(Config, RefusesWhatIsSaidTwice) {
  const std::string twice = refusal(kStore + tags_set + tags_set);
  EXPECT_EQ(twice.substr(0, 69), "keysieve.toml:7: [[set]] name: set \"tags\" is configured already, at /");
  site_.write("conf.d/10.toml", tags_set);
  EXPECT_NE(refusal(kStore + tags_set).find("conf.d/10.toml:2: [[set]] name: set \"tags\""),
            std::string::npos);
  site_.write("conf.d/10.toml", kStore);
  EXPECT_NE(refusal(kStore + tags_set).find("conf.d/10.toml:1: [store] main: store \"main\""),
            std::string::npos);
  site_.write("conf.d/10.toml", "poll_interval = \"1s\"\n");
  EXPECT_NE(
      refusal("poll_interval = \"2s\"\n" + (kStore + tags_set)).find("conf.d/10.toml:1: poll_interval:"),
      std::string::npos);
}

TEST_F(Config, ReadsNoFileThatAUrlNames) {
  const LoaderConfig config =
      load("[store.main]\nurl = \"redis://user@host?password_file=/no/such/file\"\n" + tags_set);
  EXPECT_EQ(config.stores.at(0).shown, "redis://user@host");
}

TEST_F(Config, IsSummarisedWithoutPasswords) {
  const LoaderConfig config =
      load("[store.main]\nurl = \"redis://user:secret@localhost:6380/2?prefix=hidden\"\n" + tags_set);
  for (const std::string& summary : {summary_text(config), summary_json(config)}) {
    EXPECT_NE(summary.find("localhost:6380"), std::string::npos) << summary;
    EXPECT_NE(summary.find("tags"), std::string::npos) << summary;
    EXPECT_EQ(summary.find("secret"), std::string::npos) << summary;
    EXPECT_EQ(summary.find("hidden"), std::string::npos) << summary;
  }
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

TEST_F(ConfiguredSeenSet, IsRefusedIfItCannotBe) {
  const std::string stores =
      "[store.main]\nurl = \"memcached://localhost\"\n[store.disk]\nurl = \"lmdb:/var/lib/keysieve\"\n";
  for (const auto& [lines, place] : std::vector<std::pair<std::string, std::string>>{
           {"windows = 0", "5: [[seen]] windows:"},
           {"windows = 257", "5: [[seen]] windows:"},
           {"fpr = 0", "5: [[seen]] fpr:"},
           {"fpr = 8e-16", "5: [[seen]] fpr:"},
           {"on_unavailable = \"maybe\"", "5: [[seen]] on_unavailable:"},
           {"host = \"web1\"", "5: [[seen]] host:"},
           {"store = \"far\"", "5: [[seen]] store:"},
           {"store = \"main\"", "5: [[seen]] store:"},
           {"store = \"disk\"\nsave_interval = \"9ms\"", "6: [[seen]] save_interval:"},
           {"save_interval = \"5s\"", "5: [[seen]] save_interval:"},
           {"store = \"disk\"\nhost = \"a:b\"", "6: [[seen]] host:"},
           {"save_intervall = \"5s\"", "5: [[seen]] save_intervall:"}}) {
    EXPECT_THAT(
        refusal("[[seen]]\nname = \"clicks\"\nkeys = 1000\nwindow = \"10m\"\n" + lines + "\n" + stores),
        StartsWith("keysieve.toml:" + place));
  }
  EXPECT_THAT(refusal("[[seen]]\nname = \"clicks\"\nkeys = \"10000M\"\nwindow = \"10m\"\n"),
              StartsWith("keysieve.toml:3: [[seen]] keys:"));
}

}  // namespace
}  // namespace keysieve::test
