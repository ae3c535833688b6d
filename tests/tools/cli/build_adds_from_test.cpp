// What a build notes of the adds log: the layer over it begins there.
#include "core/base/clock.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/transfer/adds_log.hpp"

namespace keysieve::test {
namespace {

constexpr std::int64_t kTenMinutesMs = 600'000;

class BuildAddsFrom : public KeysieveProgram, public ::testing::WithParamInterface<StoreKind> {
 protected:
  BuildAddsFrom() { open_store(url_); }

  // What the set "tags" of one key says that was built with these options.
  [[nodiscard]] LogPosition built(const Words& options) const {
    const std::string text = json({"inspect", build("tags", "a\n", options)}).at("adds_from");
    return parse_log_position(text).value_or(log_position(UINT64_MAX, 0));
  }

  // Appends one key, with this moment as the end of the log.
  LogPosition add() const {
    const auto store = open_store(url_, IfMissing::Refuse);
    const std::string key = "new";
    return store->append(adds_log(*store, "tags"), {&key, 1});
  }

  static void expect_between(const LogPosition& position, std::int64_t least_ms, std::int64_t most_ms) {
    EXPECT_GE(milliseconds_of(position), static_cast<std::uint64_t>(least_ms));
    EXPECT_LE(milliseconds_of(position), static_cast<std::uint64_t>(most_ms));
  }

  const std::string url_ = GetParam().empty_store(directory_);
};

TEST_P(BuildAddsFrom, IsTheWholeLogOfASetWithoutAdds) {
  EXPECT_EQ(built({"--store", url_}), LogPosition{});
  EXPECT_EQ(built({"--like", url_}), LogPosition{});
}

TEST_P(BuildAddsFrom, LiesTenMinutesBeforeABuildWhileKeysAreAdded) {
  const std::int64_t before = unix_now() * 1000;
  add();
  for (const char* option : {"--store", "--like"}) {
    expect_between(built({option, url_}), before - kTenMinutesMs, unix_now_ms() - kTenMinutesMs);
  }
}

TEST_P(BuildAddsFrom, LiesAsFarBackAsATransactionTakes) {
  const std::int64_t before = unix_now() * 1000;
  const LogPosition last = add();
  const LogPosition position = built({"--store", url_, "--adds-overlap", "0s"});
  expect_between(position, before, unix_now_ms());
  EXPECT_LE(position, last);
  expect_between(built({"--store", url_, "--adds-overlap", "1h"}), before - 3'600'000,
                 unix_now_ms() - 3'600'000);
}

TEST_P(BuildAddsFrom, GoesByTheMomentOfTheList) {
  add();
  EXPECT_EQ(built({"--store", url_, "--as-of", "@1700000000"}), log_position(1'699'999'400'000, 0));
}

TEST_P(BuildAddsFrom, IsWhatItIsToldToBe) {
  add();
  EXPECT_EQ(built({"--store", url_, "--adds-from", "5-6"}), log_position(5, 6));
}

TEST_P(BuildAddsFrom, IsOfItsOwnSet) {
  add();
  EXPECT_EQ(json({"inspect", build("shop", "a\n", {"--store", url_}, "shop")}).at("adds_from"), "0-0");
}

TEST_P(BuildAddsFrom, GoesWithTheSnapshotIntoTheStore) {
  add();
  const LogPosition position = built({"--like", url_});
  static_cast<void>(said({"push", path("tags.ks"), url_}));
  static_cast<void>(said({"pull", url_, "tags", "-o", path("pulled.ks")}));
  EXPECT_EQ(json({"inspect", path("pulled.ks")}).at("adds_from"), to_text(position));
}

INSTANTIATE_TEST_SUITE_P(EveryStore, BuildAddsFrom, every_store, store_kind_name);

using BuildWithoutStore = KeysieveProgram;

TEST_F(BuildWithoutStore, NeedsTheWholeLog) {
  const std::string base = build("base", "a\n", {"--adds-from", "5-6"});
  for (const Words& options : {Words{}, Words{"--like", base}, Words{"--seed-from", base}}) {
    EXPECT_EQ(json({"inspect", build("tags", "a\n", options)}).at("adds_from"), "0-0");
  }
}

}  // namespace
}  // namespace keysieve::test
