#include "core/worker/hash/key_hash.hpp"

#include "core/worker/base/xxhash.hpp"

namespace keysieve {

[[gnu::flatten]] KeyHash hash_by_library(std::string_view key, const HashSecret& secret) noexcept {
  return {XXH3_64bits_withSecret(key.data(), key.size(), secret.data(), sizeof secret)};
}

KeyHasher::KeyHasher(const HashSeed& seed) noexcept : seed_(seed) {
  for (std::size_t i = 0; i < secret_.size(); ++i) secret_[i] = XXH3_64bits_withSeed(&seed_, sizeof seed_, i);
}

}  // namespace keysieve
