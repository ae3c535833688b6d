#include "ext/attached_sets.hpp"

#include <unistd.h>

#include "core/worker/base/set_name.hpp"
#include "ext/no_memory.hpp"

namespace keysieve {

template <typename Attached>
AttachedTable<Attached>::AttachedTable(SetSource& source) noexcept : source_(source) {
  const auto destroy = [](zval* entry) { delete static_cast<Attached*>(Z_PTR_P(entry)); };
  zend_hash_init(&sets_, 8, nullptr, destroy, /* persistent */ true);
}

template <typename Attached>
AttachedTable<Attached>::~AttachedTable() {
  zend_hash_destroy(&sets_);
}

template <typename Attached>
Attached* AttachedTable<Attached>::find(zend_string* name) {
  if (void* known = zend_hash_find_ptr(&sets_, name); EXPECTED(known != nullptr)) {
    return static_cast<Attached*>(known);
  }
  return add(name);
}

// Out of line: inlined, find() would save registers that only this needs.
template <typename Attached>
Attached* AttachedTable<Attached>::add(zend_string* name) {
  if (!is_set_name(view_of(name))) return nullptr;
  auto* set = or_end_script([&] { return new Attached(reader_settings(source_), view_of(name)); });
  zend_hash_str_add_new_ptr(&sets_, ZSTR_VAL(name), ZSTR_LEN(name), set);  // copies the name persistently
  return set;
}

template class AttachedTable<AttachedSet>;
template class AttachedTable<AttachedSeen>;

// A preload script may ask sets in the master of php-fpm. The workers start with an empty table: each opens
// the sets with its own rights and from its own root directory, logs what is wrong with them, and counts its
// own calls.
AttachedSets& SetsBySource::of_current_settings() {
  if (const pid_t process = ::getpid(); process != process_) {
    tables_.clear();
    process_ = process;
  }
  const SetSource source = current_source();
  return tables_.try_emplace(source, source).first->second;
}

}  // namespace keysieve
