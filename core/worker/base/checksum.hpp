// XXH3-64, unseeded: guards against damage, not against forgery (owner and mode decide who may write). Out of
// line, because it is never called on the lookup path and xxHash's header is long.
#pragma once

#include <cstdint>

#include "core/worker/base/bytes.hpp"

namespace keysieve {

// Any thread.
std::uint64_t checksum(Bytes bytes) noexcept;

// The checksum of the bytes of a header before its member header_checksum.
template <typename Header>
std::uint64_t header_checksum(const Header& header) noexcept {
  return checksum(Bytes(reinterpret_cast<const std::byte*>(&header), offsetof(Header, header_checksum)));
}

}  // namespace keysieve
