#include "tools/loader/set_records.hpp"

#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {

SetRecords read_set_records(Store& store, const std::string& set_name) {
  const auto [bypass_of_set, bypass_of_all] = store_bypass_keys(store, set_name);
  const std::array keys{pointer_key(store, set_name), bypass_of_set, bypass_of_all};
  const auto texts = store.get_many(keys);
  return {.pointer_key = keys[0],
          .pointer = texts[0],
          .bypasses = decode_store_bypasses(std::span(texts).subspan<1, 2>())};
}

}  // namespace keysieve
