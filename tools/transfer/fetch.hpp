// The snapshot of one kept generation, fetched and checked. Used by pull, update and rollback.
#pragma once

#include <string>
#include <variant>

#include "tools/transfer/transfer.hpp"

namespace keysieve {

struct MissingChunk {
  std::string key;
};

// For messages.
std::string name_of(const Store& store, const std::string& set_name, const SnapshotRecord& record);

// Checks every chunk and the whole, decodes everything, and compares all that the record says of it. Throws
// Data for what is there but wrong, and as the store does.
std::variant<SnapshotBytes, MissingChunk> fetch(Store& store, const std::string& set_name,
                                                const SnapshotRecord& record, const Progress& progress);

// Its counters, checked against the snapshot; the record has some. Throws alike.
std::variant<SnapshotBytes, MissingChunk> fetch_counters(Store& store, const std::string& set_name,
                                                         const SnapshotRecord& record,
                                                         const SnapshotView& snapshot);

}  // namespace keysieve
