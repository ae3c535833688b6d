// Seen sets that no configuration has any more, as the loader of another configuration finds them.
#include "tools/loader/seen/left_seen_sets.hpp"

#include <gmock/gmock.h>

#include "core/publisher/seen/seen_writer.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"

namespace keysieve::test {
namespace {

using Codes = std::vector<std::string_view>;

class LeftSeenSetsTest : public ::testing::Test {
 protected:
  static constexpr UnixSeconds kPatience = 120;  // of next_look_by()

  // The look of a loader that runs, and has no set of that name.
  void look(UnixSeconds now) const {
    LoaderConfig config;
    config.directory = host_.directory();
    LeftSeenSets(config).look(now);
  }
  Codes marks() { return Troubles(host_.worker().page()->troubles.load()).names(); }
  [[nodiscard]] std::string folder() const { return seen_directory(host_.directory()) + "/clicks"; }
  [[nodiscard]] bool is_there() const { return std::filesystem::exists(folder()); }

  SeenHost host_{clicks_config(), ""};
};

TEST_F(LeftSeenSetsTest, EndsASetThatARestartHasTakenAwayWhenItsWindowsAreOver) {
  host_.look(kNoon);
  EXPECT_TRUE(host_.add(1));
  host_.stop();
  look(kNoon + kPatience);
  EXPECT_EQ(marks(), Codes{}) << "it has promised no earlier look";
  look(kNoon + kPatience + 1);
  EXPECT_EQ(marks(), Codes{"not_configured"});
  EXPECT_EQ(host_.worker().page()->next_look, 0);
  look(kNoon + 20 * kMinute - 1);
  EXPECT_FALSE(host_.add(1));
  const std::uint32_t segment = host_.segment_key(0);
  look(kNoon + 20 * kMinute);
  EXPECT_FALSE(is_there());
  EXPECT_FALSE(host_.worker().is_ready());
  EXPECT_FALSE(has_segment(segment));
}

TEST_F(LeftSeenSetsTest, TakesNothingFromALoaderThatWasStoppedForAWhile) {
  host_.look(kNoon);
  EXPECT_TRUE(host_.add(1));
  host_.stop();
  look(kNoon + 5 * kMinute);
  EXPECT_EQ(marks(), Codes{"not_configured"});
  host_.start();
  host_.look(kNoon + 10 * kMinute);
  EXPECT_EQ(marks(), Codes{});
  EXPECT_FALSE(host_.add(1));
  EXPECT_TRUE(host_.add(2));
  host_.stop();
  look(kNoon + 10 * kMinute + kPatience);
  EXPECT_EQ(marks(), Codes{});
  look(kNoon + 30 * kMinute - 1);
  look(kNoon + 30 * kMinute - 1);
  EXPECT_FALSE(host_.add(2));
}

TEST_F(LeftSeenSetsTest, TouchesNoSetThatALoaderHoldsHoweverLongItHasNotLooked) {
  host_.look(kNoon);
  EXPECT_TRUE(host_.add(1));
  for (int i = 0; i < 2; ++i) look(kNoon + 100 * kMinute);
  EXPECT_EQ(marks(), Codes{});
  EXPECT_FALSE(host_.add(1));
}

// Its last window was over by plan, but workers went on with it.
TEST_F(LeftSeenSetsTest, KeepsWhatWasAddedBeforeItFoundTheSet) {
  host_.look(kNoon);
  host_.stop();
  EXPECT_TRUE(host_.add(1)) << "half an hour later";
  look(kNoon + 30 * kMinute);
  look(kNoon + 40 * kMinute - 1);
  EXPECT_FALSE(host_.add(1));
  look(kNoon + 40 * kMinute);
  EXPECT_FALSE(is_there());
}

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
