// Hosts with one seen set each, kept by a SeenKeeper that is told what time it is, and asked by one worker.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "core/worker/seen/seen_reader.hpp"
#include "tests/support/segments.hpp"
#include "tests/support/store_kinds.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/loader/tapped_store.hpp"
#include "tools/loader/seen/left_seen_sets.hpp"
#include "tools/loader/seen/seen_keeper.hpp"

namespace keysieve::test {

inline constexpr UnixSeconds kNoon = 1'700'006'400;  // a multiple of an hour
inline constexpr UnixSeconds kMinute = 60;
inline constexpr UnixSeconds kHour = 60 * kMinute;

// Two windows of ten minutes.
inline SeenConfig clicks_config(const std::string& host = "web1") {
  SeenConfig config;
  config.name = "clicks";
  config.keys = 2'000;
  config.window = std::chrono::minutes(10);
  config.windows = 2;
  config.on_unavailable = OnUnavailable::Seen;
  config.host = host;
  return config;
}

class SeenHost {
 public:
  // `store`: its URL; empty: none.
  SeenHost(SeenConfig config, const std::string& store) : config_(std::move(config)) {
    loader_.directory = directory_.path();
    if (!store.empty()) {
      open_store(store);  // makes it: the loader does not
      connection_.emplace(
          [this, open = store_opener(store)]() -> std::unique_ptr<Store> {
            return std::make_unique<TappedStore>(open(), tap);
          },
          store, std::chrono::seconds(1));
    }
    start();
  }
  ~SeenHost() { reboot(); }
  SeenHost(const SeenHost&) = delete;
  SeenHost& operator=(const SeenHost&) = delete;

  // As keysieved begins.
  void start(bool with_store = true) {
    stop();
    const bool has_store = with_store && connection_;
    config_.store = has_store ? "main" : "";
    const auto check_memory = [this](std::uint64_t /*bytes*/) {
      if (!has_room) throw Error(ErrorKind::CannotCreate, "no room for a window");
    };
    keeper_.emplace(config_, loader_, has_store ? &*connection_ : nullptr, nullptr, check_memory);
  }
  void stop() { keeper_.reset(); }
  // Shared memory is gone, and nothing runs. The boot clock begins again.
  void reboot() {
    stop();
    reader_.reset();
    remove_segments_of(folder());
    std::filesystem::remove_all(seen_directory(directory_.path()));
    boot_offset_.reset();
  }

  void reboot_and_start() {
    reboot();
    start();
  }

  // A look at that moment, which exchanges with the store as well. Both clocks have moved on by as much.
  const SeenReport& look(UnixSeconds now) {
    if (!boot_offset_) boot_offset_ = now - kBootTakes;
    now_ = {now, now - *boot_offset_};
    keeper_->try_again_now();
    if (connection_) connection_->try_again_now();
    do keeper_->look(steady_now(), now_);
    while (keeper_->has_more());
    return keeper_->report();
  }
  // Sets the wall clock forward, or back, by so much. Looks name what it says from then on.
  void set_clock(std::int64_t by) { *boot_offset_ += by; }
  // Sends all added keys, as when keysieved is stopped.
  void save() {
    keeper_->begin_save(now_);
    while (keeper_->has_more()) keeper_->look(steady_now(), now_);
  }
  // The look of a loader that has no set of that name.
  void look_of_others(UnixSeconds now) const {
    LoaderConfig others;
    others.directory = directory();
    LeftSeenSets(others).look(now);
  }
  const SeenReport& report() const { return keeper_->report(); }
  SeenKeeper& keeper() { return *keeper_; }

  SeenReader& worker() {
    if (!reader_) reader_.emplace(ReaderSettings{.directory = directory_.path()}, "clicks");
    reader_->check_soon();
    reader_->follow();
    return *reader_;
  }
  bool add(std::uint64_t key) {
    SeenReader& reader = worker();
    return reader.is_ready() && reader.add_if_new(hash_of(reader, key)) == SeenAnswer::New;
  }
  bool has(std::uint64_t key) { return has(worker(), key); }
  static bool has(const SeenReader& reader, std::uint64_t key) {
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
  // Adds so many keys in steps between which the loader looks, so that the window grows in time. Returns how
  // many were new.
  std::uint64_t add_slowly(std::uint64_t first, std::uint64_t count, UnixSeconds now) {
    std::uint64_t added = 0;
    for (std::uint64_t key = first; key < first + count; key += 200) {
      added += add_many(key, std::min<std::uint64_t>(200, first + count - key));
      look(now);
    }
    return added;
  }

  // The segment of a filter, counted from the oldest.
  std::uint32_t segment_key(std::uint32_t filter) {
    const SeenPage& page = *worker().page();
    return page.entry(SeenState::of(page.state).first + filter).segment_key;
  }

  [[nodiscard]] const std::string& directory() const { return directory_.path(); }
  [[nodiscard]] std::string folder() const { return seen_directory(directory_.path()) + "/clicks"; }
  SeenConfig& config() { return config_; }
  StoreTap tap;
  bool has_room = true;  // for another window

 private:
  static constexpr BootSeconds kBootTakes = 30;

  [[nodiscard]] static SteadyTime steady_now() { return std::chrono::steady_clock::now(); }
  static KeyHash hash_of(const SeenReader& reader, std::uint64_t key) {
    return reader.hasher()(std::string_view(reinterpret_cast<const char*>(&key), sizeof key));
  }

  TemporaryDirectory directory_;
  SeenConfig config_;
  LoaderConfig loader_;
  std::optional<StoreConnection> connection_;
  std::optional<SeenKeeper> keeper_;
  std::optional<SeenReader> reader_;
  std::optional<std::int64_t> boot_offset_;
  Moment now_;
};

// Hosts that keep the same seen set and exchange it through a store.
inline const std::string kSeenLog = "keysieve:seen.d:clicks:log";

class SavedSeenSet : public ::testing::Test {
 protected:
  [[nodiscard]] std::vector<LogEntry> entries() const {
    return open_store(url_)->read_after(kSeenLog, LogPosition{}, 100'000);
  }

  TemporaryDirectory folder_;
  std::string url_ = kLmdb.empty_store(folder_);
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
