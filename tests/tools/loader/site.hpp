// One host for one case: shared memory, cache, stores and configuration in a temporary directory, and the
// hands of those who push to the stores and ask the sets.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "core/builder/snapshot/builder.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/shm/set_reader.hpp"
#include "core/worker/snapshot/snapshot.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/records/chunk.hpp"
#include "tools/status/live_publication.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/rollback.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve::test {

// The keys "key-<first>" to "key-<first + count - 1>".
struct KeyRange {
  int first;
  int count;
};

// What is pushed.
constexpr KeyRange first_keys(int count) {
  return {0, count};
}
inline constexpr KeyRange kKeys = first_keys(1000);
inline constexpr KeyRange kMoreKeys = first_keys(1100);  // few enough more for the guards
inline constexpr KeyRange kTwiceAsManyKeys = first_keys(2000);

// What is added, and in no snapshot.
constexpr KeyRange added_keys(int count) {
  return {5000, count};
}
constexpr KeyRange later_keys(int count) {
  return {6000, count};
}
inline constexpr KeyRange kAdded = added_keys(10);
inline constexpr KeyRange kAddedLater = later_keys(10);

inline std::string key_number(int number) {
  return "key-" + std::to_string(number);
}

inline SnapshotBytes build_snapshot(const std::string& set_name, KeyRange keys,
                                    UnixSeconds as_of = 1'700'000'000, double target_fpr = 0.01,
                                    const LogPosition& adds_from = {}, const Signer* signer = nullptr) {
  BuildSettings settings;
  settings.signer = signer;
  settings.set_name = set_name;
  settings.target_fpr = target_fpr;
  settings.as_of = as_of;
  settings.adds_from = adds_from;
  settings.seed = {42};
  SnapshotBuilder builder(settings);
  for (int i = 0; i < keys.count; ++i) builder.add(key_number(keys.first + i));
  return builder.finish();
}

// Builds a set with known-absent keys. Its as_of is later than that of every Site::push().
inline SnapshotBytes build_with_known_absent(const std::string& set_name, KeyRange keys,
                                             KeyRange known_absent) {
  BuildSettings settings;
  settings.set_name = set_name;
  settings.as_of = 1'700'001'000;
  settings.seed = {42};
  settings.has_known_absent = true;
  SnapshotBuilder builder(settings);
  for (int i = 0; i < keys.count; ++i) builder.add(key_number(keys.first + i));
  for (int i = 0; i < known_absent.count; ++i) {
    const std::string key = key_number(known_absent.first + i);
    const std::string_view given = key;
    builder.add_known_absent(0, {&given, 1});
  }
  return builder.finish();
}

class Site {
 public:
  Site() {
    std::filesystem::create_directory(directory());
    std::filesystem::create_directory(cache());
    open_store(store_url());  // makes it: the loader does not
  }

  [[nodiscard]] std::string directory() const { return root_ / "shm"; }
  [[nodiscard]] std::string cache() const { return root_ / "cache"; }
  [[nodiscard]] std::string config_path() const { return root_ / "keysieve.toml"; }
  [[nodiscard]] std::string store_url() const { return "dir:" + root_ / "store"; }
  [[nodiscard]] const TemporaryDirectory& root() const noexcept { return root_; }

