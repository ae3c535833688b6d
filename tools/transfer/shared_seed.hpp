// The seed that the sets of one store share: record <prefix>:seed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/worker/hash/key_hash.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

// Returns nothing if the store has no seed yet. Throws Data for a damaged record.
std::optional<HashSeed> find_shared_seed(Store& store);

// Returns the seed. Creates a random one by put-if-absent and reads it back, so that racing builders agree.
HashSeed shared_seed(Store& store);

// Draws another seed for later builds. Existing builds keep theirs. Throws Locked if another process does
// the same at the same moment.
HashSeed renew_shared_seed(Store& store);

// The sets whose current generation has another seed than this one, or one that cannot be read, by name.
std::vector<std::string> sets_of_other_seeds(Store& store, const HashSeed& seed);

}  // namespace keysieve
