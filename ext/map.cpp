#include "ext/answers.hpp"
#include "ext/published_set.hpp"
#include "ext/set_object.hpp"

// For ZEND_PARSE_PARAMETERS: callable into a zval*. A closure is seen at once; Z_PARAM_FUNC would prepare a
// call that a known key does not need.
#define KEYSIEVE_PARAM_CALLABLE(dest)                                                 \
  Z_PARAM_PROLOGUE(0, 0);                                                             \
  (dest) = _arg;                                                                      \
  if (UNEXPECTED(!keysieve::check_callable(_arg, &_error))) {                         \
    _expected_type = Z_EXPECTED_FUNC;                                                 \
    _error_code = _error == nullptr ? ZPP_ERROR_WRONG_ARG : ZPP_ERROR_WRONG_CALLBACK; \
    break;                                                                            \
  }

namespace keysieve {
namespace {

bool is_closure(const zval* value) noexcept {
  return Z_TYPE_P(value) == IS_OBJECT && Z_OBJCE_P(value) == zend_ce_closure;
}

// On failure, `error` may be a text of PHP's memory that says why.
[[gnu::cold]] bool check_callable_slowly(zval* value, char** error) {
  return zend_is_callable_ex(value, nullptr, IS_CALLABLE_SUPPRESS_DEPRECATIONS, nullptr, nullptr, error);
}

bool check_callable(zval* value, char** error) {
  return EXPECTED(is_closure(value)) || check_callable_slowly(value, error);
}

// Calls $ifUnknown. False if it has thrown; else the caller destroys the result, which is no reference.
[[gnu::cold]] bool call_if_unknown(zval* if_unknown, zval* argument, zval* result) {
  ZVAL_UNDEF(result);
  call_user_function(nullptr, nullptr, if_unknown, result, 1, argument);
  if (EG(exception) != nullptr || Z_TYPE_P(result) == IS_UNDEF) {
    zval_ptr_dtor(result);
    return false;
  }
  if (Z_ISREF_P(result)) zend_unwrap_reference(result);
  return true;
}

bool is_value_or_null(const zval* value) noexcept {
  return Z_TYPE_P(value) == IS_LONG || Z_TYPE_P(value) == IS_NULL;
}

// Calls if_unknown with a key that coerce_key() has accepted.
[[gnu::cold]] void return_if_unknown(zval* return_value, zval* if_unknown, zval* key) {
  zval result;
  zval argument;
  ZVAL_COPY(&argument, key);  // which the callable may change
  const bool has_returned = call_if_unknown(if_unknown, &argument, &result);
  zval_ptr_dtor(&argument);
  if (!has_returned) return;
  if (is_value_or_null(&result)) {
    ZVAL_COPY_VALUE(return_value, &result);
    return;
  }
  zend_argument_type_error(2, "must return ?int, %s returned", type_name(&result));
  zval_ptr_dtor(&result);
}

// Sets the value of one key in a result of getMany(); null: it is unknown.
void put_value(HashTable* values, zval* key, MapAnswer answer) {
  ZVAL_DEREF(key);
  zval value;
  if (EXPECTED(answer <= UINT32_MAX)) {
    ZVAL_LONG(&value, static_cast<zend_long>(answer));
  } else {
    ZVAL_NULL(&value);
  }
  if (Z_TYPE_P(key) == IS_LONG) {
    zend_hash_index_update(values, static_cast<zend_ulong>(Z_LVAL_P(key)), &value);
  } else {
    zend_symtable_update(values, Z_STR_P(key), &value);
  }
}

// Lists the keys of `unknown` values, which are null. False, and null, if there is no room.
bool list_unknown(zval* list, HashTable* values, std::size_t unknown) {
  if (!make_array(list, unknown, /*is_packed=*/true)) return false;
  zend_ulong index = 0;
  zend_string* name = nullptr;
  zval* value = nullptr;
  ZEND_HASH_FOREACH_KEY_VAL(values, index, name, value) {
    if (Z_TYPE_P(value) != IS_NULL) continue;
    if (name != nullptr) {
      add_next_index_str(list, zend_string_copy(name));
    } else {
      add_next_index_long(list, static_cast<zend_long>(index));
    }
  }
  ZEND_HASH_FOREACH_END();
  return !is_out_of_memory();
}

void throw_no_value(const zval* value, zend_ulong index, const zend_string* name) {
  constexpr const char* kExpected = "must return an array of ?int";
  if (name != nullptr) {
    zend_argument_type_error(2, "%s, %s returned for key \"%s\"", kExpected, type_name(value),
                             ZSTR_VAL(name));
  } else {
    zend_argument_type_error(2, "%s, %s returned for key " ZEND_LONG_FMT, kExpected, type_name(value),
                             static_cast<zend_long>(index));
  }
}

// Makes an array of `values` in which the unknown ones are replaced by what $ifUnknown has returned. Returns
// false with a TypeError pending.
bool merge_values(HashTable* merged, HashTable* values, HashTable* returned) {
  zend_ulong index = 0;
  zend_string* name = nullptr;
  zval* value = nullptr;
  ZEND_HASH_FOREACH_KEY_VAL(values, index, name, value) {
    if (Z_TYPE_P(value) == IS_NULL) {
      value = name != nullptr ? zend_hash_find(returned, name) : zend_hash_index_find(returned, index);
      if (value == nullptr) continue;
      ZVAL_DEREF(value);
      if (UNEXPECTED(!is_value_or_null(value))) {
        throw_no_value(value, index, name);
        return false;
      }
      if (Z_TYPE_P(value) == IS_NULL) continue;
    }
    append(merged, name, index, value);
  }
  ZEND_HASH_FOREACH_END();
  return true;
}

// Completes the result of getMany(), in which `unknown` values are null. On failure it returns nothing, with
// an exception pending, or the end of the script.
[[gnu::cold]] void fill_unknown(zval* return_value, zval* if_unknown, std::size_t unknown) {
  zval values;
  ZVAL_COPY_VALUE(&values, return_value);
  ZVAL_NULL(return_value);
  zval list;
  zval returned;
  const bool has_returned =
      list_unknown(&list, Z_ARRVAL(values), unknown) && call_if_unknown(if_unknown, &list, &returned);
  zval_ptr_dtor(&list);
  if (has_returned) {
    if (Z_TYPE(returned) != IS_ARRAY) {
      zend_argument_type_error(2, "must return an array of ?int, %s returned", type_name(&returned));
    } else if (make_array(return_value, zend_hash_num_elements(Z_ARRVAL(values)), /*is_packed=*/false) &&
               !merge_values(Z_ARRVAL_P(return_value), Z_ARRVAL(values), Z_ARRVAL(returned))) {
      zval_ptr_dtor(return_value);
      ZVAL_NULL(return_value);
    }
    zval_ptr_dtor(&returned);
  }
  zval_ptr_dtor(&values);
}

// `found`: how many answers are not kAbsent.
void return_values(zval* return_value, HashTable* keys, std::span<const MapAnswer> answers, std::size_t found,
                   zval* if_unknown) {
  if (found == 0) RETURN_EMPTY_ARRAY();
  if (UNEXPECTED(!make_array(return_value, found, /*is_packed=*/false))) return;
  std::size_t unknown = 0;
  zval* key = nullptr;
  auto answer = answers.begin();
  ZEND_HASH_FOREACH_VAL(keys, key) {
    if (*answer != kAbsent) put_value(Z_ARRVAL_P(return_value), key, *answer);
    if (*answer++ == kUnknown) ++unknown;
  }
  ZEND_HASH_FOREACH_END();
  if (UNEXPECTED(unknown != 0)) fill_unknown(return_value, if_unknown, unknown);
}

}  // namespace

}  // namespace keysieve

