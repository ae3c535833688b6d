// The hash of one key, for tests that need few. A KeyHasher is faster for many keys of one seed.
#pragma once

#include "core/worker/hash/key_hash.hpp"

namespace keysieve {

inline KeyHash hash_key(std::string_view key, const HashSeed& seed) noexcept {
  return KeyHasher(seed)(key);
}

}  // namespace keysieve
