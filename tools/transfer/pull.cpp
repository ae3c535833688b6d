#include <algorithm>
#include <utility>
#include <variant>

#include "core/base/error.hpp"
#include "tools/program/units.hpp"
#include "tools/transfer/chunk.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

struct MissingChunk {
  std::string key;
};

[[noreturn]] void refuse_as_foreign(const std::string& source) {
  throw DataError(source + ": the snapshot is not the one that the pointer describes");
}

// The first chunk holds the whole header. Until it agrees, the size is no more than what a record claims.
void check_header(Bytes first_payload, const SnapshotRecord& record, const std::string& source) {
  const auto header = load<SnapshotHeader>(first_payload.data());
  if (header.file_bytes != record.bytes || header.build_id != record.build_id) refuse_as_foreign(source);
}

std::variant<SnapshotBytes, MissingChunk> fetch(Store& store, const std::string& set_name,
                                                const SnapshotRecord& record, const std::string& source,
                                                const Progress& progress) {
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

Pulled pull(Store& store, const std::string& set_name, std::uint64_t max_bytes, const Progress& progress) {
  std::optional<SnapshotRecord> tried;
  for (;;) {
    const auto pointer = read_pointer(store, set_name);
    if (!pointer) throw MissingInputError(store.name() + ": set \"" + set_name + "\" was never pushed");
    const SnapshotRecord& current = *pointer->current;
    const std::string source =
        store.name() + ": set \"" + set_name + "\" generation " + std::to_string(current.generation);
    if (max_bytes != 0 && current.bytes > max_bytes) {
      throw DataError(source + ": is " + format_bytes(current.bytes) + ", above the limit of " +
                      format_bytes(max_bytes));
    }
    auto fetched = fetch(store, set_name, current, source, progress);
    if (auto* snapshot = std::get_if<SnapshotBytes>(&fetched)) {
      check_whole(snapshot->get(), set_name, current, source);
      return {current, std::move(*snapshot)};
    }
    if (tried == current) {
      throw DataError(source + ": is damaged, push again: " + std::get<MissingChunk>(fetched).key +
                      " is missing");
    }
    tried = current;
  }
}

}  // namespace keysieve