using keysieve::PublishedSet;
using keysieve::SetObject;

ZEND_METHOD(KeySieve_Map, __construct) {
  zend_string* name = nullptr;
  zend_string* key_profile = nullptr;
  ZEND_PARSE_PARAMETERS_START(1, 2)
    Z_PARAM_STR(name)
    Z_PARAM_OPTIONAL
    Z_PARAM_STR_OR_NULL(key_profile)
  ZEND_PARSE_PARAMETERS_END();

  auto* asked = SetObject<PublishedSet>::construct(ZEND_THIS, name);
  if (asked == nullptr) RETURN_THROWS();
  asked->require_profile(key_profile);
  asked->terms.on_unavailable = PublishedSet::Terms::OnUnavailable::Maybe;
  asked->terms.needs_values = true;
}

ZEND_METHOD(KeySieve_Map, get) {
  zval* key = nullptr;
  zval* if_unknown = nullptr;
  ZEND_PARSE_PARAMETERS_START(2, 2)
    KEYSIEVE_PARAM_KEY(key)
    KEYSIEVE_PARAM_CALLABLE(if_unknown)
  ZEND_PARSE_PARAMETERS_END();

  auto* asked = SetObject<PublishedSet>::constructed(ZEND_THIS);
  if (UNEXPECTED(asked == nullptr)) RETURN_THROWS();
  const keysieve::MapAnswer answer = asked->set->find(key, asked->terms);
  if (answer <= UINT32_MAX) RETURN_LONG(static_cast<zend_long>(answer));
  if (EXPECTED(answer == keysieve::kAbsent)) RETURN_NULL();
  keysieve::return_if_unknown(return_value, if_unknown, key);
}

ZEND_METHOD(KeySieve_Map, getMany) {
  zval* iterable = nullptr;
  zval* if_unknown = nullptr;
  ZEND_PARSE_PARAMETERS_START(2, 2)
    Z_PARAM_ITERABLE(iterable)
    KEYSIEVE_PARAM_CALLABLE(if_unknown)
  ZEND_PARSE_PARAMETERS_END();

  auto* asked = SetObject<PublishedSet>::constructed(ZEND_THIS);
  if (UNEXPECTED(asked == nullptr)) RETURN_THROWS();
  using keysieve::MapAnswer;
  keysieve::with_answers<MapAnswer>(iterable, [&](HashTable* keys, std::span<MapAnswer> answers) {
    const std::optional<std::size_t> found = asked->set->find_many(keys, asked->terms, answers);
    if (EXPECTED(found)) keysieve::return_values(return_value, keys, answers, *found, if_unknown);
  });
}
