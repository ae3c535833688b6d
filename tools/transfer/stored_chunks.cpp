#include "tools/transfer/stored_chunks.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <tuple>

#include "tools/transfer/pointer_changes.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {
namespace {

// The push of a chunk whose key is as chunk_key() writes it; nothing for any other key.
std::optional<PushId> push_of_chunk(const Store& store, const std::string& set_name, std::string_view key) {
  const auto push_id =
      parse_id(key.substr(store.prefix().size() + set_name.size() + 2, 2 * std::tuple_size_v<PushId>));
  const std::string_view digits = key.substr(key.rfind(':') + 1);
  std::uint32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool is_chunk = push_id && key == chunk_key(store.prefix(), set_name, *push_id, number);
  return is_chunk ? push_id : std::nullopt;
}

}  // namespace

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
    if (const auto push_id = push_of_chunk(store, set_name, key)) chunks[*push_id].push_back(std::move(key));
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
