#include "tools/transfer/store_bypass.hpp"

#include "tests/support/matchers.hpp"
#include "tests/support/store_calls.hpp"
#include "tests/support/store_kinds.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve::test {
namespace {

constexpr UnixSeconds kBypassedAt = 1'700'000'000;

class StoreBypassTest : public ::testing::TestWithParam<StoreKind> {
 protected:
  TemporaryDirectory directory_;
  std::unique_ptr<Store> store_ = open_store(GetParam().empty_store(directory_));
};

TEST_P(StoreBypassTest, AppliesToOneSetOrToAllAsItWasSetLast) {
  const StoreBypass of_tags{.until = kBypassedAt + 60, .set_at = kBypassedAt};
  const StoreBypass of_all{.until = 0, .set_at = kBypassedAt + 1};
  EXPECT_EQ(read_store_bypasses(*store_, "tags").of_set, std::nullopt);
  EXPECT_EQ(read_bypass_of_all(*store_), std::nullopt);
  set_store_bypass(*store_, "tags", {.until = kBypassedAt, .set_at = kBypassedAt});
  set_store_bypass(*store_, "tags", of_tags);
  EXPECT_THAT(read_store_bypasses(*store_, "tags").of_set, Optional(of_tags));
  EXPECT_EQ(read_store_bypasses(*store_, "shop").of_set, std::nullopt);
  EXPECT_EQ(read_store_bypasses(*store_, "tags").of_all, std::nullopt);
  set_store_bypass(*store_, std::nullopt, of_all);
  EXPECT_THAT(read_store_bypasses(*store_, "tags").of_set, Optional(of_tags));
  EXPECT_THAT(read_store_bypasses(*store_, "shop").of_all, Optional(of_all));
  EXPECT_THAT(read_bypass_of_all(*store_), Optional(of_all));
}

TEST_P(StoreBypassTest, IsGoneWhenItIsCleared) {
  set_store_bypass(*store_, "tags", {});
  set_store_bypass(*store_, std::nullopt, {});
  clear_store_bypass(*store_, "tags");
  EXPECT_EQ(read_store_bypasses(*store_, "tags").of_set, std::nullopt);
  EXPECT_TRUE(read_store_bypasses(*store_, "tags").of_all);
  clear_store_bypass(*store_, std::nullopt);
  EXPECT_FALSE(read_store_bypasses(*store_, "tags").of_all);
  clear_store_bypass(*store_, std::nullopt);  // there is none
}

// An operator may write the record with any client at 3 a.m.
TEST_P(StoreBypassTest, HasNoEndWhenItCannotBeParsed) {
  for (const char* text : {"", "on", "1", "[]", "{}", "null", R"({"until":-1})", R"({"until":"soon"})",
                           R"({"until":1e300})", R"({"until":18446744073709551615})", R"({"until":1.5})"}) {
    put(*store_, "keysieve:tags:bypass", text);
    EXPECT_THAT(read_store_bypasses(*store_, "tags").of_set, Optional(StoreBypass{})) << text;
    EXPECT_THAT(bypassed_until(read_store_bypasses(*store_, "tags"), kBypassedAt), Optional(0)) << text;
  }
}

TEST_P(StoreBypassTest, IgnoresMembersOfLaterVersions) {
  put(*store_, "keysieve:bypass", R"({"until": 1700000060, "set_at": 1700000000, "by": "a later version"})");
  EXPECT_THAT(read_bypass_of_all(*store_),
              Optional(StoreBypass{.until = kBypassedAt + 60, .set_at = kBypassedAt}));
}

TEST_P(StoreBypassTest, RefusesAWrongSetName) {
  EXPECT_EQ(failure_of([&] { set_store_bypass(*store_, "a:b", {}); }), ErrorKind::Usage);
  EXPECT_EQ(failure_of([&] { clear_store_bypass(*store_, ""); }), ErrorKind::Usage);
  EXPECT_EQ(failure_of([&] { read_store_bypasses(*store_, "../x"); }), ErrorKind::Usage);
}

INSTANTIATE_TEST_SUITE_P(EveryStore, StoreBypassTest, every_store, store_kind_name);

TEST(BypassedUntil, IsTheLaterEndOfThoseInForce) {
  EXPECT_EQ(bypassed_until({}, kBypassedAt), std::nullopt);
  EXPECT_EQ(bypassed_until({.of_set = StoreBypass{.until = kBypassedAt},
                            .of_all = StoreBypass{.until = kBypassedAt - 1}},
                           kBypassedAt),
            std::nullopt);
  const StoreBypass sooner{.until = kBypassedAt + 1};
  const StoreBypass later{.until = kBypassedAt + 2};
  const StoreBypass endless{};
  EXPECT_EQ(bypassed_until({.of_set = sooner, .of_all = {}}, kBypassedAt), kBypassedAt + 1);
  EXPECT_EQ(bypassed_until({.of_set = sooner, .of_all = later}, kBypassedAt), kBypassedAt + 2);
  EXPECT_EQ(bypassed_until({.of_set = later, .of_all = sooner}, kBypassedAt), kBypassedAt + 2);
  EXPECT_EQ(bypassed_until({.of_set = later, .of_all = endless}, kBypassedAt), 0);
  EXPECT_EQ(bypassed_until({.of_set = endless, .of_all = sooner}, kBypassedAt), 0);
}

}  // namespace
}  // namespace keysieve::test
