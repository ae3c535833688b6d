// What the loader knows, for the HTTP thread. A report never changes: the loader makes another one after
// each look, and while it works on something long.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tools/loader/report/set_report.hpp"

namespace keysieve {

struct StoreReport {
  std::string name;
  std::string shown;    // its URL without password
  std::string failure;  // why it did not answer when it was asked last; empty: it did
};

struct LoaderReport {
  std::string directory;
  bool is_ready = false;  // nothing holds back those who wait for the first publish
  SteadyTime made_at{};   // the loader's last sign of life
  std::vector<std::shared_ptr<const SetReport>> sets{};  // as configured
  std::vector<StoreReport> stores{};                     // those that were asked
  std::vector<SeenReport> seen{};                        // as configured
};

// Where the loader's thread leaves the report. Neither thread waits longer for the other than it takes to
// move a pointer.
class LatestReport {
 public:
  void replace(LoaderReport report) {
    auto fresh = std::make_shared<const LoaderReport>(std::move(report));
    const std::lock_guard lock(mutex_);
    report_.swap(fresh);
  }
  // Never nullptr.
  [[nodiscard]] std::shared_ptr<const LoaderReport> read() const {
    const std::lock_guard lock(mutex_);
    return report_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const LoaderReport> report_ = std::make_shared<const LoaderReport>();
};

}  // namespace keysieve
