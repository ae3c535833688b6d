// All sets that this thread has asked: for each source one table by name of published sets, one of seen sets.
// One php-fpm worker may serve several sites, each with its own keysieve.directory and keysieve.owner.
#pragma once

#include <sys/types.h>

#include <array>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/worker/base/set_name.hpp"
#include "ext/attached_seen.hpp"
#include "ext/attached_set.hpp"
#include "ext/settings.hpp"

namespace keysieve {

// One type of sets of one source: AttachedSet or AttachedSeen. Not PHP's own table, because that ends the
// process where memory runs out.
template <typename Attached>
class AttachedTable {
 public:
  explicit AttachedTable(SetSource& source) : source_(source) {}
  AttachedTable(const AttachedTable&) = delete;
  AttachedTable& operator=(const AttachedTable&) = delete;
  ~AttachedTable() = default;

  // Creates the entry if it is new, but opens nothing. Returns nullptr for an invalid set name. Entries never
  // move. Without memory for an entry it returns the one that stands for all such sets, which has the name
  // that was asked for last.
  Attached* find(zend_string* name);
  [[nodiscard]] bool is_held(const Attached* set) const noexcept { return set != &without_memory_; }

  // `function` must not run PHP code, which could ask new sets.
  template <typename Function>
  void for_each(Function function) {
    for (const auto& set : sets_) function(*set);
  }

 private:
  struct Slot {
    zend_ulong hash = 0;      // PHP's: its strings carry it
    Attached* set = nullptr;  // none: the slot is free
  };

  [[gnu::noinline, gnu::cold]] Attached* add(zend_string* name);
  [[nodiscard]] Attached& made(std::string_view name);
  void make_slots(std::size_t count);
  void fill_slot(const Slot& filled) noexcept;

  std::vector<Slot> slots_{1};                   // a power of two, at least half of them free
  std::size_t mask_ = 0;                         // of a slot's number
  std::vector<std::unique_ptr<Attached>> sets_;  // in the order of their first calls
  Attached without_memory_;
  std::array<char, kMaxSetNameBytes> name_without_memory_{};
  SetSource& source_;
};

// All sets of one source.
class AttachedSets {
 public:
  explicit AttachedSets(SetSource source) : source_(std::move(source)) {}

  AttachedTable<AttachedSet>& sets() noexcept { return sets_; }
  AttachedTable<AttachedSeen>& seen_sets() noexcept { return seen_sets_; }

  // The first call of a request already notices an expiry, the end of a bypass or a removed control file.
  void begin_request() noexcept {
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
  // exists yet. Tables never move until this process forks. Without memory for them it returns those that
  // never hold a set.
  AttachedSets& of_current_settings() noexcept;

 private:
  AttachedSets& made();

  pid_t process_ = 0;  // the process that asked these sets
  AttachedSets without_memory_{SetSource{}};
  std::map<SetSource, AttachedSets> tables_;
};

}  // namespace keysieve
