#include "core/hash/key_hash.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace keysieve {

[[gnu::flatten]] KeyHash hash_by_library(std::string_view key, std::uint64_t seed) noexcept {
  return {XXH3_64bits_withSeed(key.data(), key.size(), seed)};
}

}  // namespace keysieve
