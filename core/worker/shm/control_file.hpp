// The control file of a set is one page, which says which publication is current. Written by the loader (and
// by `keysieve bypass`), mapped read-only by every reader. Each atomic has a cache line of its own.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "core/worker/base/bytes.hpp"
#include "core/worker/base/clock.hpp"
#include "core/worker/shm/mapped_page.hpp"
#include "core/worker/shm/set_folder.hpp"

namespace keysieve {

inline constexpr std::array<char, 8> kControlMagic{'K', 'S', 'C', 'O', 'N', 'T', 'R', 'L'};
inline constexpr std::uint16_t kControlAbiMajor = 2;  // readers refuse another major
inline constexpr std::uint16_t kControlAbiMinor = 0;  // a higher minor only adds fields

// `current` is a publication number. Each of its four top bits bypasses the set: for an operator of this
// host, for the store, because the bytes of this publication have changed, or because the store has lost
// keys that were added. Clearing one leaves the others. 0: nothing published yet.
inline constexpr std::uint64_t kBypassBit = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kStoreBypassBit = std::uint64_t{1} << 62;
inline constexpr std::uint64_t kDamagedBit = std::uint64_t{1} << 61;  // the next publication clears it
inline constexpr std::uint64_t kAddsLostBit = std::uint64_t{1} << 60;
inline constexpr std::uint64_t kBypassBits = kBypassBit | kStoreBypassBit | kDamagedBit | kAddsLostBit;
constexpr std::uint64_t publication_of(std::uint64_t word) noexcept {
  return word & ~kBypassBits;
}
constexpr bool is_bypassed(std::uint64_t word) noexcept {
  return (word & kBypassBits) != 0;
}

struct ControlPage {
  std::array<char, 8> magic;
  std::uint32_t endian_mark;
  std::uint16_t abi_major;
  std::uint16_t abi_minor;
  std::uint64_t instance;         // random, new whenever the page is created
  std::uint64_t header_checksum;  // XXH3-64 of the bytes before it

  // Release-stored by the publisher after the publication's files are in place; acquire-loaded by readers per
  // call.
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> current;
  // Stored before the bypass bit is set (release, through `current`) or cleared; Unix seconds, 0: until
  // switched off.
  alignas(kCacheLineBytes) std::atomic<std::int64_t> bypass_until;
  // When the loader last saw that the store has nothing newer than the current publication. Relaxed:
  // information only.
  alignas(kCacheLineBytes) std::atomic<std::int64_t> last_confirmed;
  // The loader's last sign of life. Relaxed: information only.
  alignas(kCacheLineBytes) std::atomic<std::int64_t> heartbeat;

  // Like bypass_until, for the store's bypass.
  alignas(kCacheLineBytes) std::atomic<std::int64_t> store_bypass_until;

  // What keeps the loader from its work with this set (Troubles::word()), and by when it will have looked
  // again; 0: unknown. Relaxed: information only.
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> troubles;
  alignas(kCacheLineBytes) std::atomic<std::int64_t> next_look;

  // Up to where the store has lost added keys, in Unix milliseconds, while kAddsLostBit is set. Stored before
  // the bit. Relaxed: for the next loader only.
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> adds_lost_to_ms;

  alignas(kCacheLineBytes) std::array<std::byte, kPageBytes - 9 * kCacheLineBytes> reserved;
};

static_assert(sizeof(ControlPage) == kPageBytes && std::is_standard_layout_v<ControlPage>);
static_assert(offsetof(ControlPage, header_checksum) == 24);
static_assert(offsetof(ControlPage, current) == 64);
static_assert(offsetof(ControlPage, bypass_until) == 128);
static_assert(offsetof(ControlPage, last_confirmed) == 192);
static_assert(offsetof(ControlPage, heartbeat) == 256);
static_assert(offsetof(ControlPage, store_bypass_until) == 320);
static_assert(offsetof(ControlPage, troubles) == 384);
static_assert(offsetof(ControlPage, next_look) == 448);
static_assert(offsetof(ControlPage, adds_lost_to_ms) == 512);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(std::atomic<std::uint64_t>) == 8);
static_assert(std::atomic<std::int64_t>::is_always_lock_free && sizeof(std::atomic<std::int64_t>) == 8);

// An end in the past. Stored when a bypass is switched off, so that a process that sets the bit again for an
// older bypass has no effect.
inline constexpr UnixSeconds kBypassOver = 1;

// One of the two ways to bypass a set until some moment: a bit of `current`, and the end of the bypass.
struct BypassSwitch {
  std::uint64_t bit;
  std::atomic<std::int64_t> ControlPage::*until;
};
inline constexpr BypassSwitch kOperatorBypass{kBypassBit, &ControlPage::bypass_until};
inline constexpr BypassSwitch kStoreBypass{kStoreBypassBit, &ControlPage::store_bypass_until};
inline constexpr std::array kBypassSwitches{kOperatorBypass, kStoreBypass};

// Their ends, as of a look at the page. Relaxed, because a reader that sees the bit sees the end.
using BypassEnds = std::array<UnixSeconds, kBypassSwitches.size()>;
inline BypassEnds ends_of(const ControlPage& page) noexcept {
  BypassEnds ends;
  for (std::size_t i = 0; i < ends.size(); ++i)
    ends[i] = (page.*kBypassSwitches[i].until).load(std::memory_order_relaxed);
  return ends;
}

// Whether the page says something else than `word`, and the ends as of a look after that was loaded. A bypass
// that follows one that is over may find its bit set, and then changes the end alone. Relaxed: a
// process that has heard of a new end sees it.
inline bool has_changed(const ControlPage& page, std::uint64_t word, const BypassEnds& ends) noexcept {
  return page.current.load(std::memory_order_relaxed) != word || ends_of(page) != ends;
}

// Returns the bits of `word` whose bypass has not ended. `word` was loaded from `current` (acquire) before
// the ends.
inline std::uint64_t bypasses_in_force(std::uint64_t word, const BypassEnds& ends, UnixSeconds now) noexcept {
  std::uint64_t in_force = word & (kDamagedBit | kAddsLostBit);
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i] == 0 || now < ends[i]) in_force |= word & kBypassSwitches[i].bit;
  }
  return in_force;
}

// Page is ControlPage, or const. `file` was opened in the folder with MappedPage<Page>::kOpenFlags. Throws
// MissingInput, Permission, NotTrusted, Data, Incompatible; all name the file.
template <typename Page>
MappedPage<Page> open_control_page(const SetFolder& folder, const FileDescriptor& file) {
  const std::string path = folder.path_of(kControlName);
  MappedPage<Page> mapped(file, path);
  check_page(mapped.page(), mapped.size(), kControlMagic, kControlAbiMajor, path, "control page");
  return mapped;
}
template <typename Page>
MappedPage<Page> open_control_page(const SetFolder& folder) {
  return open_control_page<Page>(folder, folder.open_file(kControlName, MappedPage<Page>::kOpenFlags));
}

}  // namespace keysieve
