// The sets that this thread has asked of one source, by name.
#pragma once

#include "ext/attached_set.hpp"
#include "ext/settings.hpp"

namespace keysieve {

class AttachedSets {
 public:
  explicit AttachedSets(SetSource source) noexcept;
  AttachedSets(const AttachedSets&) = delete;
  AttachedSets& operator=(const AttachedSets&) = delete;
  ~AttachedSets();

  // Makes the entry when it is new; opens nothing. nullptr when that is not a set name. Entries stay where
  // they are.
  AttachedSet* find(zend_string* name) noexcept;

  // `function` must not run PHP code, which could ask new sets.
  template <typename Function>
  void for_each(Function function) {
    zend_string* name = nullptr;
    void* set = nullptr;
    ZEND_HASH_FOREACH_STR_KEY_PTR(&sets_, name, set) {
      function(name, *static_cast<AttachedSet*>(set));
    }
    ZEND_HASH_FOREACH_END();
  }

 private:
  [[gnu::noinline, gnu::cold]] AttachedSet* add(zend_string* name) noexcept;

  HashTable sets_;  // to AttachedSet*; PHP's own table, because its strings know their hash
  SetSource source_;
};

}  // namespace keysieve
