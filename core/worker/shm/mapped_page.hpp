// A page in shared memory, and what follows it in its file. Every page that workers map begins with a magic,
// an ABI and a checksum: it has the members magic, endian_mark, abi_major and, behind all that does not
// change, header_checksum.
#pragma once

#include <fcntl.h>

#include <cstddef>
#include <string>
#include <type_traits>

#include "core/worker/base/bytes.hpp"
#include "core/worker/base/checksum.hpp"
#include "core/worker/base/error.hpp"
#include "core/worker/base/mapped_region.hpp"

namespace keysieve {

inline constexpr std::uint32_t kEndianMark = 0x01020304;

// Mapped for reading if Page is const, else for writing too. Its contents are yet to be checked.
template <typename Page>
class MappedPage : public MappedRegion {
 public:
  static constexpr bool kIsForReading = std::is_const_v<Page>;
  static constexpr int kOpenFlags = kIsForReading ? O_RDONLY : O_RDWR;

  // `file` was opened by `path`, with kOpenFlags. Throws as map_region(): Data if the page is cut short.
  MappedPage(const FileDescriptor& file, const std::string& path)
      : MappedRegion(map_region(file, kIsForReading ? MapAccess::ReadOnly : MapAccess::ReadWrite, path,
                                sizeof(Page))) {}

  [[nodiscard]] Page& page() const noexcept { return *reinterpret_cast<Page*>(address()); }
};

// Throws Data (damaged, or a file of another size) or Incompatible (another ABI); `what` and `path` are for
// the message.
template <typename Page>
void check_page(const Page& page, std::size_t file_bytes, const decltype(page.magic)& magic,
                std::uint16_t abi_major, const std::string& path, const std::string& what) {
  if (file_bytes != sizeof page) {
    throw Error(ErrorKind::Data, path + ": has " + std::to_string(file_bytes) + " bytes, a " + what +
                                     " has " + std::to_string(sizeof page));
  }
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
