// What workers read of a seen set: which filters it has and in which segments. The loader alone writes to it;
// the words, which workers write to, are in the segments. So a faulty or hostile worker can change words, but
// nothing that leads to them.
//
// A set is a row of filters, each for a window of time. The newest takes the keys; a key was seen if any of
// them has it. A window that gets more keys than planned has several. The loader appends filters and retires
// the oldest: `state` says in one atomic which there are.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/worker/base/bytes.hpp"
#include "core/worker/base/clock.hpp"
#include "core/worker/base/log_position.hpp"
#include "core/worker/seen/seen_size.hpp"
#include "core/worker/shm/mapped_page.hpp"
#include "core/worker/shm/set_folder.hpp"

namespace keysieve {

inline constexpr std::array<char, 8> kSeenMagic{'K', 'S', 'S', 'E', 'E', 'N', 'P', 'G'};
inline constexpr std::uint16_t kSeenAbiMajor = 1;  // readers refuse another major

// Below the directory, beside the published sets: no set can have this name.
inline constexpr std::string_view kSeenFolder = "seen.d";
inline constexpr const char* kSeenPageName = "page";

inline std::string seen_directory(const std::string& directory) {
  return directory + "/" + std::string(kSeenFolder);
}

// What workers answer while they cannot know.
enum class OnUnavailable : std::uint32_t { Throw, New, Seen };
inline constexpr std::array kOnUnavailable{OnUnavailable::Throw, OnUnavailable::New, OnUnavailable::Seen};
std::string_view to_string(OnUnavailable answer) noexcept;  // "throw"

// Names a filter, for ever and on all hosts.
struct FilterId {
  UnixSeconds window_ends = 0;
  std::uint64_t growth = 0;
  friend auto operator<=>(const FilterId&, const FilterId&) = default;
};
inline FilterId id_of(const SeenPlan& plan) noexcept {
  return {plan.window.ends, plan.growth};
}

// One filter. Does not change any more while `state` counts it.
struct SeenEntry {
  SeenPlan plan;
  BootSeconds begun_at;  // when it was added
  std::uint32_t segment_key;
  std::uint32_t unused;
};
static_assert(sizeof(SeenEntry) == 80);

// The filter of an entry, in its memory. Throws Data if no loader writes such an entry; `path` is for the
// message.
SeenFilter filter_of(const SeenEntry& entry, MutableBytes memory, const std::string& path);

inline constexpr std::uint32_t kMaxSeenFilters = 512;

// Which entries count: `size` of them from number `first` on. None while the set is being restored.
struct SeenState {
  std::uint32_t first = 0;
  std::uint16_t size = 0;
  bool is_bypassed = false;  // by an operator: workers answer as if they could not know

  [[nodiscard]] std::uint32_t end() const noexcept { return first + size; }
  [[nodiscard]] bool is_empty() const noexcept { return size == 0; }
  // Whether a loader stores it. Else the page is damaged.
  [[nodiscard]] bool is_possible() const noexcept { return size <= kMaxSeenFilters; }
  static constexpr std::uint64_t kBypassBit = 1;
  [[nodiscard]] std::uint64_t word() const noexcept {
    return std::uint64_t{first} << 32 | std::uint64_t{size} << 16 | (is_bypassed ? kBypassBit : 0);
  }
  static SeenState of(std::uint64_t word) noexcept {
    return {static_cast<std::uint32_t>(word >> 32), static_cast<std::uint16_t>(word >> 16),
            (word & kBypassBit) != 0};
  }
  friend bool operator==(const SeenState&, const SeenState&) = default;
};

// Each change writes all entries once more, behind those that count. The loader may have written up to
// 3 × kMaxSeenFilters entries from `first` on, so one that a reader reads is intact while `first` has moved
// on by less than what is left of the ring.
inline constexpr std::uint32_t kSeenEntries = 4 * kMaxSeenFilters;
inline constexpr std::uint32_t kSeenEntriesAhead = 3 * kMaxSeenFilters;

// What the loader keeps for itself, beyond its own life. Workers do not look at it.
struct SeenLogState {
  std::uint64_t log = 0;       // a hash of the store's name and the log's; 0: never saved
  std::uint64_t sender = 0;    // random: marks what was sent from this page
  std::uint64_t sent = 0;      // how many entries
  std::uint64_t own_read = 0;  // how many of them were found in the log
  LogPosition read_to{};
  LogPosition own_at{};         // of the last own entry that was found
  std::uint64_t takes_own = 0;  // 1 while the log is read again: what was lost may be in own entries
  LogPosition trim_to{};        // had expired by the wall clock
  BootSeconds trim_since = 0;   // since then

