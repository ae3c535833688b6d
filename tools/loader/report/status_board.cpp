#include "tools/loader/report/status_board.hpp"

#include <algorithm>

namespace keysieve {

StatusBoard::StatusBoard() {
  report_.started_at = unix_now();
  report_.begun_at = std::chrono::steady_clock::now();
  report_.alive_at = report_.begun_at;
}

void StatusBoard::configure(const LoaderConfig& config) {
  const std::lock_guard lock(mutex_);
  report_.directory = config.directory;
  for (const SetConfig& set : config.sets) {
    SetRecorder& recorder = recorders_.try_emplace(set.name, set.name).first->second;
    recorder.configured(set);
    report_.sets.push_back(std::make_shared<const SetReport>(recorder.report()));
  }
  for (const SeenConfig& seen : config.seen) {
    SeenReport& report = report_.seen.emplace_back();
    report.name = seen.name;
    report.store = seen.store;
  }
}

void StatusBoard::post(const SetRecorder& recorder) {
  auto report = std::make_shared<const SetReport>(recorder.report());
  const std::lock_guard lock(mutex_);
  for (auto& posted : report_.sets) {
    if (posted->name != report->name) continue;
    posted.swap(report);  // the old one is freed after the lock
    return;
  }
}

void StatusBoard::post(StoreReport store) {
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(report_.stores.begin(), report_.stores.end(),
                                  [&](const StoreReport& other) { return other.name == store.name; });
  if (known != report_.stores.end()) {
    *known = std::move(store);
  } else {
    report_.stores.push_back(std::move(store));
  }
}

void StatusBoard::post(const SeenReport& seen) {
  const std::lock_guard lock(mutex_);
  for (SeenReport& posted : report_.seen) {
    if (posted.name == seen.name) posted = seen;
  }
}

void StatusBoard::post_ready(bool is_ready) {
  const std::lock_guard lock(mutex_);
  report_.is_ready = is_ready;
}

void StatusBoard::sign_of_life() {
  const std::lock_guard lock(mutex_);
  report_.alive_at = std::chrono::steady_clock::now();
}

LoaderReport StatusBoard::read() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

}  // namespace keysieve
