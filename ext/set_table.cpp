#include "ext/set_table.hpp"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "core/worker/base/set_name.hpp"
#include "ext/published_set.hpp"
#include "ext/seen_set.hpp"
#include "ext/settings.hpp"

namespace keysieve {
namespace {

// Neither part has a NUL.
std::string current_source() {
  return std::string(view_of(KEYSIEVE_G(directory))).append(1, '\0').append(view_of(KEYSIEVE_G(owner)));
}

}  // namespace

// Out of line: inlined, find() would save registers that only this needs.
template <typename Set>
Set* SetTable<Set>::add(zend_string* name) noexcept {
  if (!is_set_name(view_of(name))) return nullptr;
  SetTables& tables = *KEYSIEVE_G(tables);
  if (!tables.has_settings) tables.has_settings = read_settings(tables.settings);
  // NOLINTNEXTLINE(bugprone-unhandled-exception-at-new): where malloc fails, the process ends
  auto* set = new Set(tables.settings, view_of(name));
  zend_hash_str_add_new_ptr(&sets_, ZSTR_VAL(name), ZSTR_LEN(name), set);
  return set;
}

template <typename Set>
void SetTable<Set>::forget_some() noexcept {
  std::vector<Set*> unneeded;
  for_each([&](Set& set) {
    if (!set.is_ready() && !set.is_held()) unneeded.push_back(&set);
  });
  const std::size_t excess = zend_hash_num_elements(&sets_) - (kMostSets - kMostSets / 8);
  const auto end = unneeded.begin() + static_cast<std::ptrdiff_t>(std::min(unneeded.size(), excess));
  std::nth_element(unneeded.begin(), end, unneeded.end(),
                   [](const Set* one, const Set* other) { return one->last_use() < other->last_use(); });
  std::for_each(unneeded.begin(), end,
                [&](const Set* set) { zend_hash_str_del(&sets_, set->name().data(), set->name().size()); });
  const std::uint32_t left = zend_hash_num_elements(&sets_);
  most_sets_ = std::max(kMostSets, left + left / 8);
}

template class SetTable<PublishedSet>;
template class SetTable<SeenSet>;

// A preload script may ask sets in the master of php-fpm. The workers start with no table: each opens the
// sets with its own rights and from its own root directory, logs what is wrong with them, and counts its own
// calls.
void begin_request() noexcept {
  auto& tables = *KEYSIEVE_G(tables_by_source);
  const pid_t process = ::getpid();
  if (std::exchange(KEYSIEVE_G(process), process) != process) tables.clear();
  SetTables& of_source = tables[current_source()];
  KEYSIEVE_G(tables) = &of_source;
  ++KEYSIEVE_G(request);
  if (of_source.has_settings) return;
  // What was opened while the owner could not be looked up is opened again.
  of_source.published.forget_all();
  of_source.seen.forget_all();
  // A request with another owner makes PHP forget the uid of this one.
  if (KEYSIEVE_G(owner_uid)) of_source.has_settings = read_settings(of_source.settings);
}

void end_request() noexcept {
  SetTables& tables = *KEYSIEVE_G(tables);
  if (!std::exchange(tables.has_replaced, false)) return;
  tables.published.for_each([](PublishedSet& set) { set.check_soon(); });
}

}  // namespace keysieve
