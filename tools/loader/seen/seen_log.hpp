// The log of a seen set in its store, by which hosts learn of each other's keys, and which a host reads after
// a reboot. An entry has the tags that were added to one filter since the last one. All hosts append to the
// same log, and each reads all of it.
//
//   offset  bytes
//        0      8  magic "KSSEENL1"; the last character is the version
//        8      8  XXH3-64 of all that follows
//       16      8  seed of the set's hash
//       24      8  sender: random, for each page in shared memory
//       32      8  number of the entry, from 1 for each sender
//       40      8  when the window had ended or, while it had not, when this was sent; Unix seconds
//       48     64  SeenPlan of the filter
//      112      4  number of tags
//      116      4  bytes of the host's name
//      120         the name, then the tags
//
//   tag: blocks since the last one (7 bits per byte, the lowest first; the highest bit says that more
//   follow), number of bits (1 byte), and as many bytes as they need. All numbers are little-endian.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/publisher/seen/seen_tags.hpp"
#include "core/worker/seen/seen_size.hpp"
#include "tools/loader/config/seen_config.hpp"
#include "tools/transfer/stored_sets.hpp"

namespace keysieve {

struct SeenLogEntry {
  HashSeed seed{};
  std::uint64_t sender = 0;
  std::uint64_t number = 0;
  UnixSeconds ended_at = 0;
  SeenPlan plan{};
  std::string host{};
  std::vector<SeenTag> tags{};  // by block

  friend bool operator==(const SeenLogEntry&, const SeenLogEntry&) = default;
};

// An entry of so many has about 60 KiB at most. The tags of one word more do no harm.
inline constexpr std::size_t kTagsPerEntry = 5'000;

std::string encode(const SeenLogEntry& entry);
// Throws Data naming `source` for anything that was not made by encode(), and Incompatible for another
// version.
SeenLogEntry decode_seen_log_entry(std::string_view value, const std::string& source);

}  // namespace keysieve
