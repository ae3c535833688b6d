// The one hash of a key: computed once per key and seed, and shared by every set, layer and kind that looks
// at the key. Source: XXH3 128-bit of xxHash 0.8, whose output is fixed across versions and machines.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/bytes.hpp"

namespace keysieve {

struct KeyHash {
  std::uint64_t low;   // used by the filter inside the shard
  std::uint64_t high;  // chooses the shard

  friend bool operator==(const KeyHash&, const KeyHash&) = default;
};

// Orders by shard first: for any shard count, shard_of() never falls as `high` rises.
inline bool in_shard_order(const KeyHash& a, const KeyHash& b) noexcept {
  return a.high != b.high ? a.high < b.high : a.low < b.low;
}

__extension__ using Uint128 = unsigned __int128;

// Folds both halves of the product of two words: every bit of the result depends on every bit of a.
inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) noexcept {
  const Uint128 product = static_cast<Uint128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// xxHash itself. KeyHasher calls it for every length that it does not hash in place; tests compare the two.
// Out of line, so that only key_hash.cpp includes xxHash, and no lookup holds a copy of it.
[[gnu::noinline]] KeyHash hash_by_library(std::string_view key, std::uint64_t seed) noexcept;

// Hashes keys with one seed. Keys of 17 to 32 bytes are hashed in place, in 3.1 ns for 20 bytes. The library
// as gcc 12 compiles it takes 3.8 to 6.7 ns, with halves of products on the stack (Zen 5, -O2, in a loop).
class KeyHasher {
 public:
  // The numbers are the first ones of XXH3's secret.
  explicit KeyHasher(std::uint64_t seed) noexcept
      : seed_(seed),
        secret_{0xbe4ba423396cfeb8 + seed, 0x1cad21f72c81017c - seed, 0xdb979083e96dd4deU + seed,
                0x1f67b3b7a4a44072 - seed} {}

  [[nodiscard]] std::uint64_t seed() const noexcept { return seed_; }

  // Any bytes, any length. No allocation, no failure; the cost depends only on the length.
  [[gnu::always_inline]] KeyHash operator()(std::string_view key) const noexcept {
    return key.size() - 17 < 16 ? hash_in_place(key) : hash_by_library(key, seed_);
  }

 private:
  // Source: the specification of XXH3, "Medium inputs", for less than 33 bytes, with the same numbers.
  [[gnu::always_inline]] KeyHash hash_in_place(std::string_view key) const noexcept {
    constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87;
    constexpr std::uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
    constexpr std::uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
    const std::byte* text = as_bytes(key).data();
    const auto first = load<std::uint64_t>(text);
    const auto second = load<std::uint64_t>(text + 8);
    std::uint64_t low = key.size() * kPrime1 + fold(first ^ secret_[0], second ^ secret_[1]);
    const auto last_but_one = load<std::uint64_t>(text + key.size() - 16);
    const auto last = load<std::uint64_t>(text + key.size() - 8);
    low ^= last_but_one + last;
    const std::uint64_t high = (first + second) ^ fold(last_but_one ^ secret_[2], last ^ secret_[3]);
    return {avalanche(low + high),
            0 - avalanche(low * kPrime1 + high * kPrime4 + (key.size() - seed_) * kPrime2)};
  }

  static std::uint64_t avalanche(std::uint64_t word) noexcept {
    word = (word ^ word >> 37) * 0x165667919E3779F9;
    return word ^ word >> 32;
  }

  std::uint64_t seed_;
  std::array<std::uint64_t, 4> secret_;
};

// Hashes one key; same result as KeyHasher.
inline KeyHash hash_key(std::string_view key, std::uint64_t seed) noexcept {
  return KeyHasher(seed)(key);
}

// Source: Lemire, "Fast random integer generation in an interval" (2019): multiply and shift instead of
// modulo. Less than `shard_count`.
inline std::uint64_t shard_of(const KeyHash& hash, std::uint64_t shard_count) noexcept {
  return static_cast<std::uint64_t>((static_cast<Uint128>(hash.high) * shard_count) >> 64);
}

// More hashes of a key, made from the half of its KeyHash that a filter may use: for kinds that need more
// than 64 bits, or that retry a build with another seed. These are the multipliers, by the names that
// docs/filters.md uses. G is 2^64 divided by the golden ratio; the others come from the secret of wyhash. All
// are odd.
inline constexpr std::uint64_t kG = 0x9E3779B97F4A7C15;
inline constexpr std::uint64_t kA = 0xE7037ED1A0B428DB;
inline constexpr std::uint64_t kC = 0x589965CC75374CC3;
inline constexpr std::uint64_t kD = 0x1D8E4E27C47D124F;

// Gives a different hash of the same key for every seed; the second number comes from that secret too.
inline std::uint64_t remix(std::uint64_t low, std::uint8_t seed) noexcept {
  return fold(low ^ kG * seed, 0xA0761D6478BD642F);
}

// Maps 32 bits of hash to [0, range). Source: Lemire, "Fast random integer generation in an interval" (2019).
inline std::uint32_t reduce(std::uint64_t hash32, std::uint32_t range) noexcept {
  return static_cast<std::uint32_t>((hash32 & 0xffffffff) * range >> 32);
}

}  // namespace keysieve
