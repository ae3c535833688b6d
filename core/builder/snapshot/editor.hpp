// Adds keys to a copy of a snapshot and removes others, which makes a new snapshot. Faster than a build,
// since it needs only the changes, but the FPR rises with each added key. For kinds that support it. One
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/builder/filters/filter_kind.hpp"
#include "core/builder/snapshot/signer.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/snapshot/snapshot.hpp"

namespace keysieve {

// Both throw Usage that names the kinds that can, and what to do instead.
void check_can_add(const FilterKind& kind, std::string_view set_name);
void check_can_count(const FilterKind& kind, std::string_view set_name);
// `has_counters`: the set was built with --counting.
void check_can_remove(const FilterKind& kind, std::string_view set_name, bool has_counters);

class SnapshotEditor {
 public:
  // Copies the base, which is not needed afterwards. All its bytes must have been checked with
  // Check::Everything; otherwise damage would be passed on under new checksums. `counters` are those of a
  // counting set; without them no key can be removed from it. Throws as check_can_add() and check_counters(),
  // and Usage for a set with known-absent keys. `signer` must outlive it: signs the new snapshot if the base
  // is signed, whose signature must have been checked. Throws Usage unless both are there or neither.
  explicit SnapshotEditor(const SnapshotView& base, std::optional<SnapshotBytes> counters = std::nullopt,
                          const Signer* signer = nullptr);

  // Throws Data for an overfull shard, and in kinds with a capacity also for a full one. Where keys can be
  // removed, a key that seems to be there already is added again, because the one that is there may be
  // another with the same fingerprint. The two buckets of a cuckoo key hold eight keys with its fingerprint
  // (four if both are the same bucket); one more throws Data.
  void add(KeyHash hash);

  // Returns whether such a key was there; if not, nothing has changed. Remove only keys that were built in or
  // added, and each only once. Removing any other key that comes back as maybe removes another key (cuckoo)
  // or clears bits that other keys need (counting), and those keys become absent. A key that was added twice
  // must be removed twice. Throws as check_can_remove().
  bool remove(KeyHash hash);

  // Whether each key is stored separately, so that one of two keys with the same fingerprint can be removed.
  [[nodiscard]] bool keeps_keys_apart() const { return counters_ || kind_.can_remove(); }

  // How many of the keys added so far were certainly new. All of them if keys are kept apart. If not, a key
  // that came back as maybe before counts as a key of the base. Some of those were false positives, as the
  // FPR says, so the key count is a lower estimate.
  [[nodiscard]] std::uint64_t new_keys() const noexcept { return new_keys_; }
  [[nodiscard]] std::uint64_t removed_keys() const noexcept { return removed_keys_; }

  // `as_of`: Unix seconds, when the added keys began to be read from their source; the base's value is kept
  // if it is later. Build id and built_at are new. Everything else stays as in the base, adds_from too,
  // because it is unknown whether the added keys include those of the adds log. Throws Usage for a moment out
  // of range. Must be the last call, and only once.
  SnapshotBytes finish(UnixSeconds as_of);

  // Call after finish(), and only once: the counters of the new snapshot, if there are any.
  std::optional<SnapshotBytes> take_counters() { return std::move(counters_); }

 private:
  bool add_to_shard(std::uint64_t index, const ShardEntry& entry, KeyHash hash);
  bool remove_from_shard(std::uint64_t index, const ShardEntry& entry, KeyHash hash);
  std::string why_no_room(std::uint64_t index, const ShardEntry& entry, KeyHash hash);
  [[nodiscard]] ShardEntry entry_of(std::uint64_t index) const;
  void put_entry(std::uint64_t index, const ShardEntry& entry);
  [[nodiscard]] MutableBytes shard(std::uint64_t index);

  SnapshotBytes bytes_;
  SnapshotView view_;  // of bytes_
  const FilterKind& kind_;
  std::optional<SnapshotBytes> counters_;
  const Signer* signer_;
  std::uint64_t new_keys_ = 0;
  std::uint64_t removed_keys_ = 0;
};

}  // namespace keysieve
