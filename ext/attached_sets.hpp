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
template <typename Set>
class AttachedTable {
 public:
  explicit AttachedTable(SetSource& source) noexcept : source_(source) {
    zend_hash_init(&sets_, 8, nullptr, destroy, /*persistent=*/true);
  }
  AttachedTable(const AttachedTable&) = delete;
  AttachedTable& operator=(const AttachedTable&) = delete;
  ~AttachedTable() { zend_hash_destroy(&sets_); }

  // Creates the entry if it is new, but opens nothing. Returns nullptr for an invalid set name. The entry is
  // there until make_room() is called, or as long as the caller holds it. Where malloc fails, the process
  // ends.
  // NOLINTNEXTLINE(bugprone-exception-escape): that is what noexcept does
  Set* find(zend_string* name) noexcept {
    auto* set = static_cast<Set*>(zend_hash_find_ptr(&sets_, name));
    return EXPECTED(set != nullptr) ? set : add(name);
  }

  // Names may come from input. Each call that asks sets begins with this: the sets that were not ready
  // longest ago are forgotten, so that the table has at most kMostSets, and those that the call adds; twice
  // as many as are ready, if those are more, which somebody has published.
  void make_room() noexcept {
    if (UNEXPECTED(zend_hash_num_elements(&sets_) >= most_sets_)) forget_some();
  }

  // In the order of their first calls. `function` must not run PHP code, which could ask new sets.
  template <typename Function>
  void for_each(Function function) {
    void* set = nullptr;
    ZEND_HASH_MAP_FOREACH_PTR(&sets_, set) {
      function(*static_cast<Set*>(set));
    }
    ZEND_HASH_FOREACH_END();
  }

 private:
  static constexpr std::uint32_t kMostSets = 1'024;  // about 1 MB

  // NOLINTNEXTLINE(bugprone-exception-escape): as find()
  [[gnu::noinline, gnu::cold]] Set* add(zend_string* name) noexcept;
  // NOLINTNEXTLINE(bugprone-exception-escape): as find()
  [[gnu::cold]] void forget_some() noexcept;
  static void destroy(zval* value) {
    if (auto* set = static_cast<Set*>(Z_PTR_P(value)); set->let_go()) delete set;
  }

  HashTable sets_;
  SetSource& source_;
  std::uint32_t most_sets_ = kMostSets;
};

// All sets of one source.
class AttachedSets {
 public:
  explicit AttachedSets(SetSource source) : source_(std::move(source)) {}

  AttachedTable<AttachedSet>& sets() noexcept { return sets_; }
  AttachedTable<AttachedSeen>& seen_sets() noexcept { return seen_sets_; }

  // Whether a call has mapped another publication than before.
  void note_replaced(bool has_replaced) noexcept { has_replaced_ |= has_replaced; }
  // What the request has replaced is unmapped when its script has ended.
  void end_request() noexcept {
    if (std::exchange(has_replaced_, false)) sets_.for_each([](AttachedSet& set) { set.check_soon(); });
  }

 private:
  SetSource source_;
  AttachedTable<AttachedSet> sets_{source_};
  AttachedTable<AttachedSeen> seen_sets_{source_};
  bool has_replaced_ = false;
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
