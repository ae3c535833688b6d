#include <algorithm>
#include <utility>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/error.hpp"
#include "tools/program/units.hpp"
#include "tools/transfer/chunk.hpp"
#include "tools/transfer/pointer_changes.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

[[noreturn]] void refuse_as_foreign(const std::string& source) {
  throw Error(ErrorKind::Data, source + ": the snapshot is not the one that the pointer describes");
}

// The first chunk holds the whole header. Until that agrees, the size is only a claim of the record.
void check_header(Bytes first_payload, const SnapshotRecord& record, const std::string& source) {
  const auto header = load<SnapshotHeader>(first_payload.data());
  if (header.file_bytes != record.bytes || header.build_id != record.build_id) refuse_as_foreign(source);
}

// Calls take(number, payload) for each chunk in order. Returns the first missing one; nothing if none is.
template <typename Take>
std::optional<MissingChunk> fetch_chunks(Store& store, const std::string& set_name,
                                         const SnapshotRecord& record, Take take) {
  std::uint64_t done = 0;
  for (std::uint32_t first = 0; first < record.chunk_count;) {
    const auto keys = chunk_key_batch(store, set_name, record.push_id, record.chunk_count, first);
    const auto values = store.get_immutable(keys);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!values[i]) return MissingChunk{keys[i]};
      const auto number = first + static_cast<std::uint32_t>(i);
      const std::size_t expected_bytes = std::min<std::uint64_t>(kChunkPayloadBytes, record.bytes - done);
      const Bytes payload = decode_chunk(*values[i], number, expected_bytes, store.name() + ": " + keys[i]);
      take(number, payload);
      done += payload.size();
    }
    first += static_cast<std::uint32_t>(keys.size());
  }
  return std::nullopt;
}

std::variant<SnapshotBytes, MissingChunk> fetch_snapshot(Store& store, const std::string& set_name,
                                                         const SnapshotRecord& record,
                                                         const std::string& source,
                                                         const Progress& progress) {
  std::optional<SnapshotBytes> snapshot;
  std::uint64_t done = 0;
  const auto missing = fetch_chunks(store, set_name, record, [&](std::uint32_t number, Bytes payload) {
    if (!snapshot) {
      check_header(payload, record, source);
      snapshot.emplace(record.bytes);
    }
    std::copy(payload.begin(), payload.end(), chunk_payload(snapshot->get(), number).begin());
    done += payload.size();
    const bool ends_batch = (number + 1) % kBatchChunks == 0 || number + 1 == record.chunk_count;
    if (progress && ends_batch) progress(done, record.bytes);
  });
  if (missing) return *missing;
  return std::move(*snapshot);
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

std::variant<Pulled, MissingChunk> fetch_all(Store& store, const std::string& set_name,
                                             const PointerRecord& pointer, const Progress& progress) {
  const SnapshotRecord& record = *pointer.current;
  auto fetched = fetch(store, set_name, record, progress);
  if (auto* missing = std::get_if<MissingChunk>(&fetched)) return std::move(*missing);
  return Pulled{record, baseline_before(pointer), std::move(std::get<SnapshotBytes>(fetched))};
}

}  // namespace

std::string name_of(const Store& store, const std::string& set_name, const SnapshotRecord& record) {
  return store.name() + ": set \"" + set_name + "\" generation " + std::to_string(record.generation);
}

std::variant<SnapshotBytes, MissingChunk> fetch(Store& store, const std::string& set_name,
                                                const SnapshotRecord& record, const Progress& progress) {
  const std::string source = name_of(store, set_name, record);
  auto fetched = fetch_snapshot(store, set_name, record, source, progress);
  if (const auto* snapshot = std::get_if<SnapshotBytes>(&fetched)) {
    check_whole(snapshot->get(), set_name, record, source);
  }
  return fetched;
}

Pulled pull(Store& store, const std::string& set_name, std::uint64_t max_bytes, const Progress& progress) {
  std::optional<SnapshotRecord> tried;
  for (;;) {
    const auto pointer = read_pointer(store, set_name);
    if (!pointer)
      throw Error(ErrorKind::MissingInput, store.name() + ": set \"" + set_name + "\" was never pushed");
    const SnapshotRecord& current = *pointer->current;
    const std::string source = name_of(store, set_name, current);
    if (max_bytes != 0 && current.bytes > max_bytes) {
      throw Error(ErrorKind::MaxSize, source + ": is " + format_bytes(current.bytes) +
                                          ", above the limit of " + format_bytes(max_bytes));
    }
    auto fetched = fetch_all(store, set_name, *pointer, progress);
    if (auto* pulled = std::get_if<Pulled>(&fetched)) return std::move(*pulled);
    if (tried == current) {
      throw Error(ErrorKind::Data, source + ": is damaged, push again: " +
                                       std::get<MissingChunk>(fetched).key + " is missing");
    }
    tried = current;
  }
}

}  // namespace keysieve
