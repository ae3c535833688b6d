// The settings of a [[seen]].
#include <unistd.h>

#include <array>

#include "tests/tools/loader/config/loaded_config.hpp"

namespace keysieve::test {
namespace {

using ConfiguredSeenSet = LoadedConfig;

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
  const auto refused = [this](const std::string& line) {
    return refusal(
        "[[seen]]\nname = \"clicks\"\nkeys = 1000\nwindow = \"10m\"\n" + line + "\n" +
        "[store.main]\nurl = \"memcached://localhost\"\n[store.disk]\nurl = \"lmdb:/var/lib/keysieve\"\n");
  };
  EXPECT_EQ(refused("windows = 0"), "keysieve.toml:5: [[seen]] windows: \"0\" is out of range: 1 to 256");
  EXPECT_EQ(refused("windows = 257"), "keysieve.toml:5: [[seen]] windows: \"257\" is out of range: 1 to 256");
  EXPECT_EQ(refused("fpr = 0"), "keysieve.toml:5: [[seen]] fpr: \"0\" is out of range: above 0, below 1");
  EXPECT_EQ(refused("fpr = 8e-16"),
            "keysieve.toml:5: [[seen]] fpr: a false-positive rate of 5e-17 per window needs more than 128 "
            "bits per key");
  EXPECT_EQ(
      refusal("[[seen]]\nname = \"clicks\"\nkeys = \"10000M\"\nwindow = \"10m\"\n"),
      "keysieve.toml:3: [[seen]] keys: a window may grow to a filter of 8 times as many: 80000000000 keys "
      "need a filter of more than 64 GiB");
  EXPECT_EQ(refused("on_unavailable = \"maybe\""),
            "keysieve.toml:5: [[seen]] on_unavailable: \"maybe\" is none of throw, new and seen");
  EXPECT_EQ(refused("host = \"web1\""), "keysieve.toml:5: [[seen]] host: needs a store");
  EXPECT_EQ(refused("store = \"far\""), "keysieve.toml:5: [[seen]] store: there is no [store.far]");
  EXPECT_EQ(
      refused("store = \"main\""),
      "keysieve.toml:5: [[seen]] store: memcached://localhost: this store may forget what is saved in it");
  EXPECT_EQ(refused("store = \"disk\"\nsave_interval = \"9ms\""),
            "keysieve.toml:6: [[seen]] save_interval: \"9ms\" is out of range: 10ms to 366d");
  EXPECT_EQ(refused("save_interval = \"5s\""), "keysieve.toml:5: [[seen]] save_interval: needs a store");
  EXPECT_EQ(refused("store = \"disk\"\nhost = \"a:b\""),
            "keysieve.toml:6: [[seen]] host: \"a:b\" is not a host: 1 to 64 letters, digits, - . _");
  EXPECT_EQ(refused("save_intervall = \"5s\""),
            "keysieve.toml:5: [[seen]] save_intervall: unknown key; known here are fpr, group, host, "
            "keys, name, on_unavailable, save_interval, store, window, windows");
}

}  // namespace
}  // namespace keysieve::test
