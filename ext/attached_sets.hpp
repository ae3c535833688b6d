// All sets that this thread has asked: one table by name for each source. One php-fpm worker may serve
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

  // Creates the entry if it is new, but opens nothing. Returns nullptr for an invalid set name. Entries never
  // move.
  AttachedSet* find(zend_string* name) noexcept;

  // The first call of a request already notices an expiry, the end of a bypass or a removed control file.
  void begin_request() noexcept {
    for_each([](zend_string*, AttachedSet& set) { set.reader().check_soon(); });
  }

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

  HashTable sets_;  // of AttachedSet*; PHP's own table, because PHP strings carry their hash
  SetSource source_;
};

// Part of the module's globals.
class SetsBySource {
 public:
  // The table for the current settings; called at the beginning of a request, when no Set object exists yet.
  // Tables never move until this process forks.
  AttachedSets& of_current_settings() noexcept;

 private:
  pid_t process_ = 0;  // the process that asked these sets
  std::map<SetSource, AttachedSets> tables_;
};

}  // namespace keysieve
