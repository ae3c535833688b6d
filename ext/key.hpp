// What PHP code may pass as a key: a string, an int, which counts as its decimal string, or an object of the
// class KeySieve\Key. Parsing comes first and may run user code; hashing comes later and never does.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "core/worker/hash/key_hash.hpp"
#include "ext/zend.hpp"

namespace keysieve {

// A Key: its bytes and, next to them, the hash it had for the last seed; zero, which no set has: for none
// yet.
struct KeyObject {
  HashSeed seed;
  KeyHash hash;
  zend_object std;  // last: PHP puts the properties behind it

  static KeyObject* of(zend_object* object) noexcept {
    return reinterpret_cast<KeyObject*>(reinterpret_cast<char*>(object) - offsetof(KeyObject, std));
  }

  // nullptr before the constructor has run, which other code can see only from within an error handler.
  [[nodiscard]] zend_string* bytes() noexcept {
    zval* property = OBJ_PROP_NUM(&std, 0);
    return Z_TYPE_P(property) == IS_STRING ? Z_STR_P(property) : nullptr;
  }

  // Only once constructed.
  [[nodiscard]] KeyHash hash_by(const KeyHasher& hasher) noexcept {
    if (seed != hasher.seed()) {
      hash = hasher(view_of(bytes()));
      seed = hasher.seed();
    }
    return hash;
  }
};

extern zend_class_entry* key_class;

// Called from MINIT.
void prepare_key_class(zend_class_entry* registered);

// For messages: as get_debug_type().
const char* type_name(const zval* value) noexcept;

// Prepares an argument: afterwards it is a string, a long or a constructed Key. Under coercive typing it
// follows PHP's rules for string|int: an integral float or a bool becomes an int, all else a string. False
// when it cannot be a key; an exception may be pending.
[[gnu::cold]] bool coerce_key_slowly(zval* argument, std::uint32_t number);

inline bool coerce_key(zval* argument, std::uint32_t number) {
  if (EXPECTED(Z_TYPE_P(argument) == IS_STRING)) return true;
  return coerce_key_slowly(argument, number);
}

// Returns a copy of an argument with every element coerced, which may run user code; the caller destroys the
// copy. Returns nullptr if an element cannot be a key or user code threw, with an exception pending, or if
// there is no room (memory_limit.hpp). Called only if hashing met an element that is not a key yet.
[[gnu::cold]] HashTable* coerce_keys(HashTable* keys, std::uint32_t argument_number);

// The keys of an argument of type iterable: an array itself, or a table of what a Traversable gives, under
// its array keys.
class GivenKeys {
 public:
  [[gnu::always_inline]] GivenKeys(zval* iterable, std::uint32_t argument_number)
      : table_(EXPECTED(Z_TYPE_P(iterable) == IS_ARRAY) ? Z_ARRVAL_P(iterable)
                                                        : collect(iterable, argument_number)),
        is_own_(Z_TYPE_P(iterable) != IS_ARRAY) {}
  GivenKeys(const GivenKeys&) = delete;
  GivenKeys& operator=(const GivenKeys&) = delete;
  ~GivenKeys() {
    if (UNEXPECTED(is_own_ && table_ != nullptr)) zend_array_destroy(table_);
  }
  // nullptr, without room, or with an exception pending: the iterator has thrown, or given a key that no
  // array can have or has already. That one must not take the place of the other: its element would never be
  // asked.
  [[nodiscard]] HashTable* get() const noexcept { return table_; }

 private:
  // Runs user code.
  [[gnu::cold]] static HashTable* collect(zval* traversable, std::uint32_t argument_number);

  HashTable* table_;
  bool is_own_;
};

// Whether each element is what hash_slowly() takes.
bool are_keys(HashTable* keys) noexcept;

// The keys of an argument, each of which is a key: the argument itself, or what coerce_keys() makes of it.
class CoercedKeys {
 public:
  CoercedKeys(HashTable* keys, std::uint32_t argument_number)
      : is_own_(UNEXPECTED(!are_keys(keys))), table_(is_own_ ? coerce_keys(keys, argument_number) : keys) {}
  CoercedKeys(const CoercedKeys&) = delete;
  CoercedKeys& operator=(const CoercedKeys&) = delete;
  ~CoercedKeys() {
    if (UNEXPECTED(is_own_ && table_ != nullptr)) zend_array_destroy(table_);
  }
  // nullptr, as from coerce_keys().
  [[nodiscard]] HashTable* get() const noexcept { return table_; }

 private:
  bool is_own_;
  HashTable* table_;
};

// Hashes what a key is: a string, a long, a constructed Key, or a reference to one. Returns false if it is
// none.
bool hash_slowly(const zval* value, const KeyHasher& hasher, KeyHash& hash) noexcept;

// Hashes a key that coerce_key() has accepted.
[[gnu::always_inline]] inline KeyHash hash_of(const zval* key, const KeyHasher& hasher) noexcept {
  if (EXPECTED(Z_TYPE_P(key) == IS_STRING)) return hasher(view_of(Z_STR_P(key)));
  KeyHash hash;
  hash_slowly(key, hasher, hash);
  return hash;
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

// For ZEND_PARSE_PARAMETERS: string|int|Key into a zval*.
#define KEYSIEVE_PARAM_KEY(dest)                            \
  Z_PARAM_PROLOGUE(0, 0);                                   \
  (dest) = _arg;                                            \
  if (UNEXPECTED(!keysieve::coerce_key(_arg, _i))) {        \
    _error = const_cast<char*>("KeySieve\\Key|string|int"); \
    _error_code = ZPP_ERROR_WRONG_CLASS;                    \
    break;                                                  \
  }
