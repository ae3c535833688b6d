// The disk of simulated hosts: real files of which it knows what was synced. A power loss takes the rest, or
// parts of it.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <string>

#include "core/worker/base/file_descriptor.hpp"

namespace keysieve::test {

// There is one at a time: this program's fsync(2) tells it.
class SimulatedDisk {
 public:
  SimulatedDisk() noexcept { there_ = this; }
  SimulatedDisk(const SimulatedDisk&) = delete;
  SimulatedDisk& operator=(const SimulatedDisk&) = delete;
  ~SimulatedDisk() { there_ = nullptr; }

  static SimulatedDisk* there() noexcept { return there_; }
  void has_synced(int descriptor);
  // Each name in the folder, and of each file its size and each 512 bytes, is as it was when it was synced,
  // or as it is.
  void lose_power(const std::string& folder, std::mt19937_64& random);
  // Names and files that were not as synced when the power was lost.
  [[nodiscard]] std::uint64_t unsynced() const noexcept { return unsynced_; }

 private:
  using Names = std::map<std::string, FileIdentity>;

  static Names names_in(const std::string& folder);
  [[nodiscard]] std::string left_of(FileIdentity file, const std::string& path, std::mt19937_64& random);

  static inline SimulatedDisk* there_ = nullptr;
  std::map<FileIdentity, std::string> contents_;  // of files that were synced
  std::map<FileIdentity, Names> folders_;
  std::uint64_t unsynced_ = 0;
};

}  // namespace keysieve::test
