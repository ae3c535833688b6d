#include "core/hash/key_hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace keysieve {

[[gnu::flatten]] KeyHash hash_by_library(std::string_view key, std::uint64_t seed) noexcept {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(key.data(), key.size(), seed);
  return {hash.low64, hash.high64};
}

}  // namespace keysieve
