// A host with one seen set, kept by a SeenKeeper that is told what time it is, and asked by one worker.
#pragma once

#include <filesystem>
#include <string>

#include "core/seen/seen_reader.hpp"
#include "tests/support/segments.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/loader/seen/seen_keeper.hpp"

namespace keysieve::test {

inline constexpr UnixSeconds kNoon = 1'700'006'400;  // a multiple of an hour
inline constexpr UnixSeconds kMinute = 60;

// Two windows of ten minutes.
inline SeenConfig clicks_config(const std::string& host = "web1",
                                const std::vector<std::string>& other_hosts = {}) {
  SeenConfig config;
  config.name = "clicks";
  config.keys = 2'000;
  config.window = std::chrono::minutes(10);
  config.windows = 2;
  config.on_unavailable = OnUnavailable::Seen;
  config.host = host;
  config.other_hosts = other_hosts;
  return config;
}

class SeenHost {
 public:
  // `store`: its URL; empty: none.
  SeenHost(SeenConfig config, const std::string& store) : config_(std::move(config)) {
    config_.store = store.empty() ? "" : "main";
    loader_.directory = directory_.path();
    if (!store.empty()) {
      open_store(store);  // makes it: the loader does not
      connection_.emplace(store_opener(store), store, std::chrono::seconds(1));
    }
    start();
  }
  ~SeenHost() { reboot(); }
  SeenHost(const SeenHost&) = delete;
  SeenHost& operator=(const SeenHost&) = delete;

  // As keysieved begins.
  void start() {
    stop();
    keeper_.emplace(config_, loader_, connection_ ? &*connection_ : nullptr, [this] {
      if (on_progress_) on_progress_();
      return true;
    });
  }
  void stop() { keeper_.reset(); }
  // Shared memory is gone, and nothing runs.
  void reboot() {
    stop();
    reader_.reset();
    remove_segments_of(seen_directory(directory_.path()) + "/clicks");
    std::filesystem::remove_all(seen_directory(directory_.path()));
  }

  // A look at that moment, which exchanges with the store as well.
  const SeenReport& look(UnixSeconds now) {
    keeper_->try_again_now();
    if (connection_) connection_->try_again_now();
    keeper_->look(std::chrono::steady_clock::now(), now);
    return keeper_->report();
  }
  const SeenReport& report() const { return keeper_->report(); }

  SeenReader& worker() {
    if (!reader_) reader_.emplace(ReaderSettings{.directory = directory_.path()}, "clicks");
    reader_->check_soon();
    reader_->follow();
    return *reader_;
  }
  bool add(std::uint64_t key) {
    SeenReader& reader = worker();
    return reader.is_ready() && reader.add_if_new(hash_of(reader, key));
  }
  bool has(std::uint64_t key) {
    SeenReader& reader = worker();
    return reader.is_ready() && reader.may_contain(hash_of(reader, key));
  }
  // How many of the keys from `first` on were new.
  std::uint64_t add_many(std::uint64_t first, std::uint64_t count) {
    std::uint64_t added = 0;
    for (std::uint64_t key = first; key < first + count; ++key) added += add(key) ? 1U : 0U;
    return added;
  }
  std::uint64_t count_of(std::uint64_t first, std::uint64_t count) {
    std::uint64_t found = 0;
    for (std::uint64_t key = first; key < first + count; ++key) found += has(key) ? 1U : 0U;
    return found;
  }

  [[nodiscard]] const std::string& directory() const { return directory_.path(); }
  SeenConfig& config() { return config_; }
  std::function<void()> on_progress_;

 private:
  static KeyHash hash_of(const SeenReader& reader, std::uint64_t key) {
    return reader.hasher()(std::string_view(reinterpret_cast<const char*>(&key), sizeof key));
  }

  TemporaryDirectory directory_;
  SeenConfig config_;
  LoaderConfig loader_;
  std::optional<StoreConnection> connection_;
  std::optional<SeenKeeper> keeper_;
  std::optional<SeenReader> reader_;
};

}  // namespace keysieve::test
