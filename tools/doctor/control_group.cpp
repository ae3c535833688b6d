#include "tools/doctor/control_group.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace keysieve {
namespace {

constexpr std::string_view kVersion2 = "0::";

// "/system.slice/keysieved.service"; "/" in a namespace of its own; empty where /proc does not tell.
std::filesystem::path control_group_of(const std::string& process) {
  std::ifstream file(process + "/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kVersion2)) return line.substr(kVersion2.size());
  }
  return {};
}

}  // namespace

std::optional<std::uint64_t> memory_limit_of(const std::string& process) {
  std::optional<std::uint64_t> least;
  for (auto group = control_group_of(process); !group.empty(); group = group.parent_path()) {
    std::uint64_t limit = 0;
    if (std::ifstream("/sys/fs/cgroup" + group.string() + "/memory.max") >> limit) {  // or "max"
      least = std::min(least.value_or(limit), limit);
    }
    if (group == group.root_path()) break;
  }
  return least;
}

}  // namespace keysieve
