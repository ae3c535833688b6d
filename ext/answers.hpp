// For methods that take many keys: the keys, room for the answers, and the array that returns them under the
// array keys of the argument. For KeySieve\Set, KeySieve\Map and KeySieve\SeenSet.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "ext/key.hpp"
#include "ext/memory_limit.hpp"

namespace keysieve {

// Calls `use` with the keys of an argument of type iterable, an array itself or what a Traversable gives, and
// with room for the answers to all of them. That is on the stack for as many keys as pages ask for. Does not
// call it if there are no keys, because an exception is pending, or no room (has_room).
template <typename Answer, typename Use>
[[gnu::always_inline]] inline void with_answers(zval* iterable, Use use) {
  const bool is_array = EXPECTED(Z_TYPE_P(iterable) == IS_ARRAY);
  HashTable* keys = is_array ? Z_ARRVAL_P(iterable) : collect_keys(iterable, 1);
  if (UNEXPECTED(keys == nullptr)) return;
  std::array<Answer, 64> on_stack;
  const std::size_t count = zend_hash_num_elements(keys);
  Answer* answers = on_stack.data();
  if (UNEXPECTED(count > on_stack.size())) {
    const std::size_t bytes = count * sizeof(Answer);
    answers = has_room(bytes) ? static_cast<Answer*>(emalloc(bytes)) : nullptr;
  }
  if (EXPECTED(answers != nullptr)) use(keys, std::span(answers, count));
  if (UNEXPECTED(answers != on_stack.data() && answers != nullptr)) efree(answers);
  if (UNEXPECTED(!is_array)) zend_array_destroy(keys);
}

inline bool is_list(HashTable* keys) noexcept {
  return HT_IS_PACKED(keys) && HT_IS_WITHOUT_HOLES(keys);
}

// Under the array key it had. The table knows no such key yet.
inline void append(HashTable* to, zend_string* name, zend_ulong index, zval* value) {
  if (name != nullptr) {
    zend_hash_add_new(to, name, value);
  } else {
    zend_hash_index_add_new(to, index, value);
  }
}

inline void append_bools(HashTable* result, HashTable* keys, std::span<const bool> answers) {
  zend_ulong index = 0;
  zend_string* name = nullptr;
  auto answer = answers.begin();
  ZEND_HASH_FOREACH_KEY(keys, index, name) {
    zval value;
    ZVAL_BOOL(&value, *answer++);
    append(result, name, index, &value);
  }
  ZEND_HASH_FOREACH_END();
}

inline void fill_list(HashTable* result, std::span<const bool> answers) {
  zend_hash_real_init_packed(result);
  ZEND_HASH_FILL_PACKED(result) {
#pragma GCC unroll 4  // else half of the instructions are the loop's own
    for (const bool answer : answers) {
      ZVAL_BOOL(__fill_val, answer);  // NOLINT(bugprone-branch-clone): its two branches are numbers
      ZEND_HASH_FILL_NEXT();
    }
  }
  ZEND_HASH_FILL_END();
}

// False, and null, if there is no room.
inline bool return_bools(zval* return_value, HashTable* keys, std::span<const bool> answers) {
  if (UNEXPECTED(!make_array(return_value, answers.size(), is_list(keys)))) return false;
  if (is_list(keys)) {
    fill_list(Z_ARRVAL_P(return_value), answers);
  } else {
    append_bools(Z_ARRVAL_P(return_value), keys, answers);
  }
  return true;
}

// Puts other answers in place of those that return_bools() gave. Allocates nothing and runs no PHP code.
inline void replace_bools(zval* return_value, std::span<const bool> answers) noexcept {
  zval* value = nullptr;
  auto answer = answers.begin();
  ZEND_HASH_FOREACH_VAL(Z_ARRVAL_P(return_value), value) {
    ZVAL_BOOL(value, *answer++);
  }
  ZEND_HASH_FOREACH_END();
}

}  // namespace keysieve
