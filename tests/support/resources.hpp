// What a process holds: open files, mapped files, memory. For tests of what must not grow.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace keysieve::test {

struct Resources {
  std::int64_t files = 0;
  std::int64_t mapped_files = 0;  // anonymous mappings are the allocator's own; their bytes count below
  std::int64_t resident_bytes = 0;
};

inline Resources resources_of(pid_t pid) {
  const std::string process = "/proc/" + std::to_string(pid);
  Resources held;
  for ([[maybe_unused]] const auto& file : std::filesystem::directory_iterator(process + "/fd")) ++held.files;
  std::ifstream maps(process + "/maps");
  for (std::string line; std::getline(maps, line);) held.mapped_files += line.find('/') != std::string::npos;
  std::ifstream status(process + "/status");
  for (std::string name; status >> name; status.ignore(std::numeric_limits<std::streamsize>::max(), '\n')) {
    if (name != "VmRSS:") continue;
    std::int64_t kibibytes = 0;
    status >> kibibytes;
    held.resident_bytes = kibibytes * 1024;
  }
  return held;
}

}  // namespace keysieve::test
