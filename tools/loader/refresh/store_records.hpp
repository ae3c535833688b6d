// What a store says of one set, read in one call: the pointer record, and whether lookups are to be bypassed.
#pragma once

#include <optional>
#include <string>

#include "core/worker/base/error.hpp"
#include "tools/stores/store.hpp"
#include "tools/transfer/pointer_record.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve {

// A record that cannot be read does not hide the others.
struct StoreRecords {
  std::optional<PointerRecord> pointer{};
  std::optional<Error> pointer_error{};
  std::optional<StoreBypasses> bypasses{};  // nothing if no record can be read: then the store is damaged
  std::optional<Error>
      bypass_error{};  // one that cannot be read is one without end, as one that is not understood
};

// `store_name` is for messages. Throws as a Store does, except for records that cannot be read.
StoreRecords read_store_records(Store& store, const std::string& set_name, const std::string& store_name);

}  // namespace keysieve
