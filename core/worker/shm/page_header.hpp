// Every page that workers map begins with a magic, an ABI and a checksum. A page has the members magic,
// endian_mark, abi_major and, behind all that does not change, header_checksum.
#pragma once

#include <cstddef>
#include <string>

#include "core/worker/base/bytes.hpp"
#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {

inline constexpr std::uint32_t kEndianMark = 0x01020304;

// XXH3-64 of the bytes before it.
template <typename Page>
std::uint64_t header_checksum(const Page& page) noexcept {
  return checksum(Bytes(reinterpret_cast<const std::byte*>(&page), offsetof(Page, header_checksum)));
}

// Throws Data (damaged) or Incompatible (another ABI); `what` and `path` are for the message.
template <typename Page>
void check_page_header(const Page& page, const decltype(page.magic)& magic, std::uint16_t abi_major,
                       const std::string& path, const std::string& what) {
  if (page.magic != magic) throw Error(ErrorKind::Data, path + ": is not a keysieve " + what);
  if (page.endian_mark != kEndianMark || page.abi_major != abi_major) {
    throw Error(ErrorKind::Incompatible, path + ": " + what + " of ABI " + std::to_string(page.abi_major) +
                                             ", this version knows " + std::to_string(abi_major) +
                                             ": damaged, or written by another version");
  }
  if (page.header_checksum != header_checksum(page))
    throw Error(ErrorKind::Data, path + ": " + what + " is damaged: its checksum does not match");
}

}  // namespace keysieve
