#include "tools/loader/loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace keysieve {

Loader::Loader(const LoaderConfig& config, std::function<bool()> on_progress)
    : on_progress_(std::move(on_progress)) {
  std::map<std::string, StoreConnection*> by_name;
  for (const StoreConfig& store : config.stores) {
    by_name[store.name] = &stores_.emplace_back(store.url, store.shown, config.poll_interval);
  }
  for (const SetConfig& set : config.sets) {
    refreshers_.emplace_back(set, config, *by_name.at(set.store), on_progress_);
  }
}

void Loader::round() {
  for (SetRefresher& refresher : refreshers_) {
    if (!on_progress_()) break;
    refresher.refresh(std::chrono::steady_clock::now());
  }
  for (StoreConnection& store : stores_) store.close();
}

void Loader::try_again_now() {
  for (StoreConnection& store : stores_) store.try_again_now();
  for (SetRefresher& refresher : refreshers_) refresher.try_again_now();
}

bool Loader::is_ready() const {
  return std::none_of(refreshers_.begin(), refreshers_.end(),
                      [](const SetRefresher& refresher) { return holds_back_ready(refresher.state()); });
}

int Loader::exit_status() const {
  int highest = 0;
  for (const SetRefresher& refresher : refreshers_) {
    highest = std::max(highest, refresher.state().exit_status);
  }
  return highest;
}

std::string Loader::summary() const {
  std::size_t current = 0;
  std::string troubles;
  for (const SetRefresher& refresher : refreshers_) {
    if (refresher.state().trouble == Trouble::None) {
      ++current;
    } else {
      troubles += fmt::format("; {}: {}", refresher.set_name(), refresher.state().reason);
    }
  }
  return fmt::format("{} of {} sets current{}", current, refreshers_.size(), troubles);
}

}  // namespace keysieve
