#include "tools/transfer/stored_sets.hpp"

#include "core/worker/seen/seen_page.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {

bool is_about_a_record(const Error& error) noexcept {
  return error.kind() == ErrorKind::Data || error.kind() == ErrorKind::Incompatible ||
         error.kind() == ErrorKind::Permission;
}

std::vector<StoredSet> stored_sets(Store& store) {
  std::vector<StoredSet> sets;
  for (const std::string& name : set_names_in(store)) {
    try {
      if (auto pointer = read_pointer(store, name)) sets.push_back({name, std::move(*pointer)});
    } catch (const Error& error) {
      if (!is_about_a_record(error)) throw;
      sets.push_back({name, {}, error});
    }
  }
  return sets;
}

std::string seen_log(const Store& store, const std::string& set_name) {
  return store.prefix() + ":" + std::string(kSeenFolder) + ":" + set_name + ":log";
}

bool holds_seen_set(Store& store, const std::string& set_name) {
  return store.abilities().log && has_keys(store, seen_log(store, set_name));
}

void delete_seen_set(Store& store, const std::string& set_name) {
  const std::string log = seen_log(store, set_name);
  store.trim(log, store.end_of(log));
}

}  // namespace keysieve
