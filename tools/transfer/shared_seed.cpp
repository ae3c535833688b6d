#include "core/base/error.hpp"
#include "core/base/random.hpp"
#include "tools/transfer/hex.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {

std::uint64_t shared_seed(Store& store) {
  const std::string key = store.prefix() + ":seed";
  auto text = store.get(key);
  if (!text) {
    const std::string created = to_hex(random_value<std::uint64_t>());
    // Where another builder was faster, its seed counts.
    text = store.put_if_absent({key, created}) ? created : store.get(key);
  }
  const auto seed = text ? parse_hex(*text) : std::nullopt;
  if (!seed) throw DataError(store.name() + ": " + key + ": is not 16 hexadecimal digits");
  return *seed;
}

}  // namespace keysieve
