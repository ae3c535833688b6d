#include "tools/transfer/garbage.hpp"

#include "core/base/error.hpp"
#include "tools/transfer/pointer_changes.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {

void remove_chunks(Store& store, const std::string& set_name, const Garbage& push) {
  for (std::uint32_t first = 0; first < push.chunk_count;) {
    const auto keys = chunk_key_batch(store, set_name, push.push_id, push.chunk_count, first);
    store.remove_many(keys);
    first += static_cast<std::uint32_t>(keys.size());
  }
}

void remove_garbage(Store& store, const std::string& set_name, const PointerRecord& pointer,
                    std::vector<std::string>& warnings) {
  if (pointer.garbage.empty()) return;
  try {
    for (const Garbage& push : pointer.garbage) remove_chunks(store, set_name, push);
    change_pointer(store, set_name, [&](PointerRecord& now) {
      return std::erase_if(now.garbage,
                           [&](const Garbage& entry) { return is_garbage(pointer, entry.push_id); }) != 0;
    });
  } catch (const Error& error) {
    warnings.push_back("set \"" + set_name + "\": chunks that nobody needs any more could not be removed, " +
                       "the next push or gc will: " + error.what());
  }
}

}  // namespace keysieve
