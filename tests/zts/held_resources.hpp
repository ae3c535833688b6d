// What this process holds: heap memory, mappings, files. For tests that compare it before and after.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

namespace keysieve::test {

struct HeldResources {
  std::size_t heap_bytes;
  std::size_t mappings;
  std::size_t set_mappings;  // of files in a folder
  std::size_t files;         // open ones
};

inline HeldResources held_resources(const std::string& folder) {
  HeldResources held{};
  const struct mallinfo2 heap = ::mallinfo2();
  held.heap_bytes = heap.uordblks + heap.hblkhd;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    ++held.mappings;
    if (line.find(folder) != std::string::npos) ++held.set_mappings;
  }
  maps.close();
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) ++held.files;
  return held;
}

}  // namespace keysieve::test
