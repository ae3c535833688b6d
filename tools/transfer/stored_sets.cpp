#include "tools/transfer/stored_sets.hpp"

#include <algorithm>
#include <span>

#include "core/worker/seen/seen_page.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {
namespace {

// Each record has a few KiB, and at most kMaxValueBytes.
constexpr std::size_t kPointersPerCall = 64;

// One record is at fault; the others can be read.
bool is_about_a_record(const Error& error) noexcept {
  return error.kind() == ErrorKind::Data || error.kind() == ErrorKind::Incompatible ||
         error.kind() == ErrorKind::Permission;
}

// Nothing where a value is missing, or they cannot be read together: one that is too large, or that this user
// may not read, hides the others.
std::vector<std::optional<std::string>> read_together(Store& store, std::span<const std::string> keys) {
  try {
    return store.get_many(keys);
  } catch (const Error& error) {
    if (!is_about_a_record(error)) throw;
    return {};
  }
}

// Adds the set, unless it has no current generation.
template <typename Read>
void add_stored(std::vector<StoredSet>& sets, const std::string& name, const std::string& source,
                const Read& read) {
  try {
    const std::optional<std::string> text = read();
    if (!text) return;
    StoredSet set{name, decode_pointer_record(*text, source)};
    if (set.pointer.current) sets.push_back(std::move(set));
  } catch (const Error& error) {
    if (!is_about_a_record(error)) throw;
    sets.push_back({name, {}, error});
  }
}

}  // namespace

std::vector<StoredSet> stored_sets(Store& store) {
  const std::vector<std::string> names = set_names_in(store);
  std::vector<StoredSet> sets;
  for (std::size_t first = 0; first < names.size(); first += kPointersPerCall) {
    const auto batch = std::span(names).subspan(first, std::min(kPointersPerCall, names.size() - first));
    std::vector<std::string> keys;
    for (const std::string& name : batch) keys.push_back(pointer_key(store, name));
    const auto texts = read_together(store, keys);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      add_stored(sets, batch[i], store.name() + ": " + keys[i],
                 [&] { return i < texts.size() ? texts[i] : store.get(keys[i]); });
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
