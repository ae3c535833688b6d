#include <algorithm>
#include <utility>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/error.hpp"
#include "tools/records/chunk.hpp"
#include "tools/transfer/stored_chunks.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

[[noreturn]] void refuse_as_foreign(const std::string& source) {
  throw Error(ErrorKind::Data, source + ": the snapshot is not the one that the pointer describes");
}

void check_whole(Bytes snapshot, const std::string& set_name, const SnapshotRecord& record,
                 const std::string& source) {
  const SnapshotView view = SnapshotView::decode(snapshot, source, Check::Everything);
  view.check_set_name(set_name, source);
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

void throw_damaged(const Store& store, const std::string& set_name, const SnapshotRecord& record,
                   const MissingChunk& missing) {
  throw Error(ErrorKind::Data, name_of(store, set_name, record) + ": is damaged" +
                                   (store.abilities().write ? ", push again: " : ": ") + missing.key +
                                   " is missing");
}

std::variant<SnapshotBytes, MissingChunk> fetch(Store& store, const std::string& set_name,
                                                const SnapshotRecord& record, const Progress& progress) {
  const std::string source = name_of(store, set_name, record);
  std::optional<SnapshotBytes> snapshot;
  std::uint64_t done = 0;
  for (std::uint32_t number = 0; number < record.chunk_count();) {
    const auto keys = chunk_key_batch(store, set_name, record, number);
    const auto values = store.get_immutable(keys);
    for (std::size_t i = 0; i < keys.size(); ++i, ++number) {
      if (!values[i]) return MissingChunk{keys[i]};
      const std::size_t expected_bytes = std::min<std::uint64_t>(kChunkPayloadBytes, record.bytes - done);
      const Bytes payload = decode_chunk(*values[i], number, expected_bytes, store.name() + ": " + keys[i]);
      if (!snapshot) {
        // The first chunk holds the whole header. Until that agrees, the size is only a claim of the record.
        const auto header = load<SnapshotHeader>(payload.data());
        if (header.file_bytes != record.bytes || header.build_id != record.build_id)
          refuse_as_foreign(source);
        snapshot.emplace(record.bytes);
      }
      std::ranges::copy(payload, chunk_payload(snapshot->get(), number).begin());
      done += payload.size();
    }
    if (progress) progress(done, record.bytes);
  }
  check_whole(snapshot->get(), set_name, record, source);
  return std::move(*snapshot);
}

SnapshotHeader read_header(Store& store, const std::string& set_name, const SnapshotRecord& record) {
  const std::string source = name_of(store, set_name, record);
  const std::string key = chunk_key(store.prefix(), set_name, record.push_id, 0);
  const auto value = std::move(store.get_immutable(std::span(&key, 1)).front());
  if (!value) throw_damaged(store, set_name, record, {key});
  const std::size_t expected_bytes = std::min<std::uint64_t>(kChunkPayloadBytes, record.bytes);
  const SnapshotHeader header =
      decode_header(decode_chunk(*value, 0, expected_bytes, store.name() + ": " + key), source);
  if (header.file_bytes != record.bytes || header.build_id != record.build_id) refuse_as_foreign(source);
  return header;
}

Baseline read_baseline(Store& store, const std::string& set_name, const SnapshotRecord& record,
                       const SnapshotView& snapshot) {
  try {
    if (snapshot.is_map()) return baseline_of(read_header(store, set_name, record));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Data && error.kind() != ErrorKind::Incompatible) throw;
  }
  return {.key_count = record.key_count};
}

Pulled pull(Store& store, const std::string& set_name, const Progress& progress) {
  std::optional<SnapshotRecord> tried;
  for (;;) {
    const auto pointer = read_pointer(store, set_name);
    if (!pointer)
      throw Error(ErrorKind::MissingInput, store.name() + ": set \"" + set_name + "\" was never pushed");
    const SnapshotRecord& current = *pointer->current;
    auto fetched = fetch(store, set_name, current, progress);
    if (auto* snapshot = std::get_if<SnapshotBytes>(&fetched)) return {current, std::move(*snapshot)};
    if (tried == current) throw_damaged(store, set_name, current, std::get<MissingChunk>(fetched));
    tried = current;
  }
}

}  // namespace keysieve
