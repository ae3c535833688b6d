// One host for one case: shared memory, cache, stores and configuration in a temporary directory, and the
// hands of those who push to the stores and ask the sets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/snapshot/snapshot.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tools/status/live_publication.hpp"
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

std::string key_number(int number);
// Builds a set with known-absent keys. Its as_of is later than that of every Site::push().
SnapshotBytes build_with_known_absent(const std::string& set_name, KeyRange keys, KeyRange known_absent);
SnapshotBytes build_snapshot(const std::string& set_name, KeyRange keys, UnixSeconds as_of = 1'700'000'000,
                             double target_fpr = 0.01, const LogPosition& adds_from = {},
                             const Signer* signer = nullptr);

class Site {
 public:
  Site();

  [[nodiscard]] std::string directory() const { return root_ / "shm"; }
  [[nodiscard]] std::string cache() const { return root_ / "cache"; }
  [[nodiscard]] std::string config_path() const { return root_ / "keysieve.toml"; }
  [[nodiscard]] std::string store_url() const { return "dir:" + root_ / "store"; }
  [[nodiscard]] const TemporaryDirectory& root() const noexcept { return root_; }

  // Writes a file below the root, folders included.
  void write(const std::string& name, const std::string& text) const;
  // directory, cache, a short poll interval and store "main"; then `rest`.
  void configure(const std::string& rest, const std::string& url,
                 const std::string& poll_interval = "20ms") const;
  void configure(const std::string& rest) const { configure(rest, store_url()); }

  // Without guards, as of one second after the push before.
  SnapshotRecord push(const std::string& set_name, KeyRange keys, const std::string& url, double fpr = 0.01);
  SnapshotRecord push(const std::string& set_name, KeyRange keys) {
    return push(set_name, keys, store_url());
  }
  // Without guards.
  SnapshotRecord push(const SnapshotBytes& snapshot) const { return push_snapshot(snapshot, store_url()); }
  // As push(), of a build that began after all that was added so far was committed.
  SnapshotRecord push_after_adds(const std::string& set_name, KeyRange keys, const std::string& url);
  SnapshotRecord push_after_adds(const std::string& set_name, KeyRange keys) {
    return push_after_adds(set_name, keys, store_url());
  }
  // To the generation before the current one.
  SnapshotRecord roll_back(const std::string& set_name, const std::string& url) const;
  SnapshotRecord roll_back(const std::string& set_name) const { return roll_back(set_name, store_url()); }
  // Appends the keys to the set's adds log, in the order of their numbers.
  void add(const std::string& set_name, KeyRange keys, const std::string& url) const;
  void add(const std::string& set_name, KeyRange keys) const { add(set_name, keys, store_url()); }
  // Changes a byte of a snapshot's first chunk in the store.
  void damage(const std::string& set_name, const SnapshotRecord& record) const;

  // As after a reboot.
  void wipe_shared_memory() const;
  void remove_store() const;

  [[nodiscard]] std::optional<LivePublication> live(const std::string& set_name) const;
  // 0: nothing is live.
  [[nodiscard]] std::uint64_t live_generation(const std::string& set_name) const;
  // Whether every key of the range is answered with maybe by what is attached.
  [[nodiscard]] bool knows(const std::string& set_name, KeyRange keys) const;

 private:
  SnapshotRecord push_snapshot(const SnapshotBytes& snapshot, const std::string& url) const;

  TemporaryDirectory root_;
  UnixSeconds as_of_ = 1'700'000'000;
};

inline const std::string tags_set = "[[set]]\nname = \"tags\"\nstore = \"main\"\n";
inline const std::string shop_set = "[[set]]\nname = \"shop\"\nstore = \"main\"\n";

}  // namespace keysieve::test
