#include "core/builder/base/page_memory.hpp"

#include <unistd.h>

#include <fstream>
#include <new>

namespace keysieve {

PageMemory take_pages(std::size_t bytes, Pages pages) {
  void* address = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) throw std::bad_alloc();
  if (pages == Pages::Huge) ::madvise(address, bytes, MADV_HUGEPAGE);
  return PageMemory(static_cast<std::byte*>(address), Unmap{bytes});
}

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t all_pages = 0;
  std::uint64_t resident_pages = 0;
  statm >> all_pages >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace keysieve
