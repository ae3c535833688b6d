#include "tools/transfer/shared_seed.hpp"

#include "core/builder/base/random.hpp"
#include "core/worker/base/error.hpp"
#include "tools/records/chunk.hpp"
#include "tools/transfer/stored_sets.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

std::string seed_key(const Store& store) {
  return store.prefix() + ":seed";
}

HashSeed seed_in(const Store& store, const std::string& text) {
  const auto seed = parse_seed(text);
  if (!seed)
    throw Error(ErrorKind::Data,
                store.name() + ": " + seed_key(store) + ": is not a seed of 32 hexadecimal digits");
  return *seed;
}

// False also if that cannot be read.
bool has_seed(Store& store, const StoredSet& set, const HashSeed& seed) try {
  return read_header(store, set.name, *set.pointer.current).seed == seed;
} catch (const Error& error) {
  if (!is_about_a_record(error)) throw;
  return false;
}

}  // namespace

std::optional<HashSeed> find_shared_seed(Store& store) {
  const auto text = store.get(seed_key(store));
  return text ? std::optional(seed_in(store, *text)) : std::nullopt;
}

HashSeed shared_seed(Store& store) {
  if (const auto seed = find_shared_seed(store)) return *seed;
  const auto created = random_value<HashSeed>();
  if (!store.abilities().write) return created;  // the first push to the folder behind it decides
  // If another builder was faster, its seed counts.
  if (store.put_if_absent({seed_key(store), to_hex(created)})) return created;
  return seed_in(store, store.get(seed_key(store)).value_or(""));
}

HashSeed renew_shared_seed(Store& store) {
  const auto before = store.get(seed_key(store));
  const auto created = random_value<HashSeed>();
  if (store.compare_and_set({seed_key(store), to_hex(created)}, before)) return created;
  throw Error(ErrorKind::Locked,
              store.name() + ": " + seed_key(store) + ": another client is changing it; try again");
}

std::vector<std::string> sets_of_other_seeds(Store& store, const HashSeed& seed) {
  std::vector<std::string> names;
  for (const StoredSet& set : stored_sets(store)) {
    if (set.failure || !has_seed(store, set, seed)) names.push_back(set.name);
  }
  return names;
}

}  // namespace keysieve
