#include "core/publisher/seen/writable_seen_page.hpp"

#include <cstring>
#include <memory>

#include "core/worker/shm/page_header.hpp"

namespace keysieve {

std::vector<std::byte> new_seen_page(const HashSeed& seed, OnUnavailable on_unavailable) {
  const auto page = std::make_unique<SeenPage>();
  page->magic = kSeenMagic;
  page->endian_mark = kEndianMark;
  page->abi_major = kSeenAbiMajor;
  page->seed = seed;
  page->header_checksum = header_checksum(*page);
  page->on_unavailable = static_cast<std::uint32_t>(on_unavailable);
  std::vector<std::byte> bytes(sizeof *page);
  std::memcpy(bytes.data(), static_cast<const void*>(page.get()), sizeof *page);
  return bytes;
}

void set_seen_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until) {
  change_page(seen_directory(directory), set_name, [until](const SetFolder& folder) {
    const WritableSeenPageFile file(folder);
    const std::string path = folder.path_of(kSeenPageName);
    file.check(path);
    bypass_of(file.writable_page()).switch_to(until);
    return file.is_at(path);
  });
}

void clear_seen_bypass(const std::string& directory, std::string_view set_name) {
  set_seen_bypass(directory, set_name, kBypassOver);
}

}  // namespace keysieve
