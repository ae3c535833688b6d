#include "tools/transfer/stored_chunks.hpp"

#include <algorithm>

#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {

std::vector<std::string> chunk_key_batch(const Store& store, const std::string& set_name,
                                         const SnapshotRecord& record, std::uint32_t first) {
  const std::uint32_t end = first + std::min(kBatchChunks, record.chunk_count() - first);
  std::vector<std::string> keys;
  for (std::uint32_t number = first; number < end; ++number) {
    keys.push_back(chunk_key(store.prefix(), set_name, record.push_id, number));
  }
  return keys;
}

StoredChunks stored_chunks(Store& store, const std::string& set_name) {
  StoredChunks chunks;
  if (!store.abilities().list) return chunks;
  for (std::string& key : store.keys_with_prefix(store.prefix() + ":" + set_name + ":")) {
    if (const auto push_id = push_of_chunk(store.prefix(), set_name, key))
      chunks[*push_id].push_back(std::move(key));
  }
  return chunks;
}

void remove_chunks(Store& store, std::span<const std::string> keys) {
  while (!keys.empty()) {
    const auto batch = keys.first(std::min<std::size_t>(kBatchChunks, keys.size()));
    store.remove_many(batch);
    keys = keys.subspan(batch.size());
  }
}

void remove_chunks(Store& store, const std::string& set_name, const SnapshotRecord& record) {
  for (std::uint32_t first = 0; first < record.chunk_count(); first += kBatchChunks) {
    store.remove_many(chunk_key_batch(store, set_name, record, first));
  }
}

void remove_obsolete_chunks(Store& store, const std::string& set_name, UnixSeconds moment) {
  const StoredChunks stored = stored_chunks(store, set_name);
  if (stored.empty()) return;
  const PointerRecord pointer = change_pointer(store, set_name, [&](PointerRecord& changed) {
    const PushId before = changed.chunks_removed_to;
    for (const auto& [push_id, keys] : stored) {
      if (push_id < first_push_id(moment) && !find_kept(changed, push_id))
        changed.chunks_removed_to = std::max(changed.chunks_removed_to, push_id);
    }
    return changed.chunks_removed_to != before;
  });
  for (const auto& [push_id, keys] : stored) {
    if (is_obsolete(pointer, push_id)) remove_chunks(store, keys);
  }
}

}  // namespace keysieve
