// Views over bytes. Snapshots, control pages and live pages are little-endian and are used in place, so a
// big-endian or 32-bit host is refused at compile time instead of being served wrong numbers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace keysieve {

static_assert(std::endian::native == std::endian::little,
              "snapshots are used in place and are little-endian");
static_assert(sizeof(void*) == 8, "sets are mapped whole, and hashing uses products of 128 bits");

using Bytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kCacheLineBytes = 64;

constexpr std::uint64_t round_up_to_page(std::uint64_t bytes) {
  return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
}

inline Bytes as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Reads a T from any address; compiles to one load.
template <typename T>
T load(const std::byte* address) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

template <typename T>
void store(std::byte* address, T value) noexcept {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(address, &value, sizeof value);
}

}  // namespace keysieve
