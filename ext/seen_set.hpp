// A seen set that this thread has asked, and what to answer while it cannot answer.
#pragma once

#include <span>

#include "core/worker/seen/seen_reader.hpp"
#include "ext/key.hpp"
#include "ext/set_table.hpp"

namespace keysieve {

class SeenSet : public NamedSet<SeenReader> {
 public:
  using NamedSet::NamedSet;
  static SetTable<SeenSet>& table() noexcept { return KEYSIEVE_G(tables)->seen; }
  struct Terms {};  // all objects ask it alike

  // These take keys that coerce_key() has accepted, and may leave an UnavailableException pending.
  bool add_if_new(const zval* key) noexcept {
    if (UNEXPECTED(!is_answering())) return new_or_throw();
    const SeenAnswer answer = reader_.add_if_new(hash_of(key, reader_.hasher()));
    return EXPECTED(answer != SeenAnswer::Unknown) ? answer == SeenAnswer::New : new_or_throw();
  }
  bool may_contain(const zval* key) noexcept {
    if (UNEXPECTED(!is_answering())) return maybe_or_throw();
    return reader_.may_contain(hash_of(key, reader_.hasher()));
  }

  // Adds all elements in their order; each must be a key. While the set is there, it allocates nothing of
  // PHP's memory and runs no PHP code. False if an UnavailableException is pending.
  bool add_many_if_new(HashTable* keys, std::span<bool> answers) noexcept;

  SetState state() noexcept;

 private:
  // While keysieve.enabled is off, only the page is needed: it says what to answer.
  bool is_answering() noexcept {
    if (UNEXPECTED(begin_call())) look();
    return reader_.is_ready() && EXPECTED(KEYSIEVE_G(enabled));
  }

  [[gnu::cold]] void look() noexcept;
  // Answers while the set is unavailable.
  [[gnu::cold]] bool new_or_throw() noexcept;
  [[gnu::cold]] bool maybe_or_throw() noexcept;
  std::size_t add_while_ready(HashTable* keys, bool* answers) noexcept;
  [[nodiscard]] zend_string* reason() const;
  [[nodiscard]] zend_string* line_of_change() const;
};

}  // namespace keysieve
