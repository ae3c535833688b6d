#include "tools/transfer/stored_sets.hpp"

#include <set>

#include "core/worker/seen/seen_page.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {
namespace {

constexpr std::size_t kSetsAtATime = 512;  // in one request: about 1 MiB

// Of those that have a pointer record, in order.
std::vector<std::string> set_names_in(Store& store) {
  std::set<std::string> names;  // a listing may name a record twice
  for (const std::string& key : store.keys_with_prefix(store.prefix() + ":")) {
    if (auto name = set_of_pointer_key(store.prefix(), key)) names.insert(std::move(*name));
  }
  return {names.begin(), names.end()};
}

// The set of that pointer record, with a failure if it cannot be used; nothing if nothing is current.
std::optional<StoredSet> set_of(const std::string& name, const std::string& text, const std::string& source) {
  try {
    PointerRecord pointer = decode_pointer_record(text, source);
    if (!pointer.current) return std::nullopt;
    return StoredSet{name, std::move(pointer)};
  } catch (const Error& error) {
    if (!is_about_a_record(error)) throw;
    return StoredSet{name, {}, error};
  }
}

std::vector<StoredSet> read_at_once(Store& store, std::span<const std::string> names) {
  std::vector<std::string> keys;
  for (const std::string& name : names) keys.push_back(pointer_key(store, name));
  const auto texts = store.get_many(keys);
  std::vector<StoredSet> sets;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!texts[i]) continue;
    if (auto set = set_of(names[i], *texts[i], store.name() + ": " + keys[i]))
      sets.push_back(std::move(*set));
  }
  return sets;
}

// Where the store refuses to give a record, the others are read in ever smaller parts.
void read_sets(Store& store, std::span<const std::string> names, std::vector<StoredSet>& sets) {
  try {
    if (names.size() <= kSetsAtATime) {
      const std::vector<StoredSet> read = read_at_once(store, names);
      sets.insert(sets.end(), read.begin(), read.end());
      return;
    }
  } catch (const Error& error) {
    if (!is_about_a_record(error)) throw;
    if (names.size() == 1) return sets.push_back({names.front(), {}, error});
  }
  read_sets(store, names.first(names.size() / 2), sets);
  read_sets(store, names.subspan(names.size() / 2), sets);
}

}  // namespace

bool is_about_a_record(const Error& error) noexcept {
  return error.kind() == ErrorKind::Data || error.kind() == ErrorKind::Incompatible ||
         error.kind() == ErrorKind::Permission;
}

std::vector<StoredSet> stored_sets(Store& store) {
  std::vector<StoredSet> sets;
  read_sets(store, set_names_in(store), sets);
  return sets;
}

std::string seen_log(const Store& store, const std::string& set_name) {
  return store.prefix() + ":" + std::string(kSeenFolder) + ":" + checked_set_name(set_name) + ":log";
}

bool holds_seen_set(Store& store, const std::string& set_name) {
  return store.abilities().log && has_keys(store, seen_log(store, set_name));
}

void delete_seen_set(Store& store, const std::string& set_name) {
  const std::string log = seen_log(store, set_name);
  store.trim(log, store.end_of(log));
}

}  // namespace keysieve
