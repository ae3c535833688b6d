// The one hash of a key: computed once per key and seed, and shared by every set, layer and kind that looks
// at the key. Source: XXH3 64-bit of xxHash 0.8 with a secret, whose output is fixed across versions and
// machines.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>

#include "core/worker/base/bytes.hpp"

namespace keysieve {

// The first bits choose the shard, so that the order of hashes is the order of their shards, for any number
// of shards. Filters use remix() of it. Two keys that are not chosen on purpose have the same hash with
// probability 2^-64. So in a set of n keys an absent key comes back as maybe with probability n / 2^64 for
// that reason alone: 5.4e-10 for 10 billion keys. The largest set at the lowest target FPR, 1e-9, has 2.2
// billion keys: an eighth of the target. docs/filters.md says what holds for chosen keys.
struct KeyHash {
  std::uint64_t word;

  friend auto operator<=>(const KeyHash&, const KeyHash&) = default;
};

// 128 random bits, from which the words that the hash uses are made. An attacker who knows them can choose
// keys that collide. Zero is no seed: decoders refuse it.
struct HashSeed {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  [[nodiscard]] bool is_zero() const noexcept { return (low | high) == 0; }
  friend bool operator==(const HashSeed&, const HashSeed&) = default;
};

__extension__ using Uint128 = unsigned __int128;

// Folds both halves of the product of two words: every bit of the result depends on every bit of a.
inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
  const Uint128 product = static_cast<Uint128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// What XXH3 hashes with. Word i is the XXH3-64, with seed i, of the 16 bytes of the set's seed. XXH3 itself
// makes them of a seed of 64 bits by adding it to fixed numbers or subtracting it, and then a few pairs of
// keys have the same hash for one seed in 2,000.
using HashSecret = std::array<std::uint64_t, 24>;

// xxHash itself. KeyHasher calls it for every length that it does not hash in place; tests compare the two.
// Out of line, so that only key_hash.cpp includes xxHash, and no lookup holds a copy of it.
[[gnu::noinline]] KeyHash hash_by_library(std::string_view key, const HashSecret& secret) noexcept;

// Hashes keys with one seed. Keys of 17 to 32 bytes are hashed in place, without a call.
class KeyHasher {
 public:
  // Costs about as much as hashing 24 short keys.
  explicit KeyHasher(const HashSeed& seed) noexcept;

  [[nodiscard]] const HashSeed& seed() const noexcept { return seed_; }
  [[nodiscard]] const HashSecret& secret() const noexcept { return secret_; }

  // Any bytes, any length. No allocation, no failure; the cost depends only on the length.
  [[gnu::always_inline]] KeyHash operator()(std::string_view key) const noexcept {
    return key.size() - 17 < 16 ? hash_in_place(key) : hash_by_library(key, secret_);
  }

 private:
  // Source: the specification of XXH3, "Medium inputs", for less than 33 bytes, with the same numbers.
  [[gnu::always_inline]] KeyHash hash_in_place(std::string_view key) const noexcept {
    constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87;
    const std::byte* text = as_bytes(key).data();
    const auto first = load<std::uint64_t>(text);
    const auto second = load<std::uint64_t>(text + 8);
    const auto last_but_one = load<std::uint64_t>(text + key.size() - 16);
    const auto last = load<std::uint64_t>(text + key.size() - 8);
    return {avalanche(key.size() * kPrime1 + fold(first ^ secret_[0], second ^ secret_[1]) +
                      fold(last_but_one ^ secret_[2], last ^ secret_[3]))};
  }

  static std::uint64_t avalanche(std::uint64_t word) noexcept {
    word = (word ^ word >> 37) * 0x165667919E3779F9;
    return word ^ word >> 32;
  }

  HashSeed seed_;
  HashSecret secret_;
};

// Source: Lemire, "Fast random integer generation in an interval" (2019): multiply and shift instead of
// modulo. Less than `shard_count`.
inline std::uint64_t shard_of(KeyHash hash, std::uint64_t shard_count) noexcept {
  return static_cast<std::uint64_t>((static_cast<Uint128>(hash.word) * shard_count) >> 64);
}

// The multipliers with which filters make more hashes of a key, by the names that docs/filters.md uses. G is
// 2^64 divided by the golden ratio; the others come from the secret of wyhash. All are odd.
inline constexpr std::uint64_t kG = 0x9E3779B97F4A7C15;
inline constexpr std::uint64_t kA = 0xE7037ED1A0B428DB;
inline constexpr std::uint64_t kC = 0x589965CC75374CC3;

// The hash of a key inside its shard: a different one for every seed. Folding spreads the bits that differ
// between the keys of a shard over all bits, so that those which chose the shard do not bias the probes. The
// second number comes from wyhash too.
inline std::uint64_t remix(KeyHash hash, std::uint8_t seed = 0) noexcept {
  return fold(hash.word ^ kG * seed, 0xA0761D6478BD642F);
}

// Maps 32 bits of hash to [0, range). Source: Lemire, "Fast random integer generation in an interval" (2019).
inline std::uint32_t reduce(std::uint64_t hash32, std::uint32_t range) noexcept {
  return static_cast<std::uint32_t>((hash32 & 0xffffffff) * range >> 32);
}

}  // namespace keysieve
