// The system's randomness, for values that must not be guessed or must not repeat: seeds, build ids,
// instances.
#pragma once

#include <span>
#include <type_traits>

#include "core/worker/base/bytes.hpp"

namespace keysieve {

// Throws MissingInput if the system cannot provide randomness.
void fill_random(MutableBytes bytes);

template <typename T>
T random_value() {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  fill_random(std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

}  // namespace keysieve
