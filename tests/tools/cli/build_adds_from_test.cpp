// What a build notes of the adds log: the layer over it begins there.
#include "core/builder/base/log_positions.hpp"
#include "core/worker/base/clock.hpp"
#include "tests/tools/cli/keysieve_program.hpp"
#include "tools/transfer/adds_log.hpp"

namespace keysieve::test {
namespace {

constexpr std::int64_t kTenMinutesMs = 600'000;
constexpr std::int64_t kHourMs = 3'600'000;

class BuildAddsFrom : public KeysieveWithStore {
 protected:
  BuildAddsFrom() { open_store(url_); }

  // What the set of one key says that was built with these options.
  [[nodiscard]] LogPosition built(const Words& options, const std::string& set_name = "tags") const {
    const std::string text = inspect(build(set_name, "a\n", options, set_name)).at("adds_from");
    return parse_log_position(text).value_or(log_position(UINT64_MAX, 0));
  }

  // Appends one key, with this moment as the end of the log.
  LogPosition add() const {
    const auto store = open_store(url_, IfMissing::Refuse);
    const std::string key = "new";
    return store->append(adds_log(*store, "tags"), {&key, 1});
  }

  // That a build lies so long before now, or before the add that came first.
  void expect_before_now(std::int64_t ms, const Words& options) const {
    const std::int64_t before = unix_now() * 1000;
    const LogPosition last = add();
    const LogPosition position = built(options);
    EXPECT_GE(milliseconds_of(position), static_cast<std::uint64_t>(before - ms));
    EXPECT_LE(milliseconds_of(position), static_cast<std::uint64_t>(unix_now_ms() - ms));
    EXPECT_LE(position, last);
  }
};

TEST_P(BuildAddsFrom, IsTheWholeLogWithoutAddsOrStore) {
  EXPECT_EQ(built({"--like", url_}), LogPosition{});
  add();
  EXPECT_EQ(built({"--like", url_}, "shop"), LogPosition{}) << "a log of its own";
  const std::string base = build("base", "a\n", {"--adds-from", "5-6"});
  for (const Words& options : {Words{}, Words{"--like", base}}) {
    EXPECT_EQ(built(options), LogPosition{});
  }
}

TEST_P(BuildAddsFrom, IsAsLongBeforeTheBuildAsATransactionTakes) {
  expect_before_now(kTenMinutesMs, {"--like", url_});
  expect_before_now(0, {"--like", url_, "--adds-overlap", "0s"});
  expect_before_now(kHourMs, {"--like", url_, "--adds-overlap", "1h"});
}

TEST_P(BuildAddsFrom, IsTheMomentOfTheListOrAsTold) {
  add();
  EXPECT_EQ(built({"--like", url_, "--as-of", "@1700000000"}), log_position(1'699'999'400'000, 0));
  EXPECT_EQ(built({"--like", url_, "--adds-from", "5-6"}), log_position(5, 6));
}

INSTANTIATE_TEST_SUITE_P(EveryStore, BuildAddsFrom, every_store, store_kind_name);

}  // namespace
}  // namespace keysieve::test
