#include "ext/attached_sets.hpp"

#include <unistd.h>

#include <new>

#include "core/worker/base/set_name.hpp"

namespace keysieve {

template <typename Attached>
Attached* AttachedTable<Attached>::find(zend_string* name) {
  const zend_ulong hash = ZSTR_HASH(name);
  for (std::size_t at = hash & mask_; slots_[at].set != nullptr; at = (at + 1) & mask_) {
    if (EXPECTED(slots_[at].hash == hash && slots_[at].set->name() == view_of(name))) return slots_[at].set;
  }
  return add(name);
}

// Out of line: inlined, find() would save registers that only this needs.
template <typename Attached>
Attached* AttachedTable<Attached>::add(zend_string* name) {
  if (!is_set_name(view_of(name))) return nullptr;
  try {
    return &made(view_of(name));
  } catch (const std::bad_alloc&) {
    return without_memory_.stand_for(
        {name_without_memory_.data(), view_of(name).copy(name_without_memory_.data(), kMaxSetNameBytes)});
  }
}

template <typename Attached>
Attached& AttachedTable<Attached>::made(std::string_view name) {
  if (source_.directory.empty()) throw std::bad_alloc();  // SetsBySource had no memory when the request began
  auto set = std::make_unique<Attached>(reader_settings(source_), name);
  if (2 * sets_.size() >= mask_) make_slots(2 * slots_.size());
  sets_.push_back(std::move(set));
  fill_slot({zend_inline_hash_func(name.data(), name.size()), sets_.back().get()});
  return *sets_.back();
}

template <typename Attached>
void AttachedTable<Attached>::make_slots(std::size_t count) {
  std::vector<Slot> old(count);
  slots_.swap(old);
  mask_ = count - 1;
  for (const Slot& slot : old) {
    if (slot.set != nullptr) fill_slot(slot);
  }
}

template <typename Attached>
void AttachedTable<Attached>::fill_slot(const Slot& filled) noexcept {
  std::size_t at = filled.hash & mask_;
  while (slots_[at].set != nullptr) at = (at + 1) & mask_;
  slots_[at] = filled;
}

template class AttachedTable<AttachedSet>;
template class AttachedTable<AttachedSeen>;

AttachedSets& SetsBySource::of_current_settings() noexcept {
  try {
    return made();
  } catch (const std::bad_alloc&) {
    return without_memory_;
  }
}

// A preload script may ask sets in the master of php-fpm. The workers start with an empty table: each opens
// the sets with its own rights and from its own root directory, logs what is wrong with them, and counts its
// own calls.
AttachedSets& SetsBySource::made() {
  if (const pid_t process = ::getpid(); process != process_) {
    tables_.clear();
    process_ = process;
  }
  const SetSource source = current_source();
  return tables_.try_emplace(source, source).first->second;
}

}  // namespace keysieve
