#include "core/shm/live_page.hpp"

#include <cstddef>
#include <string>

#include "core/base/checksum.hpp"
#include "core/base/error.hpp"

namespace keysieve {
namespace {

std::uint64_t header_checksum(const LivePage& page) noexcept {
  return checksum(Bytes(reinterpret_cast<const std::byte*>(&page), offsetof(LivePage, header_checksum)));
}

}  // namespace

std::array<std::byte, kPageBytes> new_live_page(const PublicationStamp& stamp) {
  LivePage page{};
  page.magic = kLiveMagic;
  page.instance = stamp.instance;
  page.publication = stamp.publication;
  page.generation = stamp.generation;
  page.published_at = stamp.published_at;
  page.header_checksum = header_checksum(page);
  std::array<std::byte, kPageBytes> bytes;
  std::memcpy(bytes.data(), static_cast<const void*>(&page), sizeof page);
  return bytes;
}

void check_live_page(const LivePage& page, std::uint64_t instance, std::uint64_t publication,
                     std::string_view path) {
  const std::string name(path);
  if (page.magic != kLiveMagic) throw DataError(name + ": is not a keysieve live page");
  if (page.header_checksum != header_checksum(page)) {
    throw DataError(name + ": live page is damaged: its checksum does not match");
  }
  if (page.instance != instance || page.publication != publication) {
    throw DataError(name + ": live page belongs to another publication");
  }
}

}  // namespace keysieve
