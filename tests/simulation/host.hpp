// A host of a simulation: its loader's part for one set, and a process that looks keys up.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/publisher/shm/publisher.hpp"
#include "core/worker/shm/set_reader.hpp"
#include "tests/simulation/network.hpp"
#include "tests/simulation/promises.hpp"
#include "tools/loader/refresh/set_refresher.hpp"

namespace keysieve::test {

class SimulatedHost final : public PromisedHost {
 public:
  SimulatedHost(SimulatedTime& time, Network& network, std::string name, std::string root)
      : PromisedHost(name), machine{std::move(name)}, time_(time), network_(network), root_(std::move(root)) {
    make_folders();
    begin_reading();
  }

  void start_loader() {
    LoaderConfig loader;
    loader.directory = root_ + "/shm";
    loader.cache = cache();
    SetConfig set;
    set.name = kSimulatedSet;
    set.guards.max_shrink = {};
    set.guards.max_changed = 1;
    store_.emplace([this] { return network_.connect(); }, "the store", kPollInterval);
    refresher_.emplace(set, loader, *store_, [] { return true; });
    server_number_ = network_.server_number();
    refresher_->publish_cached(std::chrono::steady_clock::now());
  }
  // As a round of keysieved. Its watch notices another server.
  const RefreshOutcome& look() {
    if (std::exchange(server_number_, network_.server_number()) != network_.server_number())
      refresher_->read_log_again();
    const RefreshOutcome& outcome = refresher_->refresh(std::chrono::steady_clock::now());
    store_->close();
    return outcome;
  }
  // As if its watch had named the adds log, whether anything was added or not.
  bool take_adds(Changed changed) { return refresher_->take_adds(std::chrono::steady_clock::now(), changed); }
  // From here on the loader's process writes no file, and nothing is left of it after end_loader().
  void kill_loader() const { std::filesystem::rename(root_, dead_root()); }
  void end_loader() {
    refresher_.reset();
    store_.reset();
    if (std::filesystem::exists(dead_root())) std::filesystem::rename(dead_root(), root_);
  }
  // Memory is lost; with the disk, the cache as well.
  void reboot(bool with_disk) {
    std::filesystem::remove_all(root_ + "/shm");
    if (with_disk) std::filesystem::remove_all(cache());
    make_folders();
    machine.booted_at = time_.now;
    begin_reading();
  }
  void begin_reading() {
    const OnMachine here(time_, machine);
    reader_.emplace(ReaderSettings{.directory = root_ + "/shm"}, kSimulatedSet);
  }
  // As `keysieve publish`, which refuses to hide live keys. Whether it was published.
  bool publish_by_hand(Bytes snapshot) {
    Publisher publisher({.directory = root_ + "/shm"}, kSimulatedSet);
    if (attached() == nullptr) return false;
    const auto layer = publisher.open_layer();
    if (layer && layer->live_keys() != 0) return false;
    publisher.publish(snapshot, 0);
    return true;
  }

  const Attachment* attached() override {
    const OnMachine here(time_, machine);
    reader_->check_soon();
    return reader_->follow();
  }
  [[nodiscard]] bool answers_maybe() const override {
    return reader_->availability() == Availability::Bypassed;
  }
  [[nodiscard]] const SetRefresher& refresher() const { return *refresher_; }
  [[nodiscard]] std::string cache() const { return root_ + "/cache"; }

  static constexpr Milliseconds kPollInterval = std::chrono::seconds(30);

  Machine machine;

 private:
  [[nodiscard]] std::string dead_root() const { return root_ + ".dead"; }
  void make_folders() const {
    for (const char* folder : {"", "/shm", "/cache"}) std::filesystem::create_directory(root_ + folder);
  }

  SimulatedTime& time_;
  Network& network_;
  std::string root_;
  unsigned server_number_ = 0;
  std::optional<StoreConnection> store_;
  std::optional<SetRefresher> refresher_;
  std::optional<SetReader> reader_;
};

}  // namespace keysieve::test
