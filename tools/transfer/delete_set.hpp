// Removes a set from a store. Used by the verb delete.
#pragma once

#include <cstdint>
#include <string>

#include "tools/stores/store.hpp"

namespace keysieve {

struct DeletedSet {
  std::uint64_t generations = 0;
  std::uint64_t chunks = 0;        // of those generations, of pushes under way, and of failed ones
  bool is_still_bypassed = false;  // in this store
};

// Returns true if the store has anything of the set that delete_set() would remove.
bool has_anything_of(Store& store, const std::string& set_name);

// Removes all generations, all other chunks (in a store that can list; others drop them by themselves), and
// the adds log up to its end. Also if the set's record is gone. Steps, of which a kill after any leaves the
// set as it was, or rests that another call removes:
//   1. One compare-and-set drops the generations, makes all pushes obsolete whose chunks are there, and says
//      that the adds log is trimmed. From then on the store has no such set.
//   2. The chunks are removed, and the entries of the log.
// The record stays. It says how far the log was trimmed: an older snapshot that lacks those adds stays
// refused. And it keeps a bypass in force: hosts may still have live what it is for, and would answer from
// that again. A push that is under way begins again, and brings the set back.
// Throws Data for a damaged record, Locked, and as the store does.
DeletedSet delete_set(Store& store, const std::string& set_name);

}  // namespace keysieve
