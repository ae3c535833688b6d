// What PHP code may pass as a key: a string, an int, which counts as its decimal string, or a Key. Parsing
// and checking come first and may run user code; hashing comes later and never does.
#pragma once

#include <charconv>

#include "ext/key.hpp"

namespace keysieve {

// Prepares an argument: afterwards it is a string, a long or a constructed Key. Under coercive typing it
// follows PHP's rules for string|int: an integral float or a bool becomes an int, all else a string. False
// when it cannot be a key; an exception may be pending.
bool coerce_key_slowly(zval* argument, std::uint32_t number);

inline bool coerce_key(zval* argument, std::uint32_t number) {
  if (EXPECTED(Z_TYPE_P(argument) == IS_STRING) || Z_TYPE_P(argument) == IS_LONG) return true;
  return coerce_key_slowly(argument, number);
}

// Whether every element is a key, without any coercion; otherwise throws a TypeError that names the index.
bool check_keys(HashTable* keys, std::uint32_t argument_number);

// Of what coerce_key() or check_keys() has let pass.
inline KeyHash hash_of(const zval* key, std::uint64_t seed) noexcept {
  ZVAL_DEREF(key);
  if (EXPECTED(Z_TYPE_P(key) == IS_STRING)) return hash_key(view_of(Z_STR_P(key)), seed);
  if (Z_TYPE_P(key) == IS_OBJECT) return KeyObject::of(Z_OBJ_P(key))->hash_for(seed);
  std::array<char, MAX_LENGTH_OF_LONG> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), Z_LVAL_P(key)).ptr;
  return hash_key({digits.data(), static_cast<std::size_t>(end - digits.data())}, seed);
}

}  // namespace keysieve

// For ZEND_PARSE_PARAMETERS: string|int|Key into a zval*.
#define KEYSIEVE_PARAM_KEY(dest)                            \
  Z_PARAM_PROLOGUE(0, 0);                                   \
  dest = _arg;                                              \
  if (UNEXPECTED(!keysieve::coerce_key(_arg, _i))) {        \
    _error = const_cast<char*>("KeySieve\\Key|string|int"); \
    _error_code = ZPP_ERROR_WRONG_CLASS;                    \
    break;                                                  \
  }
