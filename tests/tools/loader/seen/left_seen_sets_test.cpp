// Seen sets that no configuration has any more, as the loader of another configuration finds them.
#include "tools/loader/seen/left_seen_sets.hpp"

#include <gmock/gmock.h>

#include "core/publisher/seen/seen_writer.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"

namespace keysieve::test {
namespace {

class LeftSeenSetsTest : public ::testing::Test {
 protected:
  static constexpr UnixSeconds kPatience = 120;  // of next_look_by()

  // The look of a loader that runs, and has no set of that name.
  void look(UnixSeconds now) const {
    LoaderConfig config;
    config.directory = host_.directory();
    LeftSeenSets(config).look(now);
  }
  [[nodiscard]] std::string folder() const { return seen_directory(host_.directory()) + "/clicks"; }
  [[nodiscard]] bool is_there() const { return std::filesystem::exists(folder()); }

  SeenHost host_{clicks_config(), ""};
};

TEST_F(LeftSeenSetsTest, RemovesASetThatWaitedForItsStore) {
  const TemporaryDirectory root;
  SeenHost host(clicks_config(), "dir:" + root / "store");
  std::filesystem::remove_all(root / "store");
  host.look(kNoon);
  ASSERT_NE(host.worker().page(), nullptr);
  EXPECT_EQ(host.worker().page()->next_look, kNoon + kPatience);
  host.stop();
  LoaderConfig config;
  config.directory = host.directory();
  const LeftSeenSets others(config);
  others.look(kNoon + kPatience);
  EXPECT_TRUE(std::filesystem::exists(seen_directory(host.directory()) + "/clicks"));
  for (int i = 0; i < 2; ++i) others.look(kNoon + kPatience + 1 + i);
  EXPECT_FALSE(std::filesystem::exists(seen_directory(host.directory()) + "/clicks"));
}

TEST_F(LeftSeenSetsTest, RemovesAFolderWithoutAPageOnceNoLoaderHoldsIt) {
  {
    const SeenWriter writer(host_.directory(), "clicks", std::nullopt);
    look(kNoon);
    EXPECT_TRUE(is_there());
  }
  look(kNoon);
  EXPECT_FALSE(is_there());
}

}  // namespace
}  // namespace keysieve::test
