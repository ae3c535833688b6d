// The troubles that users see. The first sixteen keep a loader from its work with a set, and it leaves them
// in shared memory: in the control page of a published set, in the page of a seen set. Readers do not look at
// them; `keysieve status`, the doctor and metrics do. docs/runbook.md has a section for each name.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace keysieve {

// The number of each is that of its bit in the pages, so it must not change.
enum class Trouble : std::uint8_t {
  None = 0,              // what the store calls current is live
  NotAsked = 1,          // this process has not looked at the store yet
  NeverPushed = 2,       // the store holds no snapshot of this set
  StoreUnreachable = 3,  // cannot be asked
  CannotLogIn = 4,       // the store refuses user or password, or the password cannot be read
  Refused = 5,           // the store's snapshot is damaged, not understood, older or fails a guard
  CannotPublish = 6,     // locked, no space, not allowed, no directory
  AddsInMemory = 7,      // adds that this process has received could not be saved, and would go with it
  NotCached = 8,         // what is live could not be saved: a reboot without the store would not find it
  SeenMissing = 9,       // a seen set that could not be opened or begun
  SeenOverdue = 10,      // a window that is over, and no next one
  SeenNotSaved = 11,     // not saved in its store, or not merged with other hosts
  SeenFull = 12,         // more keys than its filters are made for
  NotConfigured = 13,    // the set was removed from the configuration
  SeenLost = 14,         // memory of a seen set was gone, and keys with it
  AddsLost = 15,         // the store has lost entries of the adds log: every answer is maybe
  // What others find, and no page holds:
  LoaderSilent,     // it has not looked again by the time that it had promised
  OldKeys,          // older than a nightly build leaves them
  Clock,            // something was written in the future
  NotTmpfs,         // the directory is on a disk
  NoRoom,           // the next publications do not fit
  NoMemory,         // there is less memory than the next publication takes
  NotPublished,     // configured, expected, or the store's newest generation, but not published here
  SeenMemoryMayGo,  // the kernel removes the memory of seen sets that no process has
  StoreMayLose,     // the store's server may lose what was acknowledged
};

inline constexpr auto kTroubleNames = std::to_array<std::string_view>(
    {"none",           "not_asked",      "not_pushed", "unavailable",  "login",         "refused",
     "cannot_publish", "adds_in_memory", "not_cached", "seen_missing", "seen_overdue",  "seen_not_saved",
     "seen_full",      "not_configured", "seen_lost",  "adds_lost",    "loader_silent", "old_keys",
     "clock",          "not_tmpfs",      "no_room",    "no_memory",    "not_published", "seen_memory_may_go",
     "store_may_lose"});
static_assert(kTroubleNames.size() == static_cast<std::size_t>(Trouble::StoreMayLose) + 1);

constexpr std::string_view to_string(Trouble trouble) noexcept {
  return kTroubleNames[static_cast<std::size_t>(trouble)];
}

// Several at once.
class Troubles {
 public:
  constexpr Troubles() = default;
  constexpr explicit Troubles(std::uint64_t word) noexcept : word_(word) {}

  constexpr void add(Trouble trouble) noexcept {
    if (trouble != Trouble::None) word_ |= bit_of(trouble);
  }
  [[nodiscard]] constexpr bool has(Trouble trouble) const noexcept {
    return trouble == Trouble::None ? word_ == 0 : (word_ & bit_of(trouble)) != 0;
  }
  [[nodiscard]] constexpr std::uint64_t word() const noexcept { return word_; }
  // Bits that only a newer loader knows have no name, and are left out.
  [[nodiscard]] std::vector<std::string_view> names() const {
    std::vector<std::string_view> names;
    for (std::size_t i = 1; i < kTroubleNames.size(); ++i) {
      if (has(static_cast<Trouble>(i))) names.push_back(kTroubleNames[i]);
    }
    return names;
  }

 private:
  static constexpr std::uint64_t bit_of(Trouble trouble) noexcept {
    return std::uint64_t{1} << static_cast<unsigned>(trouble);
  }

  std::uint64_t word_ = 0;
};

}  // namespace keysieve