  // Writes a file below the root, folders included.
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path path(root_ / name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  // directory, cache, a short poll interval and store "main"; then `rest`.
  void configure(const std::string& rest, const std::string& url,
                 const std::string& poll_interval = "20ms") const {
    write("keysieve.toml", "directory = \"" + directory() + "\"\ncache = \"" + cache() +
                               "\"\npoll_interval = \"" + poll_interval + "\"\n[store.main]\nurl = \"" + url +
                               "\"\n" + rest);
  }
  void configure(const std::string& rest) const { configure(rest, store_url()); }

  // Here and below, "" is the store of the site.
  // Without guards, as of one second after the push before.
  SnapshotRecord push(const std::string& set_name, KeyRange keys, const std::string& url = "",
                      double fpr = 0.01) {
    return push_snapshot(build_snapshot(set_name, keys, as_of_++, fpr), url);
  }
  // Without guards.
  SnapshotRecord push(const SnapshotBytes& snapshot) const { return push_snapshot(snapshot, ""); }
  // As push(), of a build that began after all that was added so far was committed.
  SnapshotRecord push_after_adds(const std::string& set_name, KeyRange keys, const std::string& url = "") {
    const auto store = open(url);
    const LogPosition from = store->end_of(adds_log(*store, set_name));
    return push_snapshot(build_snapshot(set_name, keys, as_of_++, 0.01, from), url);
  }
  // As push(), of a build that begins now and knows no transaction that is open.
  SnapshotRecord push_begun_now(const std::string& set_name, KeyRange keys, const std::string& url) {
    const auto store = open_store(url);
    store->mark(adds_log(*store, set_name));
    const LogPosition from = adds_from(*store, set_name, unix_now_ms(), std::chrono::milliseconds(0));
    return push_snapshot(build_snapshot(set_name, keys, as_of_++, 0.01, from), url);
  }
  // To the generation before the current one.
  SnapshotRecord roll_back(const std::string& set_name, const std::string& url = "") const {
    const auto store = open(url);
    const std::uint64_t before = read_pointer(*store, set_name)->previous.at(0).generation;
    return rollback(*store, set_name, plan_rollback(*store, set_name, before));
  }
  // Appends the keys to the set's adds log, in the order of their numbers.
  void add(const std::string& set_name, KeyRange keys, const std::string& url = "") const {
    const auto store = open(url);
    std::vector<std::string> names;
    for (int i = 0; i < keys.count; ++i) names.push_back(key_number(keys.first + i));
    store->append(adds_log(*store, set_name), names);
  }
  // Changes a byte of a snapshot's first chunk in the store.
  void damage(const std::string& set_name, const SnapshotRecord& record) const {
    const auto store = open_store(store_url());
    const std::string key = chunk_key(store->prefix(), set_name, record.push_id, 0);
    std::string chunk = store->get(key).value();
    chunk.at(chunk.size() / 2) ^= 1;
    const Record damaged{key, chunk};
    store->put_many({&damaged, 1});
  }
  void remove_chunk(const std::string& set_name, const SnapshotRecord& record) const {
    const auto store = open_store(store_url());
    const std::string key = chunk_key(store->prefix(), set_name, record.push_id, 0);
    store->remove_many({&key, 1});
  }

  // As after a reboot.
  void wipe_shared_memory() const {
    for (const auto& entry : std::filesystem::directory_iterator(directory())) {
      std::filesystem::remove_all(entry);
    }
  }
  // A file stands in its place, so that nobody makes a new one.
  void remove_store() const {
    std::filesystem::remove_all(root_ / "store");
    write("store", "not a folder");
  }

  [[nodiscard]] std::optional<LivePublication> live(const std::string& set_name) const {
    return live_publication(directory(), set_name);
  }
  // 0: nothing is live.
  [[nodiscard]] std::uint64_t live_generation(const std::string& set_name) const {
    const auto found = live(set_name);
    return found ? found->generation : 0;
  }
  // Whether every key of the range is answered with maybe by what is attached.
  [[nodiscard]] bool knows(const std::string& set_name, KeyRange keys) const {
    SetReader reader = this->reader(set_name);
    return has(reader.follow(), keys);
  }
  // The same while a bypass makes every answer maybe.
  [[nodiscard]] bool holds(const std::string& set_name, KeyRange keys) const {
    SetReader reader = this->reader(set_name);
    reader.follow();
    return has(reader.attachment(), keys);
  }

 private:
  [[nodiscard]] std::unique_ptr<Store> open(const std::string& url) const {
    return open_store(url.empty() ? store_url() : url);
  }
  [[nodiscard]] SetReader reader(const std::string& set_name) const {
    return {{.directory = directory()}, set_name};
  }
  static bool has(const Attachment* attached, KeyRange keys) {
    if (attached == nullptr) return false;
    const KeyHasher& hasher = attached->snapshot().hasher();
    for (int i = 0; i < keys.count; ++i) {
      if (!attached->may_contain(hasher(key_number(keys.first + i)))) return false;
    }
    return true;
  }
  SnapshotRecord push_snapshot(const SnapshotBytes& snapshot, const std::string& url) const {
    const SnapshotView view = SnapshotView::decode(snapshot.get(), "test", Check::Everything);
    const auto store = open(url);
    return keysieve::push(*store, view, Guards{.min_keys = 0, .max_shrink = {}, .max_changed = 1}).record;
  }

  TemporaryDirectory root_;
  UnixSeconds as_of_ = 1'700'000'000;
};

inline const std::string tags_set = "[[set]]\nname = \"tags\"\nstore = \"main\"\n";
inline const std::string shop_set = "[[set]]\nname = \"shop\"\nstore = \"main\"\n";

}  // namespace keysieve::test
