#include "tools/transfer/stored_pointer.hpp"

#include <algorithm>

#include "core/base/checksum.hpp"
#include "core/base/error.hpp"
#include "tools/transfer/chunk.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {

std::vector<std::string> chunk_key_batch(const Store& store, const std::string& set_name,
                                         const BuildId& build_id, std::uint32_t chunk_count,
                                         std::uint32_t first) {
  const std::uint32_t end = first + std::min(kBatchChunks, chunk_count - first);
  std::vector<std::string> keys;
  for (std::uint32_t number = first; number < end; ++number) {
    keys.push_back(chunk_key(store.prefix(), set_name, build_id, number));
  }
  return keys;
}

std::string pointer_key(const Store& store, const std::string& set_name) {
  return store.prefix() + ":" + checked_set_name(set_name) + ":current";
}

StoredPointer read_stored_pointer(Store& store, const std::string& set_name) {
  const std::string key = pointer_key(store, set_name);
  StoredPointer pointer;
  pointer.text = store.get(key);
  if (pointer.text) pointer.record = decode_pointer_record(*pointer.text, store.name() + ": " + key);
  return pointer;
}

SnapshotRecord describe(const SnapshotView& snapshot) {
  const SnapshotHeader& header = snapshot.header();
  SnapshotRecord record;
  record.build_id = header.build_id;
  record.chunk_count = static_cast<std::uint32_t>(chunk_count_of(snapshot.bytes().size()));
  record.bytes = snapshot.bytes().size();
  record.checksum = checksum(snapshot.bytes());
  record.as_of = header.as_of;
  record.key_count = header.key_count;
  record.kind = snapshot.kind().name;
  record.hash_count = header.hash_count;
  record.shard_bytes = header.shard_bytes;
  record.shard_count = header.shard_count;
  record.seed = header.seed;
  return record;
}

std::optional<PointerRecord> read_pointer(Store& store, const std::string& set_name) {
  return read_stored_pointer(store, set_name).record;
}

std::optional<Geometry> current_geometry(Store& store, const std::string& set_name) {
  const auto pointer = read_pointer(store, set_name);
  if (!pointer) return std::nullopt;
  const SnapshotRecord& current = pointer->current;
  const std::string source = store.name() + ": " + pointer_key(store, set_name);
  const FilterKind* kind = find_filter_kind(current.kind);
  if (kind == nullptr) throw IncompatibleError(source + ": this build does not know kind " + current.kind);
  if (current.hash_count < kind->min_hash_count || current.hash_count > kind->max_hash_count) {
    throw DataError(source + ": \"hash_count\" is out of range");
  }
  return Geometry{kind, {current.shard_bytes, current.hash_count}, current.shard_count};
}

}  // namespace keysieve
