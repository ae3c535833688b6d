#include "tools/transfer/garbage.hpp"

#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/pointer_changes.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {
namespace {

void remove_chunks(Store& store, const std::string& set_name, const Garbage& push) {
  for (std::uint32_t first = 0; first < push.chunk_count;) {
    const auto keys = chunk_key_batch(store, set_name, push.push_id, push.chunk_count, first);
    store.remove_many(keys);
    first += static_cast<std::uint32_t>(keys.size());
  }
}

}  // namespace

void remove_garbage(Store& store, const std::string& set_name, const PointerRecord& pointer) {
  if (pointer.garbage.empty()) return;
  for (const Garbage& push : pointer.garbage) remove_chunks(store, set_name, push);
  change_pointer(store, set_name, [&pointer](PointerRecord& now) {
    return std::erase_if(now.garbage,
                         [&](const Garbage& push) { return is_garbage(pointer, push.push_id); }) != 0;
  });
}

void trim_adds(Store& store, const std::string& set_name, const PointerRecord& pointer) {
  if (!store.abilities().log) return;
  // Also if nothing is to be trimmed: it removes what a killed writer has left at the end of a file.
  store.trim(adds_log(store, set_name), pointer.adds_trimmed_to);
}

}  // namespace keysieve
