// The sets that this thread has asked, by name. They outlive objects and requests, so neither maps anything
// again; if there are many, those that are not needed go. One php-fpm worker may serve several sites, each
// with its own keysieve.directory and keysieve.owner: each of these sources has its own tables.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "ext/exceptions.hpp"
#include "ext/php_keysieve.h"

namespace keysieve {

// A published or a seen set: its reader, and what has been logged about it.
template <typename Reader>
class NamedSet {
 public:
  NamedSet(const ReaderSettings& settings, std::string_view name) : reader_(settings, name) {}
  NamedSet(const NamedSet&) = delete;
  NamedSet& operator=(const NamedSet&) = delete;

  [[nodiscard]] std::string_view name() const noexcept { return reader_.set_name(); }
  [[nodiscard]] const Reader& reader() const noexcept { return reader_; }

  // As of the last call.
  [[nodiscard]] bool is_ready() const noexcept { return reader_.availability() == Availability::Ready; }
  // The last call while a set is not ready, counted by KEYSIEVE_G(uses).
  [[nodiscard]] std::uint64_t last_use() const noexcept { return last_use_; }

  void check_soon() noexcept { reader_.check_soon(); }

  // For objects that stand for it, which keep it in its table.
  void hold() noexcept { ++holders_; }
  void let_go() noexcept { --holders_; }
  [[nodiscard]] bool is_held() const noexcept { return holders_ != 0; }

 protected:
  ~NamedSet() = default;

  // Whether this call has to look at more than a word: the first call of a request does.
  bool begin_call() noexcept { return request_ != KEYSIEVE_G(request) || reader_.begin_call(); }
  // After begin_call(), before the reader's refresh().
  void note_request() noexcept {
    if (request_ == KEYSIEVE_G(request)) return;
    request_ = KEYSIEVE_G(request);
    reader_.begin_request();
  }

  void note_use() noexcept { last_use_ = ++KEYSIEVE_G(uses); }

  // Logs what `line()` makes, if something has changed since the last line.
  template <typename Line>
  void log_change(Line line) {
    if (reader_.availability() == logged_availability_ && reader_.reason() == logged_reason_) return;
    zend_string* text = line();
    logged_availability_ = reader_.availability();
    logged_reason_ = reader_.reason();
    write_error_log(text);
  }
  [[nodiscard]] bool was_ready() const noexcept { return logged_availability_ == Availability::Ready; }

  Reader reader_;  // first, because each call reads it

 private:
  std::uint64_t request_ = 0;
  std::uint64_t last_use_ = ++KEYSIEVE_G(uses);
  std::uint32_t holders_ = 0;
  Availability logged_availability_ = Availability::Ready;
  std::string logged_reason_;
};

// Set is PublishedSet or SeenSet; Set::table() is the one for the settings of this request.
template <typename Set>
class SetTable {
 public:
  SetTable() noexcept { zend_hash_init(&sets_, 8, nullptr, destroy, /*persistent=*/true); }
  SetTable(const SetTable&) = delete;
  SetTable& operator=(const SetTable&) = delete;
  ~SetTable() { zend_hash_destroy(&sets_); }

  // Creates the entry if it is new, but opens nothing. Returns nullptr for an invalid set name. The entry is
  // there until make_room() is called, or as long as the caller holds it. Where malloc fails, the process
  // ends.
  // NOLINTNEXTLINE(bugprone-exception-escape): that is what noexcept does
  Set* find(zend_string* name) noexcept {
    auto* set = static_cast<Set*>(zend_hash_find_ptr(&sets_, name));
    return EXPECTED(set != nullptr) ? set : add(name);
  }

  // Names may come from input. Each call that asks sets begins with this; candidate_sets() may then add any
  // number. If the table has kMostSets, it forgets sets that are neither ready nor held, first those that
  // were asked longest ago, until an eighth is free. All others stay, and make the table grow by eighths.
  void make_room() noexcept {
    if (UNEXPECTED(zend_hash_num_elements(&sets_) >= most_sets_)) forget_some();
  }

  // For a call that asks the one set that its argument 1 names. nullptr with an InvalidNameException pending.
  Set* ask(zend_string* name) {
    make_room();
    Set* set = find(name);
    if (UNEXPECTED(set == nullptr)) throw_invalid_name(name);
    return set;
  }

  // For the start of a request, when no object holds any.
  void forget_all() noexcept { zend_hash_clean(&sets_); }

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
  static void destroy(zval* value) { delete static_cast<Set*>(Z_PTR_P(value)); }

  HashTable sets_;
  std::uint32_t most_sets_ = kMostSets;
};

class PublishedSet;
class SeenSet;

// All sets of one source. Stays where it is until this process forks.
struct SetTables {
  ReaderSettings settings;
  bool has_settings = false;  // since a set was asked, unless the owner could not be looked up
  SetTable<PublishedSet> published;
  SetTable<SeenSet> seen;
  bool has_replaced = false;  // a call has mapped another publication than before
};

// Chooses the tables of this request, before any object exists.
void begin_request() noexcept;
// Unmaps what the request has replaced, when its script has ended.
void end_request() noexcept;

}  // namespace keysieve
