// keysieved itself, with the seen set "clicks", which a worker asks.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/publisher/seen/seen_sizing.hpp"
#include "core/worker/seen/seen_reader.hpp"
#include "tests/support/segments.hpp"
#include "tests/tools/loader/keysieved_fixture.hpp"
#include "tools/loader/seen/seen_log.hpp"
#include "tools/stores/store.hpp"

namespace keysieve::test {

class KeysievedSeen : public Keysieved {
 protected:
  // Its window does not end in the middle of a test.
  static std::string clicks(const std::string& rest = "") {
    return "[[seen]]\nname = \"clicks\"\nkeys = 1000\nwindow = \"366d\"\nwindows = 2\n" + rest;
  }
  ~KeysievedSeen() override {
    keysieved_.reset();
    forget();
  }
  // As a reboot does.
  void forget() {
    reader_.reset();
    remove_segments_of(seen_directory(site_.directory()) + "/clicks");
    std::filesystem::remove_all(seen_directory(site_.directory()));
  }

  SeenReader& worker() {
    if (!reader_) reader_.emplace(ReaderSettings{.directory = site_.directory()}, "clicks");
    reader_->check_soon();
    reader_->follow();
    return *reader_;
  }
  [[nodiscard]] bool is_ready() {
    return eventually([this] { return worker().is_ready(); });
  }
  int add_many(int first, int count) {
    int added = 0;
    for (int i = 0; i < count; ++i) {
      SeenReader& reader = worker();
      const bool is_new =
          reader.is_ready() && reader.add_if_new(reader.hasher()(key_number(first + i))) == SeenAnswer::New;
      added += is_new ? 1 : 0;
    }
    return added;
  }
  // Keys that were sent to the store. Entries are small, so none is sent in two parts.
  [[nodiscard]] std::size_t saved_keys() const {
    std::size_t keys = 0;
    const auto store = open_store(site_.store_url());
    for (const LogEntry& one : store->read_after("keysieve:seen.d:clicks:log", LogPosition{}, 1'000))
      keys += decode_seen_log_entry(one.key, "log").tags.size();
    return keys;
  }

  std::optional<SeenReader> reader_;
};

}  // namespace keysieve::test
