// The class KeySieve\Key: a key's bytes and, beside them, the hash it had for the last seed.
#pragma once

#include "core/hash/key_hash.hpp"
#include "ext/zend.hpp"

namespace keysieve {

struct KeyObject {
  std::uint64_t seed;
  KeyHash hash;
  bool is_hashed;
  zend_object std;  // last: PHP puts the properties behind it

  static KeyObject* of(zend_object* object) noexcept {
    return reinterpret_cast<KeyObject*>(reinterpret_cast<char*>(object) - XtOffsetOf(KeyObject, std));
  }

  // nullptr before the constructor has run, which other code can see only from within an error handler.
  [[nodiscard]] zend_string* bytes() noexcept {
    zval* property = OBJ_PROP_NUM(&std, 0);
    return Z_TYPE_P(property) == IS_STRING ? Z_STR_P(property) : nullptr;
  }

  // Only once constructed.
  [[nodiscard]] KeyHash hash_by(const KeyHasher& hasher) noexcept {
    if (!is_hashed || seed != hasher.seed()) {
      hash = hasher(view_of(bytes()));
      seed = hasher.seed();
      is_hashed = true;
    }
    return hash;
  }
};

extern zend_class_entry* key_class;

// MINIT.
void prepare_key_class(zend_class_entry* registered);

}  // namespace keysieve
