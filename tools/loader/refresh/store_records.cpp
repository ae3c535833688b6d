#include "tools/loader/refresh/store_records.hpp"

#include "core/base/error.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {
namespace {

// One at a time: what stands in the place of one record must not hide the others.
SetRecords read_one_by_one(Store& store, const std::array<std::string, 3>& keys) {
  SetRecords records{
      .pointer_key = keys[0], .pointer = store.get(keys[0]), .bypasses = {}, .bypass_trouble = {}};
  const auto read_bypass = [&](const std::string& key) -> std::optional<StoreBypass> {
    try {
      return decode_store_bypass(store.get(key));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Data) throw;
      records.bypass_trouble = error.what();
      return StoreBypass{};
    }
  };
  records.bypasses = {.of_set = read_bypass(keys[1]), .of_all = read_bypass(keys[2])};
  return records;
}

}  // namespace

SetRecords read_set_records(Store& store, const std::string& set_name) {
  const auto [bypass_of_set, bypass_of_all] = store_bypass_keys(store, set_name);
  const std::array keys{pointer_key(store, set_name), bypass_of_set, bypass_of_all};
  try {
    const auto texts = store.get_many(keys);
    return {.pointer_key = keys[0],
            .pointer = texts[0],
            .bypasses = decode_store_bypasses(std::span(texts).subspan<1, 2>()),
            .bypass_trouble = {}};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data) throw;
    return read_one_by_one(store, keys);
  }
}

}  // namespace keysieve
