#include "tools/transfer/stored_seen_set.hpp"

#include "core/worker/seen/seen_page.hpp"

namespace keysieve {

std::string seen_log(const Store& store, const std::string& set_name) {
  return store.prefix() + ":" + std::string(kSeenFolder) + ":" + set_name + ":log";
}

bool holds_seen_set(Store& store, const std::string& set_name) {
  return store.abilities().log && !store.read_after(seen_log(store, set_name), {}, 1).empty();
}

void delete_seen_set(Store& store, const std::string& set_name) {
  const std::string log = seen_log(store, set_name);
  store.trim(log, store.end_of(log));
}

}  // namespace keysieve
