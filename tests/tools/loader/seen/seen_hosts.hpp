// Hosts that keep the same seen set and exchange it through a store.
#pragma once

#include <gmock/gmock.h>

#include "tests/support/store_kinds.hpp"
#include "tests/tools/loader/seen/seen_host.hpp"

namespace keysieve::test {

inline const std::string kSeenLog = "keysieve:seen.d:clicks:log";
inline constexpr UnixSeconds kHour = 60 * kMinute;

class SavedSeenSet : public ::testing::TestWithParam<StoreKind> {
 protected:
  [[nodiscard]] std::vector<LogEntry> entries() const {
    return open_store(url_)->read_after(kSeenLog, LogPosition{}, 100'000);
  }

  TemporaryDirectory folder_;
  std::string url_ = GetParam().empty_store(folder_);
};

class TwoSeenHosts : public SavedSeenSet {
 protected:
  void look(UnixSeconds now) {
    web1_.look(now);
    web2_.look(now);
  }

  SeenHost web1_{clicks_config("web1"), url_};
  SeenHost web2_{clicks_config("web2"), url_};
};

}  // namespace keysieve::test
