#include "ext/attached_sets.hpp"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "core/worker/base/set_name.hpp"

namespace keysieve {

// Out of line: inlined, find() would save registers that only this needs.
template <typename Set>
Set* AttachedTable<Set>::add(zend_string* name) noexcept {
  if (!is_set_name(view_of(name))) return nullptr;
  look_up_owner(source_);
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): where malloc fails, the process ends
  auto* set = new Set(reader_settings(source_), view_of(name));
  zend_hash_str_add_new_ptr(&sets_, ZSTR_VAL(name), ZSTR_LEN(name), set);
  return set;
}

template <typename Set>
void AttachedTable<Set>::forget_some() noexcept {
  std::vector<Set*> not_ready;
  for_each([&](Set& set) {
    if (!set.is_ready()) not_ready.push_back(&set);
  });
  const std::size_t excess = zend_hash_num_elements(&sets_) - kMostSets + 1;
  const auto end = not_ready.begin() + static_cast<std::ptrdiff_t>(std::min(not_ready.size(), excess));
  std::nth_element(not_ready.begin(), end, not_ready.end(),
                   [](const Set* one, const Set* other) { return one->last_use() < other->last_use(); });
  std::for_each(not_ready.begin(), end,
                [&](const Set* set) { zend_hash_str_del(&sets_, set->name().data(), set->name().size()); });
  const std::uint32_t left = zend_hash_num_elements(&sets_);
  most_sets_ = left < kMostSets ? kMostSets : 2 * left;
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
