// What a store says of one set, read in one call: the pointer record, and whether lookups are to be bypassed.
#pragma once

#include <optional>
#include <string>

#include "core/base/error.hpp"
#include "tools/stores/store.hpp"
#include "tools/transfer/pointer_record.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve {

// A record that cannot be read does not hide the others. If none can, the store is damaged, and says nothing.
struct StoreRecords {
  std::optional<PointerRecord> pointer{};
  std::optional<Error> pointer_error{};
  StoreBypasses bypasses{};
  std::optional<Error>
      bypass_error{};  // one that cannot be read is one without end, as one that is not understood
};

// `store_name` is for messages. Throws as a Store does, also Data and Incompatible if it can read none of
// them.
StoreRecords read_store_records(Store& store, const std::string& set_name, const std::string& store_name);

}  // namespace keysieve
