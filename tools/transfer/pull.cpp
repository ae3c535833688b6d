#include "core/base/error.hpp"
#include "tools/program/units.hpp"
#include "tools/transfer/fetch.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {

Pulled pull(Store& store, const std::string& set_name, std::uint64_t max_bytes, const Progress& progress) {
  std::optional<SnapshotRecord> tried;
  for (;;) {
    const auto pointer = read_pointer(store, set_name);
    if (!pointer) throw MissingInputError(store.name() + ": set \"" + set_name + "\" was never pushed");
    const SnapshotRecord& current = *pointer->current;
    const std::string source = name_of(store, set_name, current);
    if (max_bytes != 0 && current.bytes > max_bytes) {
      throw DataError(source + ": is " + format_bytes(current.bytes) + ", above the limit of " +
                      format_bytes(max_bytes));
    }
    auto fetched = fetch(store, set_name, current, progress);
    if (auto* snapshot = std::get_if<SnapshotBytes>(&fetched)) return {current, std::move(*snapshot)};
    if (tried == current) {
      throw DataError(source + ": is damaged, push again: " + std::get<MissingChunk>(fetched).key +
                      " is missing");
    }
    tried = current;
  }
}

}  // namespace keysieve
