// The loader's thread leaves here what it knows, and the HTTP thread takes a copy. Neither waits longer for
// the other than it takes to move some pointers.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tools/loader/config/config.hpp"
#include "tools/loader/report/set_report.hpp"

namespace keysieve {

struct StoreReport {
  std::string name;
  std::string shown;    // its URL without password
  bool is_up = true;    // answered when it was asked last
  std::string failure;  // why it did not
};

struct LoaderReport {
  std::string directory;
  bool is_ready = false;  // nothing holds back those who wait for the first publish
  UnixSeconds started_at = 0;
  SteadyTime begun_at{};                               // the same moment
  SteadyTime alive_at{};                               // the loader's last sign of life
  std::vector<std::shared_ptr<const SetReport>> sets;  // as configured
  std::vector<StoreReport> stores;                     // those that were asked
  std::vector<SeenReport> seen;                        // as configured
};

class StatusBoard {
 public:
  StatusBoard();

  // These are for the loader's thread alone.
  void configure(const LoaderConfig& config);
  [[nodiscard]] SetRecorder& recorder(const std::string& set_name) { return recorders_.at(set_name); }
  void post(const SetRecorder& recorder);
  void post(StoreReport store);
  void post(const SeenReport& seen);
  void post_ready(bool is_ready);
  void sign_of_life();

  // For any thread.
  [[nodiscard]] LoaderReport read() const;

 private:
  std::map<std::string, SetRecorder> recorders_;
  mutable std::mutex mutex_;
  LoaderReport report_;  // under the mutex
};

}  // namespace keysieve
