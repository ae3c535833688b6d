#include "core/worker/snapshot/layout.hpp"

#include "core/worker/base/error.hpp"

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

Bytes signed_bytes(const SnapshotHeader& header) noexcept {
  return std::as_bytes(std::span(&header, 1)).first(offsetof(SnapshotHeader, signature));
}

std::uint16_t oldest_snapshot_format() noexcept {
  const std::uint16_t newest = newest_snapshot_format();
  return newest == 1 ? newest : static_cast<std::uint16_t>(newest - 1);
}

std::string snapshot_formats_text() {
  const std::string newest = std::to_string(newest_snapshot_format());
  const std::string oldest = std::to_string(oldest_snapshot_format());
  return oldest == newest ? newest : oldest + " and " + newest;
}

void check_snapshot_format(std::uint16_t format, const std::string& source) {
  if (format >= oldest_snapshot_format() && format <= newest_snapshot_format()) return;
  const std::string known = std::to_string(format) + ", this version reads " + snapshot_formats_text() + ": ";
  if (format > newest_snapshot_format()) {
    throw Error(ErrorKind::Incompatible,
                source + ": has snapshot format " + known +
                    "damaged, or written by a newer version; upgrade this reader, or build with --format " +
                    std::to_string(newest_snapshot_format()));
  }
  throw Error(ErrorKind::Incompatible, source + ": has snapshot format " + known +
                                           "damaged, or written by an older version; build it again");
}

}  // namespace keysieve
