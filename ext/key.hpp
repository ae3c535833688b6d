// PHP code may pass a string as a key, or an int, which counts as its decimal string. Parsing comes
// first and may run user code; hashing comes later and never does.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "core/worker/hash/key_hash.hpp"
#include "ext/zend.hpp"

namespace keysieve {

// For messages: as get_debug_type().
const char* type_name(const zval* value) noexcept;

// Prepares an argument: afterwards it is a string or a long. Under coercive typing it follows PHP's rules for
// string|int: an integral float or a bool becomes an int, all else a string. False when it cannot be a key;
// an exception may be pending.
[[gnu::cold]] bool coerce_key_slowly(zval* argument, std::uint32_t number);

inline bool coerce_key(zval* argument, std::uint32_t number) {
  if (EXPECTED(Z_TYPE_P(argument) == IS_STRING)) return true;
  return coerce_key_slowly(argument, number);
}

// A new table of what a Traversable gives, under its array keys. Runs user code. nullptr, without room, or
// with an exception pending: the iterator has thrown, or given a key that no array can have or has already.
// That one must not take the place of the other: its element would never be asked.
[[gnu::cold]] HashTable* collect_keys(zval* traversable, std::uint32_t argument_number);

// Whether each element is a string or a long, or a reference to one. False with a TypeError pending that
// names the first which is none: PHP converts no elements, so neither is one converted here.
bool check_keys(HashTable* keys, std::uint32_t argument_number);

// Hashes an int as its decimal string.
KeyHash hash_of_int(zend_long key, const KeyHasher& hasher) noexcept;

// Hashes a key that coerce_key() has accepted.
[[gnu::always_inline]] inline KeyHash hash_of(const zval* key, const KeyHasher& hasher) noexcept {
  if (EXPECTED(Z_TYPE_P(key) == IS_STRING)) return hasher(view_of(Z_STR_P(key)));
  return hash_of_int(Z_LVAL_P(key), hasher);
}

// Hashes of that many keys are kept on the stack at a time; pages ask for about 20.
inline constexpr std::size_t kKeysAtATime = 64;

// Hashes so many elements of an array, `step` bytes apart, and skips holes. Where the hashes end; nullptr
// when an element is no key.
KeyHash* hash_all(const zval* value, std::size_t step, std::size_t places, const KeyHasher& hasher,
                  KeyHash* hashes) noexcept;

// Gives the hashes of an array to `take` in order, at most kKeysAtATime at once, until it returns false.
// Returns false if an element is no key; then `take` may have got those before.
template <typename Take>
[[gnu::always_inline]] inline bool hash_by_parts(HashTable* keys, const KeyHasher& hasher,
                                                 Take take) noexcept {
  const std::size_t step = ZEND_HASH_ELEMENT_SIZE(keys);
  std::array<KeyHash, kKeysAtATime> hashes;
  std::size_t places = 0;
  for (std::size_t done = 0; done < keys->nNumUsed; done += places) {
    places = std::min(keys->nNumUsed - done, kKeysAtATime);
    const KeyHash* end =
        hash_all(ZEND_HASH_ELEMENT_EX(keys, done, step), step, places, hasher, hashes.data());
    if (UNEXPECTED(end == nullptr)) return false;
    if (!take(std::span<const KeyHash>(hashes.data(), end))) break;
  }
  return true;
}

}  // namespace keysieve

// For ZEND_PARSE_PARAMETERS: string|int into a zval*. Z_PARAM_STR_OR_LONG would make 1.5 the int 1.
#define KEYSIEVE_PARAM_KEY(dest)                     \
  Z_PARAM_PROLOGUE(0, 0);                            \
  (dest) = _arg;                                     \
  if (UNEXPECTED(!keysieve::coerce_key(_arg, _i))) { \
    _expected_type = Z_EXPECTED_STRING_OR_LONG;      \
    _error_code = ZPP_ERROR_WRONG_ARG;               \
    break;                                           \
  }
