#include "ext/attached_sets.hpp"

#include <unistd.h>

#include "core/worker/base/set_name.hpp"

namespace keysieve {

// Out of line: inlined, find() would save registers that only this needs.
template <typename Attached>
Attached* AttachedTable<Attached>::add(zend_string* name) noexcept {
  if (!is_set_name(view_of(name))) return nullptr;
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): where malloc fails, the process ends
  auto* set = new Attached(reader_settings(source_), view_of(name));
  zend_hash_str_add_new_ptr(&sets_, ZSTR_VAL(name), ZSTR_LEN(name), set);
  return set;
}

template class AttachedTable<AttachedSet>;
template class AttachedTable<AttachedSeen>;

// A preload script may ask sets in the master of php-fpm. The workers start with an empty table: each opens
// the sets with its own rights and from its own root directory, logs what is wrong with them, and counts its
// own calls.
AttachedSets& SetsBySource::of_current_settings() noexcept {
  if (const pid_t process = ::getpid(); process != process_) {
    tables_.clear();
    process_ = process;
  }
  const SetSource source = current_source();
  return tables_.try_emplace(source, source).first->second;
}

}  // namespace keysieve
