#include "tools/loader/loader.hpp"

#include <gtest/gtest.h>

#include "tests/tools/loader/site.hpp"

namespace keysieve::test {
namespace {

TEST(Loader, EndsARoundInTheMiddleOfAPullWhenToldTo) {
  const std::string shop_set = "[[set]]\nname = \"shop\"\nstore = \"main\"\n";
  Site site;
  site.configure(tags_set + shop_set);
  site.push("tags", kKeys);
  site.push("shop", kKeys);
  int calls = 0;
  int last_call = 4;  // two come before the cache is looked into, one before the set, one while it is pulled
  StatusBoard board;
  Loader loader(load_config(site.config_path()), board, [&] { return ++calls < last_call; });
  loader.round();
  EXPECT_EQ(calls, 5);  // and one before the other set
  EXPECT_EQ(site.live("tags"), std::nullopt);
  EXPECT_EQ(site.live("shop"), std::nullopt);

  last_call = 100;
  loader.round();
  EXPECT_EQ(loader.exit_status(), 0);
  EXPECT_TRUE(site.knows("tags", kKeys));
  EXPECT_TRUE(site.knows("shop", kKeys));
}

}  // namespace
}  // namespace keysieve::test
