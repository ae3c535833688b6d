// All that shared memory shows of one seen set at this moment: its windows and how many keys they have, as a
// worker sees them. A published set has no windows and a seen set no publication, so set_facts.hpp is another
// struct.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/worker/seen/seen_facts.hpp"

namespace keysieve {

struct SeenSetFacts {
  std::string name;
  Availability availability = Availability::Missing;
  std::string reason;                           // empty: nothing is wrong
  std::optional<OnUnavailable> on_unavailable;  // nothing: there is no page
  UnixSeconds bypass_until = 0;                 // 0: none is in force, or it has no end
  UnixSeconds looked_at = 0;                    // by the loader; 0: never
  std::optional<SeenFacts> live;                // while it is ready or bypassed
  std::vector<std::string_view> troubles;       // as codes of the runbook; a bypass is none
};

// The seen sets that have a folder in the directory, by name. Throws MissingInput, Permission.
std::vector<std::string> seen_sets_in(const std::string& directory);

// A reader that trusts the owner of seen_directory().
SeenReader seen_status_reader(const std::string& directory, const std::string& set_name);

// Looks with such a reader. Reads up to 4 MiB of the filters.
SeenSetFacts seen_set_facts(const std::string& directory, const std::string& set_name, UnixSeconds now);

// Whether the kernel removes segments that no process has attached. Then seen sets are lost when keysieved
// stops while no worker has them. False too if the file cannot be read: keysieved.service hides it
// (ProcSubset=pid). Source: Documentation/admin-guide/sysctl/kernel.rst of Linux, shm_rmid_forced.
bool is_shm_rmid_forced();

// What to say then.
inline constexpr std::string_view kShmRmidForced =
    "kernel.shm_rmid_forced is 1: when keysieved stops while no worker has a seen set, its memory is "
    "removed, and its keys with it";

}  // namespace keysieve
