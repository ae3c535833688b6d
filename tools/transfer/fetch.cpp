#include "tools/transfer/fetch.hpp"

#include <algorithm>
#include <utility>

#include "core/base/error.hpp"
#include "tools/transfer/chunk.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {
namespace {

[[noreturn]] void refuse_as_foreign(const std::string& source) {
  throw DataError(source + ": the snapshot is not the one that the pointer describes");
}

// The first chunk holds the whole header. Until it agrees, the size is no more than what a record claims.
void check_header(Bytes first_payload, const SnapshotRecord& record, const std::string& source) {
  const auto header = load<SnapshotHeader>(first_payload.data());
  if (header.file_bytes != record.bytes || header.build_id != record.build_id) refuse_as_foreign(source);
}

std::variant<SnapshotBytes, MissingChunk> fetch_chunks(Store& store, const std::string& set_name,
                                                       const SnapshotRecord& record,
                                                       const std::string& source, const Progress& progress) {
  std::optional<SnapshotBytes> snapshot;
  std::uint64_t done = 0;
  for (std::uint32_t first = 0; first < record.chunk_count;) {
    const auto keys = chunk_key_batch(store, set_name, record.push_id, record.chunk_count, first);
    const auto values = store.get_many(keys);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!values[i]) return MissingChunk{keys[i]};
      const auto number = first + static_cast<std::uint32_t>(i);
      const std::size_t expected_bytes = std::min<std::uint64_t>(kChunkPayloadBytes, record.bytes - done);
      const Bytes payload = decode_chunk(*values[i], number, expected_bytes, store.name() + ": " + keys[i]);
      if (!snapshot) {
        check_header(payload, record, source);
        snapshot.emplace(record.bytes);
      }
      std::copy(payload.begin(), payload.end(), chunk_payload(snapshot->get(), number).begin());
      done += payload.size();
    }
    first += static_cast<std::uint32_t>(keys.size());
    if (progress) progress(done, record.bytes);
  }
  return std::move(*snapshot);
}

void check_whole(Bytes snapshot, const std::string& set_name, const SnapshotRecord& record,
                 const std::string& source) {
  const SnapshotView view = SnapshotView::decode(snapshot, source, Check::Everything);
  if (view.set_name() != set_name) {
    throw DataError(source + ": the snapshot is of set \"" + std::string(view.set_name()) + "\"");
  }
  SnapshotRecord found = describe(view);
  found.generation = record.generation;
  found.push_id = record.push_id;
  found.restores = record.restores;
  if (found != record) refuse_as_foreign(source);
}

}  // namespace

std::string name_of(const Store& store, const std::string& set_name, const SnapshotRecord& record) {
  return store.name() + ": set \"" + set_name + "\" generation " + std::to_string(record.generation);
}

std::variant<SnapshotBytes, MissingChunk> fetch(Store& store, const std::string& set_name,
                                                const SnapshotRecord& record, const Progress& progress) {
  const std::string source = name_of(store, set_name, record);
  auto fetched = fetch_chunks(store, set_name, record, source, progress);
  if (const auto* snapshot = std::get_if<SnapshotBytes>(&fetched)) {
    check_whole(snapshot->get(), set_name, record, source);
  }
  return fetched;
}

}  // namespace keysieve
