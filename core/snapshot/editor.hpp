// Adds keys to a copy of a snapshot, and removes others, which makes a snapshot of its own: faster than a
// build, since it needs the changes alone, but the FPR rises with each key added. For kinds that can. One
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/snapshot/snapshot.hpp"

namespace keysieve {

// Throw Usage that names the kinds that can, and what to do instead.
void check_can_add(const FilterKind& kind, std::string_view set_name);
void check_can_count(const FilterKind& kind, std::string_view set_name);
// `has_counters`: the set was built with --counting.
void check_can_remove(const FilterKind& kind, std::string_view set_name, bool has_counters);

class SnapshotEditor {
 public:
  // Copies the base, which is not needed any more then. All its bytes must have been checked before, with
  // Check::Everything: what is damaged would be passed on under new checksums.
  // `counters`: those of a counting set, without which no key can be removed from it. Throws as
  // check_can_add() and check_counters().
  explicit SnapshotEditor(const SnapshotView& base, std::optional<SnapshotBytes> counters = std::nullopt);

  // Throws Data for an overfull shard, in kinds with a capacity also for a full one. Where keys can be
  // removed, one that is there already is added a second time: what is there may be another that looks alike.
  // A cuckoo shard has places for eight that look alike, or four, and throws Data for one more.
  void add(KeyHash hash);

  // Whether such a key was there, and nothing has changed when not. Remove only what was built in or added,
  // and each key once: of a key that was not, or was removed before, but is answered maybe, another key goes,
  // or what a counting set shares with others, and they turn absent. A key that was added twice must be
  // removed twice. Throws as check_can_remove().
  bool remove(KeyHash hash);

  // Whether each key has places of its own, so that of two that look alike one can go.
  [[nodiscard]] bool keeps_keys_apart() const { return counters_ || view_.kind().can_remove(); }

  // Of the keys added so far those that were certainly new; all where keys are kept apart. Else one that was
  // answered maybe before is taken for a key of the base: the FPR says how many of them were none, and so the
  // key count is a lower estimate.
  [[nodiscard]] std::uint64_t new_keys() const noexcept { return new_keys_; }
  [[nodiscard]] std::uint64_t removed_keys() const noexcept { return removed_keys_; }

  // `as_of`: Unix seconds, when the added keys began to be read from their source; the base's counts where it
  // is later. What else a build is told stays as in the base, adds_from too: nobody knows whether the added
  // keys hold what the adds log held. New are build id and built_at. Throws Usage for a moment out of
  // range. Call once, as the last.
  SnapshotBytes finish(UnixSeconds as_of);

  // After finish(): the counters of what it returned, where there are any. Call once.
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
  std::optional<SnapshotBytes> counters_;
  std::uint64_t new_keys_ = 0;
  std::uint64_t removed_keys_ = 0;
};

}  // namespace keysieve
