// For methods that take an array of keys: room for the answers, and the array that returns them under the
// array keys of the argument. For KeySieve\Set, KeySieve\Map and KeySieve\SeenSet.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "ext/memory_limit.hpp"

namespace keysieve {

// The answers to all elements of an array: on the stack for as many keys as pages ask for. False if there is
// no room for them (has_room).
template <typename Answer>
class AnswersOf {
 public:
  [[gnu::always_inline]] explicit AnswersOf(HashTable* keys) : count_(zend_hash_num_elements(keys)) {
    answers_ = count_ <= on_stack_.size()          ? on_stack_.data()
               : has_room(count_ * sizeof(Answer)) ? static_cast<Answer*>(emalloc(count_ * sizeof(Answer)))
                                                   : nullptr;
  }
  AnswersOf(const AnswersOf&) = delete;
  AnswersOf& operator=(const AnswersOf&) = delete;
  ~AnswersOf() {
    if (answers_ != on_stack_.data() && answers_ != nullptr) efree(answers_);
  }
  explicit operator bool() const noexcept { return answers_ != nullptr; }
  [[nodiscard]] std::span<Answer> get() noexcept { return {answers_, count_}; }
  [[nodiscard]] std::span<Answer> all_false() noexcept {
    std::fill_n(answers_, count_, false);
    return get();
  }

 private:
  std::array<Answer, 64> on_stack_;
  std::size_t count_;
  Answer* answers_;
};
using Answers = AnswersOf<bool>;

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
