// One set of one site, refreshed step by step with a clock of the test's own.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <optional>

#include "tests/tools/loader/site.hpp"
#include "tests/tools/loader/tapped_store.hpp"
#include "tools/loader/refresh/set_refresher.hpp"

namespace keysieve::test {

inline constexpr SteadyTime kStart{std::chrono::hours(1)};
inline constexpr Milliseconds kPollInterval{1000};

// As --once ends it, too.
MATCHER(IsRefused, "") {
  *result_listener << to_string(arg.trouble) << ": " << arg.reason;
  return arg.trouble == Trouble::Refused && arg.exit_status == 65;
}

class SetRefresherTest : public ::testing::Test {
 protected:
  SetRefresherTest() {
    loader_.directory = site_.directory();
    loader_.cache = site_.cache();
    loader_.poll_interval = kPollInterval;
    set_.name = "tags";
    set_.store = "main";
    start();
  }

  // As a new process or a reload would.
  void start() {
    refresher_.emplace(set_, loader_, store_, [] { return true; });
  }

  // One look, ten minutes after the last, so that every backoff has passed.
  const RefreshOutcome& refresh() {
    now_ += std::chrono::minutes(10);
    const RefreshOutcome& outcome = refresher_->refresh(now_);
    store_.close();
    return outcome;
  }
  Trouble trouble() { return refresh().trouble; }
  [[nodiscard]] const SetReport& report() { return refresher_->recorder().report(); }
  // How many builds were refused for this.
  [[nodiscard]] std::uint64_t refused(ErrorKind kind) {
    const auto* place = std::ranges::find(kRefusals, kind);
    return report().refused.at(static_cast<std::size_t>(place - kRefusals.begin()));
  }
  // Generation 1 is live.
  void go_live(KeyRange keys = kKeys) {
    site_.push("tags", keys);
    ASSERT_EQ(trouble(), Trouble::None) << refresher_->outcome().reason;
  }

  Site site_;
  std::string url_ = site_.store_url();
  LoaderConfig loader_;
  SetConfig set_;
  StoreTap events_;
  std::map<std::string, StoreOpener> openers_;  // by URL
  StoreConnection store_{[this] {
                           StoreOpener& open = openers_.try_emplace(url_, opener_of(url_)).first->second;
                           auto real = open(IfMissing::Create, Patience::None);
                           return std::make_unique<TappedStore>(std::move(real), events_);
                         },
                         "the store", kPollInterval};
  std::optional<SetRefresher> refresher_;
  SteadyTime now_ = kStart;
};

}  // namespace keysieve::test