  // The log is read from its first entry on: filters were lost, or have expired by a wrong clock, or the
  // store may have lost entries.
  void read_again() noexcept {
    read_to = {};
    own_read = 0;
    own_at = {};
    takes_own = 1;
  }
};

struct SeenPage {
  std::array<char, 8> magic;
  std::uint32_t endian_mark;
  std::uint16_t abi_major;
  std::uint16_t unused;
  HashSeed seed;                  // of the hash of all keys
  std::uint64_t header_checksum;  // XXH3-64 of the bytes before it

  // The loader stores it (sequentially consistent) after the entries. Workers load it before they look at a
  // filter, and again after they have added a key. All of this is in one order with the compare-and-sets of
  // words. So a worker notices if it has added a key to a filter that was not the newest any more
  // (docs/seen_sets.md).
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> state;
  // OnUnavailable. Relaxed.
  alignas(kCacheLineBytes) std::atomic<std::uint32_t> on_unavailable;
  // The loader's last look at the set. Relaxed: information only.
  std::atomic<std::int64_t> looked_at;
  // As in the control page of a published set. Relaxed: information only.
  std::atomic<std::uint64_t> troubles;
  std::atomic<std::int64_t> next_look;
  // End of the bypass, stored before its bit is set; 0: none. Relaxed.
  std::atomic<std::int64_t> bypass_until;

  alignas(kCacheLineBytes) SeenLogState log;

  alignas(kPageBytes) std::array<SeenEntry, kSeenEntries> entries;

  // When the last key that its windows should keep may be forgotten, if no loader looks any more. Until the
  // last look keys were added to the newest, though it may have been over by plan.
  [[nodiscard]] UnixSeconds over_at() const noexcept {
    const SeenState live = SeenState::of(state.load());
    UnixSeconds over = 0;
    for (std::uint32_t i = 0; live.is_possible() && i < live.size; ++i) {
      const SeenWindow& window = entry(live.first + i).plan.window;
      over = std::max(over, std::max(window.ends, looked_at.load()) + window.kept_for);
    }
    return over;
  }
  // A copy, since the loader may be writing the next one there. Acquire (pairs with SeenWriter::write()), so
  // that what is loaded from `state` afterwards tells whether it was.
  [[nodiscard]] SeenEntry entry(std::uint32_t number) const noexcept {
    using Word64 [[gnu::may_alias]] = std::uint64_t;
    std::array<std::uint64_t, sizeof(SeenEntry) / sizeof(std::uint64_t)> words;
    const auto* from = reinterpret_cast<const Word64*>(&entries[number % kSeenEntries]);
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = __atomic_load_n(from + i, __ATOMIC_ACQUIRE);
    return std::bit_cast<SeenEntry>(words);
  }
};
static_assert(std::is_standard_layout_v<SeenPage> && offsetof(SeenPage, entries) == kPageBytes);

// Throws Data (damaged) or Incompatible (another ABI), naming `path`.
template <typename Page>
void check_seen_page(const MappedPage<Page>& mapped, const std::string& path) {
  check_page(mapped.page(), mapped.size(), kSeenMagic, kSeenAbiMajor, path, "page of a seen set");
  if (mapped.page().seed.is_zero()) throw Error(ErrorKind::Data, path + ": seed is zero");
}

// Page is SeenPage, or const. Throws MissingInput, Permission, NotTrusted, Data, Incompatible; all name the
// file.
template <typename Page>
MappedPage<Page> open_seen_page(const SetFolder& folder) {
  const std::string path = folder.path_of(kSeenPageName);
  MappedPage<Page> mapped(folder.open_file(kSeenPageName, MappedPage<Page>::kOpenFlags), path);
  check_seen_page(mapped, path);
  return mapped;
}

}  // namespace keysieve
