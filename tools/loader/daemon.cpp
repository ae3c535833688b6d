#include "tools/loader/daemon.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "tools/loader/logging.hpp"

namespace keysieve {

Daemon::Daemon(LoaderCommandLine command_line, LoaderConfig config) : command_line_(std::move(command_line)) {
  use(std::move(config));
}

void Daemon::run() {
  do {
    loader_->round();
    if (!Signals::is_stop_pending()) tell_service();
  } while (wait_for_next_round() == Next::Round);
  service_.stopping();
  spdlog::info("stopping; what is published stays live");
}

Daemon::Next Daemon::wait_for_next_round() {
  const SteadyTime next_round =
      std::chrono::steady_clock::now() + with_jitter(config_.poll_interval, random_);
  for (;;) {
    service_.alive();
    const auto left = std::chrono::ceil<Milliseconds>(next_round - std::chrono::steady_clock::now());
    const auto signal = signals_.wait(std::min(left, service_.alive_interval()));
    if (!signal && left <= service_.alive_interval()) return Next::Round;
    if (!signal) continue;
    if (is_stop(*signal)) return Next::Stop;
    if (*signal == SIGHUP) {
      reload();
    } else {
      spdlog::info("refreshing all sets now");
      loader_->try_again_now();
    }
    return Next::Round;
  }
}

void Daemon::reload() {
  if (has_said_ready_) service_.reloading();
  try {
    use(load_config(command_line_.config_path));
    spdlog::info("configuration reloaded: {} sets", config_.sets.size());
  } catch (const Error& error) {
    spdlog::error("configuration refused, the old one stays in force: {}", error.what());
  }
  if (has_said_ready_) service_.ready("configuration read");
}

void Daemon::use(LoaderConfig config) {
  for (const SetConfig& old : config_.sets) {
    const auto is_it = [&](const SetConfig& set) { return set.name == old.name; };
    if (std::none_of(config.sets.begin(), config.sets.end(), is_it)) {
      spdlog::info("{}: is not configured any more; its last publication is left as it is", old.name);
    }
  }
  config_ = std::move(config);
  set_log_level(command_line_.log_level.value_or(config_.log_level));
  loader_.emplace(config_, [this] { return on_progress(); });
}

void Daemon::tell_service() {
  if (has_said_ready_ || !loader_->is_ready()) return service_.status(loader_->summary());
  service_.ready(loader_->summary());
  has_said_ready_ = true;
}

bool Daemon::on_progress() {
  service_.alive();
  return !Signals::is_stop_pending();
}

}  // namespace keysieve
