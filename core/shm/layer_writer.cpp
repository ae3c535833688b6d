#include "core/shm/layer_writer.hpp"

namespace keysieve {

// A predecessor that was killed may have set the bits and not counted the key: while nothing is counted
// nobody looks at the bits, so the first key counts whether they are new or not.
bool LayerWriter::add(KeyHash hash) noexcept {
  const bool is_new = set_layer_bits(file_.writable_lanes(), file_.geometry(), hash);
  const std::uint64_t keys = live_keys();
  // Release: pairs with the acquire in LiveLayer::keys.
  if (is_new || keys == 0) file_.writable_page().live_keys.store(keys + 1, std::memory_order_release);
  return is_new;
}

}  // namespace keysieve
