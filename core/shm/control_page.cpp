#include "core/shm/control_page.hpp"

#include <cstddef>
#include <string>

#include "core/base/checksum.hpp"
#include "core/base/error.hpp"
#include "core/base/random.hpp"

namespace keysieve {
namespace {

std::uint64_t header_checksum(const ControlPage& page) noexcept {
  return checksum(Bytes(reinterpret_cast<const std::byte*>(&page), offsetof(ControlPage, header_checksum)));
}

}  // namespace

std::array<std::byte, kPageBytes> new_control_page() {
  ControlPage page{};
  page.magic = kControlMagic;
  page.endian_mark = kEndianMark;
  page.abi_major = kControlAbiMajor;
  page.abi_minor = kControlAbiMinor;
  page.instance = random_value<std::uint64_t>();
  page.header_checksum = header_checksum(page);
  std::array<std::byte, kPageBytes> bytes;
  std::memcpy(bytes.data(), static_cast<const void*>(&page), sizeof page);
  return bytes;
}

void check_control_page(const ControlPage& page, std::string_view path) {
  const std::string name(path);
  if (page.magic != kControlMagic) throw Error(ErrorKind::Data, name + ": is not a keysieve control page");
  if (page.endian_mark != kEndianMark || page.abi_major != kControlAbiMajor) {
    throw Error(ErrorKind::Incompatible, name + ": control page of ABI " + std::to_string(page.abi_major) +
                                             ", this version knows " + std::to_string(kControlAbiMajor) +
                                             ": damaged, or written by another version");
  }
  if (page.header_checksum != header_checksum(page)) {
    throw Error(ErrorKind::Data, name + ": control page is damaged: its checksum does not match");
  }
}

}  // namespace keysieve
