// All sets that this thread has asked: for each source one table by name of published sets, one of seen sets.
// One php-fpm worker may serve several sites, each with its own keysieve.directory and keysieve.owner.
#pragma once

#include <sys/types.h>

#include <map>
#include <utility>

#include "ext/attached_seen.hpp"
#include "ext/attached_set.hpp"
#include "ext/settings.hpp"

namespace keysieve {

// One type of sets of one source: AttachedSet or AttachedSeen.
template <typename Attached>
class AttachedTable {
 public:
  explicit AttachedTable(SetSource& source) noexcept : source_(source) {
    zend_hash_init(&sets_, 8, nullptr, destroy, /*persistent=*/true);
  }
  AttachedTable(const AttachedTable&) = delete;
  AttachedTable& operator=(const AttachedTable&) = delete;
  ~AttachedTable() { zend_hash_destroy(&sets_); }

  // Creates the entry if it is new, but opens nothing. Returns nullptr for an invalid set name. Entries never
  // move. Where malloc fails, the process ends.
  // NOLINTNEXTLINE(bugprone-exception-escape): that is what noexcept does
  Attached* find(zend_string* name) noexcept {
    auto* set = static_cast<Attached*>(zend_hash_find_ptr(&sets_, name));
    return EXPECTED(set != nullptr) ? set : add(name);
  }

  // In the order of their first calls. `function` must not run PHP code, which could ask new sets.
  template <typename Function>
  void for_each(Function function) {
    void* set = nullptr;
    ZEND_HASH_MAP_FOREACH_PTR(&sets_, set) {
      function(*static_cast<Attached*>(set));
    }
    ZEND_HASH_FOREACH_END();
  }

 private:
  // NOLINTNEXTLINE(bugprone-exception-escape): as find()
  [[gnu::noinline, gnu::cold]] Attached* add(zend_string* name) noexcept;
  static void destroy(zval* set) { delete static_cast<Attached*>(Z_PTR_P(set)); }

  HashTable sets_;
  SetSource& source_;
};

// All sets of one source.
class AttachedSets {
 public:
  explicit AttachedSets(SetSource source) : source_(std::move(source)) {}

  AttachedTable<AttachedSet>& sets() noexcept { return sets_; }
  AttachedTable<AttachedSeen>& seen_sets() noexcept { return seen_sets_; }

  // The first call of the next request already notices an expiry, the end of a bypass or a removed control
  // file, and what the last one has replaced is unmapped while nobody waits for an answer.
  void between_requests() noexcept {
    sets_.for_each([](AttachedSet& set) { set.reader().check_soon(); });
    seen_sets_.for_each([](AttachedSeen& set) { set.reader().check_soon(); });
  }

 private:
  SetSource source_;
  AttachedTable<AttachedSet> sets_{source_};
  AttachedTable<AttachedSeen> seen_sets_{source_};
};

// Part of the module's globals.
class SetsBySource {
 public:
  // The tables for the current settings; called at the beginning of a request, when no Set or SeenSet object
  // exists yet. Tables never move until this process forks.
  AttachedSets& of_current_settings() noexcept;

 private:
  pid_t process_ = 0;  // the process that asked these sets
  std::map<SetSource, AttachedSets> tables_;
};

}  // namespace keysieve
