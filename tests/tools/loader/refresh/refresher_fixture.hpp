// One set of one site, refreshed step by step with a clock of the test's own.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "tests/support/store_decorator.hpp"
#include "tests/tools/loader/site.hpp"
#include "tools/loader/refresh/set_refresher.hpp"

namespace keysieve::test {

inline constexpr SteadyTime kStart{std::chrono::hours(1)};
inline constexpr Milliseconds kPollInterval{1000};

// The store of a site, where something else happens while it is asked, and which counts.
class EventfulStore : public StoreDecorator {
 public:
  struct Events {
    std::function<void()> before_records = [] {};
    std::function<void()> before_fetch = [] {};
    std::function<void()> before_log = [] {};
    std::function<void(std::span<const LogEntry>)> after_log = [](auto) {};
    int calls = 0;
  };

  EventfulStore(std::unique_ptr<Store> real, Events& events)
      : StoreDecorator(*real), real_(std::move(real)), events_(events) {}

  std::vector<std::optional<std::string>> get_many(std::span<const std::string> keys) override {
    ++events_.calls;
    events_.before_records();
    return StoreDecorator::get_many(keys);
  }
  std::vector<std::optional<std::string>> get_immutable(std::span<const std::string> keys) override {
    ++events_.calls;
    events_.before_fetch();
    return inner_.get_immutable(keys);
  }
  std::vector<LogEntry> read_after(const std::string& log, const LogPosition& after,
                                   std::size_t max_entries) override {
    ++events_.calls;
    events_.before_log();
    auto entries = StoreDecorator::read_after(log, after, max_entries);
    events_.after_log(entries);
    return entries;
  }

 private:
  std::unique_ptr<Store> real_;
  Events& events_;
};

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
  EventfulStore::Events events_;
  std::map<std::string, StoreOpener> openers_;  // by URL
  StoreConnection store_{[this] {
                           StoreOpener& open = openers_.try_emplace(url_, opener_of(url_)).first->second;
                           auto real = open(IfMissing::Create, Patience::None);
                           return std::make_unique<EventfulStore>(std::move(real), events_);
                         },
                         "the store", kPollInterval};
  std::optional<SetRefresher> refresher_;
  SteadyTime now_ = kStart;
};

}  // namespace keysieve::test
