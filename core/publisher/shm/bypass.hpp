// The emergency switch: while a set is bypassed, every lookup answers maybe, from the reader's next call on.
// There are two independent switches: an operator's on this host, and one in the store. A seen set has the
// first alone: while it is on, workers neither look nor add, and answer as on_unavailable says; one that
// follows another that has ended holds from their next check on.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "core/worker/seen/seen_page.hpp"
#include "core/worker/shm/control_file.hpp"

namespace keysieve {

// The operator's switch. Lasts until `until` (Unix seconds), or until it is switched off when that is 0;
// kBypassOver switches it off. Needs no lock, so it works while a publisher runs or hangs, and survives its
// publications. Must run as the owner of the set's folder, or root. Throws MissingInput when the set was
// never published or begun here, Permission, NotTrusted, Data, Incompatible.
void set_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until);
// The same for a seen set, whose loader keeps it when it begins or retires windows.
void set_seen_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until);

// The switch of the store, for the loader. The set is bypassed while the operator's switch or this one is on.
void set_store_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until);

// A switch in a page: a bit of the word that readers load at every call, and the end of the bypass. All of it
// is sequentially consistent (SeenWriter::take_over() needs that, too), and needs no lock. switch_to() writes
// the new end first and the bit second, so a reader that sees the bit (acquire) sees the end as well. If it
// runs between the look and the clearing of clear_if_over(), the end has changed afterwards, and that
// function sets the bit again; if it runs later, it sets the bit itself. Switching off stores an end in the
// past before clearing the bit, so a bit that is set again after that means nothing.
struct PageBypass {
  std::atomic<std::uint64_t>& word;
  std::uint64_t bit;
  std::atomic<std::int64_t>& until;

  // kBypassOver switches it off.
  void switch_to(UnixSeconds end) const noexcept {
    until.store(end);
    if (end == kBypassOver) {
      word.fetch_and(~bit);
    } else {
      word.fetch_or(bit);
    }
  }
  void clear_if_over(UnixSeconds now) const noexcept {
    const UnixSeconds end = until.load();
    if ((word.load() & bit) == 0 || end == 0 || now < end) return;
    word.fetch_and(~bit);
    if (until.load() != end) word.fetch_or(bit);
  }
};

inline PageBypass bypass_of(ControlPage& page, const BypassSwitch& bypass) noexcept {
  return {page.current, bypass.bit, page.*bypass.until};
}
inline PageBypass bypass_of(SeenPage& page) noexcept {
  return {page.state, SeenState::kBypassBit, page.bypass_until};
}

}  // namespace keysieve
