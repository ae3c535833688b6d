// What a store says of one set, read in one call: the pointer record, and whether lookups are to be bypassed.
#pragma once

#include <optional>
#include <string>

#include "tools/stores/store.hpp"
#include "tools/transfer/pointer_record.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve {

struct SetRecords {
  std::string pointer_key;
  std::optional<std::string> pointer;  // not decoded, so that a damaged one does not hide a bypass
  StoreBypasses bypasses;
  std::string bypass_trouble;  // why a bypass record cannot be read; empty: each can
};

// A bypass record that cannot be read is one without end, as one that is not understood.
SetRecords read_set_records(Store& store, const std::string& set_name);

}  // namespace keysieve
