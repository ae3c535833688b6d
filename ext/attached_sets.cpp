#include "ext/attached_sets.hpp"

#include <unistd.h>

#include <utility>

#include "core/base/set_name.hpp"

namespace keysieve {
namespace {

void destroy(zval* entry) {
  delete static_cast<AttachedSet*>(Z_PTR_P(entry));
}

}  // namespace

AttachedSets::AttachedSets(SetSource source) noexcept : source_(std::move(source)) {
  zend_hash_init(&sets_, 8, nullptr, destroy, /* persistent */ true);
}

AttachedSets::~AttachedSets() {
  zend_hash_destroy(&sets_);
}

AttachedSet* AttachedSets::find(zend_string* name) noexcept {
  if (void* known = zend_hash_find_ptr(&sets_, name); EXPECTED(known != nullptr)) {
    return static_cast<AttachedSet*>(known);
  }
  return add(name);
}

// Out of line: inlined, find() would save registers that only this needs.
AttachedSet* AttachedSets::add(zend_string* name) noexcept {
  if (!is_set_name(view_of(name))) return nullptr;
  auto* set = new AttachedSet(reader_settings(source_), view_of(name));
  zend_hash_str_add_new_ptr(&sets_, ZSTR_VAL(name), ZSTR_LEN(name), set);  // copies the name persistently
  return set;
}

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
