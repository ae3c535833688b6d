#include "tools/transfer/adds_log.hpp"

#include "core/builder/base/log_positions.hpp"
#include "tests/tools/transfer/transfer_fixture.hpp"

namespace keysieve::test {
namespace {

constexpr std::int64_t kReadAtMs = 1'700'000'000'000;
constexpr std::uint64_t kNowMs = kReadAtMs;
constexpr std::uint64_t kTenMinutes = 600'000;

// A store whose log ends where the case says, no matter which clock numbered it.
class StoreWithLogEnd : public StoreDecorator {
 public:
  StoreWithLogEnd(Store& inner, LogPosition end) : StoreDecorator(inner), end_(end) {}
  LogPosition end_of(const std::string& log) override {
    EXPECT_EQ(log, kLog);
    return end_;
  }

 private:
  LogPosition end_;
};

class AddsFrom : public TransferTest {
 protected:
  [[nodiscard]] LogPosition adds_from_with(const LogPosition& end_of_log,
                                           std::chrono::milliseconds overlap) const {
    StoreWithLogEnd store(*store_, end_of_log);
    return adds_from(store, "tags", kReadAtMs, overlap);
  }
};

TEST_F(AddsFrom, IsTheOverlapBeforeTheEarlierOfOurClockAndTheStores) {
  const LogPosition end = log_position(kNowMs, 7);
  const std::uint64_t behind = kNowMs - 61 * 60'000;  // an entry of a minute ago, by a clock an hour behind
  struct Row {
    const char* what;
    LogPosition end_of_log;
    std::chrono::milliseconds overlap;
    LogPosition expected;
  };
  for (const auto& [what, end_of_log, overlap, expected] : std::vector<Row>{
           {"the set has no log or has lost it", {}, kDefaultAddsOverlap, {}},
           {"both clocks agree", end, kDefaultAddsOverlap, log_position(kNowMs - kTenMinutes, 0)},
           {"another overlap", end, std::chrono::milliseconds(1), log_position(kNowMs - 1, 0)},
           {"no overlap", log_position(kNowMs - 5, 7), std::chrono::milliseconds(0),
            log_position(kNowMs - 5, 0)},
           {"the store's clock is ahead", log_position(2 * kNowMs, 0), kDefaultAddsOverlap,
            log_position(kNowMs - kTenMinutes, 0)},
           {"it is behind", log_position(behind, 3), kDefaultAddsOverlap,
            log_position(behind - kTenMinutes, 0)},
           {"the log began later", log_position(kTenMinutes - 1, 9), kDefaultAddsOverlap, {}},
           {"an overlap without end", log_position(kNowMs, 0), std::chrono::milliseconds::max(), {}}}) {
    EXPECT_EQ(adds_from_with(end_of_log, overlap), expected) << what;
  }
}

class WakeLoaders : public TransferTest {
 protected:
  WakeLoaders() {
    hooked_.before_notify = [this](const std::string& log) {
      if (log == unwakeable_) throw Error(ErrorKind::Permission, "no right to wake " + log);
      woken_.push_back(log);
    };
  }

  std::string unwakeable_;
  std::vector<std::string> woken_;
};

TEST_F(WakeLoaders, WarnsWhenTheyCannotBeWoken) {
  unwakeable_ = kLog;
  EXPECT_THAT(wake_loaders(hooked_, "tags"), Optional(AllOf(HasSubstr("\"tags\""), HasSubstr("next poll"),
                                                            HasSubstr("no right to wake " + kLog))));
}

class WakeLoadersOfAll : public WakeLoaders {
 protected:
  WakeLoadersOfAll() {
    for (const std::string name : {"tags:current", "tags:bypass", "shop:current", "current:current",
                                   "current", "bypass", "other:bypass", "a:b:current", ":current"}) {
      replace("keysieve:" + name, "{}");
    }
  }
};

TEST_F(WakeLoadersOfAll, WakesTheLoadersOfEveryPushedSet) {
  EXPECT_EQ(wake_loaders_of_all(hooked_), std::nullopt);
  EXPECT_THAT(woken_, UnorderedElementsAre(kLog, "keysieve:shop:adds", "keysieve:current:adds"));
}

TEST_F(WakeLoadersOfAll, WarnsOfASetItCannotWakeAndWakesTheOthers) {
  unwakeable_ = "keysieve:shop:adds";
  EXPECT_THAT(wake_loaders_of_all(hooked_), Optional(HasSubstr("set \"shop\"")));
  EXPECT_THAT(woken_, UnorderedElementsAre(kLog, "keysieve:current:adds"));
}

// The log begins with the notices of many pushes, as a Redis log may.
class StoreWithNotices : public StoreDecorator {
 public:
  StoreWithNotices(Store& inner, std::uint64_t notices, bool has_key)
      : StoreDecorator(inner), notices_(notices), has_key_(has_key) {}
  std::vector<LogEntry> read_after(const std::string& /*log*/, const LogPosition& after,
                                   std::size_t max_entries) override {
    std::vector<LogEntry> entries;
    for (std::uint64_t i = 1; i <= notices_ && entries.size() < max_entries; ++i) {
      if (log_position(i, 0) > after) entries.push_back({log_position(i, 0), std::nullopt});
    }
    const LogPosition last = log_position(notices_ + 1, 0);
    if (has_key_ && entries.size() < max_entries && last > after) entries.push_back({last, "key"});
    return entries;
  }

 private:
  std::uint64_t notices_;
  bool has_key_;
};

using HasAdds = TransferTest;

TEST_F(HasAdds, IgnoresNotices) {
  for (const std::uint64_t notices : {0U, 1U, 15U, 16U, 17U, 100U}) {
    StoreWithNotices without(*store_, notices, /*has_key=*/false);
    EXPECT_FALSE(has_adds(without, "tags")) << notices;
    StoreWithNotices with(*store_, notices, /*has_key=*/true);
    EXPECT_TRUE(has_adds(with, "tags")) << notices;
  }
}

}  // namespace
}  // namespace keysieve::test
