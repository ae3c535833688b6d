// Facts about a seen set that has filters, as a worker sees it: its windows, and how many keys they have. For
// PHP's info(), and for people.
#pragma once

#include "core/worker/seen/seen_reader.hpp"

namespace keysieve {

struct SeenFacts {
  std::uint64_t windows = 0;   // live
  std::uint64_t filters = 0;   // of all of them
  double keys = 0;             // of the newest window, estimated from the bits
  std::uint64_t capacity = 0;  // of the newest window, with all its filters
  double estimated_fpr = 0;    // of all filters together, computed from a sample of the bits
  double target_fpr = 0;       // that they have together while none has more keys than planned
  std::uint64_t bytes = 0;
  UnixSeconds oldest_begins = 0;
  UnixSeconds newest_begins = 0;
  UnixSeconds newest_ends = 0;  // by plan: while the loader does not run it goes on
};

// The reader must be ready or bypassed. Reads at most 4 MiB, 1 MiB of a filter.
SeenFacts seen_facts(const SeenReader& reader);

}  // namespace keysieve
