#include "core/base/error.hpp"
#include "tools/program/units.hpp"
#include "tools/transfer/fetch.hpp"
#include "tools/transfer/refusal.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

enum class With { Snapshot, Counters };

std::variant<Pulled, MissingChunk> fetch_all(Store& store, const std::string& set_name,
                                             const PointerRecord& pointer, With with,
                                             const Progress& progress) {
  const SnapshotRecord& record = *pointer.current;
  auto fetched = fetch(store, set_name, record, progress);
  if (auto* missing = std::get_if<MissingChunk>(&fetched)) return std::move(*missing);
  Pulled pulled{record, keys_before(pointer), std::move(std::get<SnapshotBytes>(fetched))};
  if (with == With::Snapshot || record.counters_bytes == 0) return pulled;
  const SnapshotView view =
      SnapshotView::decode(pulled.snapshot.get(), name_of(store, set_name, record), Check::Tables);
  auto counters = fetch_counters(store, set_name, record, view);
  if (auto* missing = std::get_if<MissingChunk>(&counters)) return std::move(*missing);
  pulled.counters = std::move(std::get<SnapshotBytes>(counters));
  return pulled;
}

Pulled pull_all(Store& store, const std::string& set_name, std::uint64_t max_bytes, With with,
                const Progress& progress) {
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
    auto fetched = fetch_all(store, set_name, *pointer, with, progress);
    if (auto* pulled = std::get_if<Pulled>(&fetched)) return std::move(*pulled);
    if (tried == current) {
      throw Error(ErrorKind::Data, source + ": is damaged, push again: " +
                                       std::get<MissingChunk>(fetched).key + " is missing");
    }
    tried = current;
  }
}

}  // namespace

Pulled pull(Store& store, const std::string& set_name, std::uint64_t max_bytes, const Progress& progress) {
  return pull_all(store, set_name, max_bytes, With::Snapshot, progress);
}

Pulled pull_with_counters(Store& store, const std::string& set_name, const Progress& progress) {
  return pull_all(store, set_name, /*max_bytes=*/0, With::Counters, progress);
}

}  // namespace keysieve
