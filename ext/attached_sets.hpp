// All sets that this thread has asked: one table by name for each source. One worker of php-fpm may serve
// several sites, each with its own keysieve.directory and keysieve.owner.
#pragma once

#include <sys/types.h>

#include <map>

#include "ext/attached_set.hpp"
#include "ext/settings.hpp"

namespace keysieve {

// The sets of one source.
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

// Part of the module's globals.
class SetsBySource {
 public:
  // The table of the settings as they are now, for the beginning of a request: no Set object exists then.
  // Tables stay where they are until this process forks.
  AttachedSets& of_current_settings() noexcept;

 private:
  pid_t process_ = 0;  // that asked these sets
  std::map<SetSource, AttachedSets> tables_;
};

}  // namespace keysieve
