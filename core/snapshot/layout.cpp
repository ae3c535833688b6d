#include "core/snapshot/layout.hpp"

#include "core/base/checksum.hpp"

namespace keysieve {

std::string to_hex(const BuildId& id) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint8_t byte : id) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::uint64_t header_checksum(const SnapshotHeader& header) noexcept {
  return checksum(std::as_bytes(std::span(&header, 1)).first(offsetof(SnapshotHeader, header_checksum)));
}

std::uint64_t tables_checksum(Bytes snapshot, const SnapshotLayout& layout) noexcept {
  return checksum(snapshot.subspan(kPageBytes, layout.shards.offset - kPageBytes));
}

Bytes checksum_stretch(Bytes snapshot, const SnapshotLayout& layout, std::uint64_t index) noexcept {
  const Bytes shards = snapshot.subspan(layout.shards.offset, layout.shards.bytes);
  const std::uint64_t start = index * kChecksumStretchBytes;
  return shards.subspan(start, std::min<std::uint64_t>(kChecksumStretchBytes, shards.size() - start));
}

}  // namespace keysieve
