// One set of one site, refreshed step by step with a clock of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>

#include "tests/tools/loader/site.hpp"
#include "tests/tools/transfer/store_decorator.hpp"
#include "tools/loader/set_refresher.hpp"

namespace keysieve::test {

inline constexpr SteadyTime kStart{std::chrono::hours(1)};
inline constexpr Milliseconds kPollInterval{1000};

// The store of a site, where something else happens while it is asked.
class EventfulStore : public StoreDecorator {
 public:
  EventfulStore(std::unique_ptr<Store> real, std::function<void()> before_get)
      : StoreDecorator(*real), real_(std::move(real)), before_get_(std::move(before_get)) {}

  std::optional<std::string> get(const std::string& key) override {
    before_get_();
    return StoreDecorator::get(key);
  }

 private:
  std::unique_ptr<Store> real_;
  std::function<void()> before_get_;
};

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
  const SetState& refresh() {
    now_ += std::chrono::minutes(10);
    const SetState& state = refresher_->refresh(now_);
    store_.close();
    return state;
  }
  Trouble trouble() { return refresh().trouble; }

  Site site_;
  LoaderConfig loader_;
  SetConfig set_;
  std::function<void()> before_get_ = [] {};
  StoreConnection store_{[this] {
                           return std::make_unique<EventfulStore>(open_store(site_.store_url()),
                                                                  [this] { before_get_(); });
                         },
                         "the store", kPollInterval};
  std::optional<SetRefresher> refresher_;
  SteadyTime now_ = kStart;
};

}  // namespace keysieve::test
