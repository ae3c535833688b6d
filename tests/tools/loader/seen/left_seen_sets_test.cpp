// Seen sets that no configuration has any more, and that never had a window. Others: seen_histories_test.cpp.
#include "tools/loader/seen/left_seen_sets.hpp"

#include "core/publisher/seen/seen_writer.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"

namespace keysieve::test {
namespace {

TEST(LeftSeenSets, RemoveASetThatWaitedForItsStore) {
  constexpr UnixSeconds kPatience = 120;  // of next_look_by()
  const TemporaryDirectory root;
  SeenHost host(clicks_config(), "dir:" + root / "store");
  std::filesystem::remove_all(root / "store");
  host.look(kNoon);
  ASSERT_NE(host.worker().page(), nullptr);
  EXPECT_EQ(host.worker().page()->next_look, kNoon + kPatience);
  host.stop();
  host.look_of_others(kNoon + kPatience);
  EXPECT_TRUE(std::filesystem::exists(host.folder()));
  for (int i = 1; i <= 2; ++i) host.look_of_others(kNoon + kPatience + i);
  EXPECT_FALSE(std::filesystem::exists(host.folder()));
}

TEST(LeftSeenSets, RemoveAFolderWithoutAPageOnceNoLoaderHoldsIt) {
  SeenHost host(clicks_config(), "");
  std::optional<SeenWriter> writer(std::in_place, host.directory(), "clicks", std::nullopt);
  host.look_of_others(kNoon);
  EXPECT_TRUE(std::filesystem::exists(host.folder()));
  writer.reset();
  host.look_of_others(kNoon);
  EXPECT_FALSE(std::filesystem::exists(host.folder()));
}

}  // namespace
}  // namespace keysieve::test
