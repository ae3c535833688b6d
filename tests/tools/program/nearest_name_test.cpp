#include "tools/program/nearest_name.hpp"

#include <gtest/gtest.h>

namespace keysieve {
namespace {

const std::vector<std::string> kNames{"plan", "push", "pull", "add", "publish", "status", "seed", "--json"};

TEST(NearestName, FindsWhatWasMeant) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"pussh", "push"},  {"psuh", "push"},    {"pul", "pull"},     {"puplish", "publish"},
      {"stat", "status"}, {"pub", "publish"},  {"upsh", "push"},    {"sttaus", "status"},
      {"ad", "add"},      {"--jsn", "--json"}, {"-json", "--json"},
  };
  for (const auto& [word, name] : cases) EXPECT_EQ(nearest_name(word, kNames), name) << word;
}

TEST(NearestName, FindsNothingInAWordThatIsUnlikeAllNames) {
  for (const char* word : {"", "x", "p", "pu", "remove", "tags.ks", "--force", "lmdb:/var/lib/keysieve"}) {
    EXPECT_EQ(nearest_name(word, kNames), std::nullopt) << word;
  }
  EXPECT_EQ(nearest_name("push", {}), std::nullopt);
}

}  // namespace
}  // namespace keysieve
