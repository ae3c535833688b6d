#include "ext/key.hpp"

#include <charconv>

#include "ext/memory_limit.hpp"

namespace keysieve {
namespace {

void throw_not_a_key(const zval* value, zend_ulong index, const zend_string* name,
                     std::uint32_t argument_number) {
  const char* type = type_name(value);
  constexpr const char* kExpected = "must be an array of string|int";
  if (name != nullptr) {
    zend_argument_type_error(argument_number, "%s, %s given at index \"%s\"", kExpected, type,
                             ZSTR_VAL(name));
  } else {
    zend_argument_type_error(argument_number, "%s, %s given at index " ZEND_LONG_FMT, kExpected, type,
                             static_cast<zend_long>(index));
  }
}

struct Collected {
  HashTable* keys;
  std::uint32_t argument_number;
};

// Adds what an iterator gives, under its array key. An exception may be pending afterwards.
void add_element(const Collected& collected, zval* value, const zval* key) {
  ZVAL_DEREF(value);
  if (collected.keys->nNumUsed >= collected.keys->nTableSize &&
      !has_room(2 * array_bytes(collected.keys->nTableSize, /*is_packed=*/false))) {
    return;
  }
  zend_ulong index = 0;
  const bool is_number =
      Z_TYPE_P(key) == IS_LONG || (Z_TYPE_P(key) == IS_STRING && ZEND_HANDLE_NUMERIC(Z_STR_P(key), index));
  if (Z_TYPE_P(key) == IS_LONG) index = static_cast<zend_ulong>(Z_LVAL_P(key));
  if (!is_number && Z_TYPE_P(key) != IS_STRING) {
    zend_argument_type_error(collected.argument_number, "must have array keys of type string|int, %s given",
                             type_name(key));
    return;
  }
  const zval* added = is_number ? zend_hash_index_add(collected.keys, index, value)
                                : zend_hash_add(collected.keys, Z_STR_P(key), value);
  if (added != nullptr) {
    Z_TRY_ADDREF_P(value);
  } else if (is_number) {
    zend_argument_value_error(collected.argument_number,
                              "must not give the array key " ZEND_LONG_FMT " twice",
                              static_cast<zend_long>(index));
  } else {
    zend_argument_value_error(collected.argument_number, "must not give the array key \"%s\" twice",
                              Z_STRVAL_P(key));
  }
}

int collect_one(zend_object_iterator* iterator, void* collected) {
  zval* value = iterator->funcs->get_current_data(iterator);
  if (EG(exception) != nullptr || value == nullptr) return ZEND_HASH_APPLY_STOP;
  zval key;
  if (iterator->funcs->get_current_key != nullptr) {
    iterator->funcs->get_current_key(iterator, &key);
  } else {
    ZVAL_LONG(&key, static_cast<zend_long>(iterator->index));
  }
  if (EG(exception) == nullptr) add_element(*static_cast<Collected*>(collected), value, &key);
  zval_ptr_dtor(&key);
  return EG(exception) == nullptr && !is_out_of_memory() ? ZEND_HASH_APPLY_KEEP : ZEND_HASH_APPLY_STOP;
}

}  // namespace

bool coerce_key_slowly(zval* argument, std::uint32_t number) {
  if (Z_TYPE_P(argument) == IS_LONG) return true;
  if (ZEND_ARG_USES_STRICT_TYPES()) return false;
  if (Z_TYPE_P(argument) == IS_FALSE || Z_TYPE_P(argument) == IS_TRUE) {
    ZVAL_LONG(argument, Z_TYPE_P(argument) == IS_TRUE ? 1 : 0);
    return true;
  }
  // Infinities and NAN are asked about first, because PHP 8.5 warns when they are converted.
  if (Z_TYPE_P(argument) == IS_DOUBLE && zend_finite(Z_DVAL_P(argument)) &&
      ZEND_DOUBLE_FITS_LONG(Z_DVAL_P(argument))) {
    const zend_long integer = zend_dval_to_lval(Z_DVAL_P(argument));
    if (zend_is_long_compatible(Z_DVAL_P(argument), integer)) {
      ZVAL_LONG(argument, integer);
      return true;
    }
  }
  zend_string* text = nullptr;
  if (!zend_parse_arg_str(argument, &text, /*check_null=*/false, number)) return false;
  if (Z_TYPE_P(argument) != IS_STRING) ZVAL_STR(argument, text);  // null stays null in the argument
  return true;
}

const char* type_name(const zval* value) noexcept {
  return Z_TYPE_P(value) == IS_OBJECT ? ZSTR_VAL(Z_OBJCE_P(value)->name) : zend_zval_type_name(value);
}

bool check_keys(HashTable* keys, std::uint32_t argument_number) {
  zend_ulong index = 0;
  zend_string* name = nullptr;
  zval* value = nullptr;
  ZEND_HASH_FOREACH_KEY_VAL(keys, index, name, value) {
    ZVAL_DEREF(value);
    if (EXPECTED(Z_TYPE_P(value) == IS_STRING || Z_TYPE_P(value) == IS_LONG)) continue;
    throw_not_a_key(value, index, name, argument_number);
    return false;
  }
  ZEND_HASH_FOREACH_END();
  return true;
}

KeyHash hash_of_int(zend_long key, const KeyHasher& hasher) noexcept {
  std::array<char, MAX_LENGTH_OF_LONG> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), key).ptr;
  return hasher({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

// Without PHP's macro, which looks for holes before strings, and out of line: what its caller does with the
// hashes would take registers from the loop.
[[gnu::noinline]] KeyHash* hash_all(const zval* value, std::size_t step, std::size_t places,
                                    const KeyHasher& hasher, KeyHash* hashes) noexcept {
  for (; places != 0; --places, value = ZEND_HASH_NEXT_ELEMENT(value, step)) {
    if (EXPECTED(Z_TYPE_P(value) == IS_STRING)) {
      *hashes++ = hasher(view_of(Z_STR_P(value)));
    } else if (Z_TYPE_P(value) != IS_UNDEF) {
      const zval* key = Z_ISREF_P(value) ? Z_REFVAL_P(value) : value;
      if (Z_TYPE_P(key) != IS_STRING && Z_TYPE_P(key) != IS_LONG) return nullptr;
      *hashes++ = hash_of(key, hasher);
    }
  }
  return hashes;
}

HashTable* collect_keys(zval* traversable, std::uint32_t argument_number) {
  Collected collected{zend_new_array(0), argument_number};
  spl_iterator_apply(traversable, collect_one, &collected);
  if (EG(exception) == nullptr && !is_out_of_memory()) return collected.keys;
  zend_array_destroy(collected.keys);
  return nullptr;
}

}  // namespace keysieve
