#include "tools/transfer/shared_seed.hpp"

#include "core/builder/base/random.hpp"
#include "core/worker/base/error.hpp"
#include "tools/records/chunk.hpp"
#include "tools/transfer/stored_pointer.hpp"
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
  std::vector<std::string> names = set_names_in(store);
  std::erase_if(names, [&](const std::string& name) {
    const auto pointer = read_pointer(store, name);
    return !pointer || read_header(store, name, *pointer->current).seed == seed;
  });
  return names;
}

}  // namespace keysieve
