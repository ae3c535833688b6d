#include "tools/program/memory_left.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "core/builder/base/folder_names.hpp"
#include "core/worker/base/error.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

// v1 writes "no limit" as the last page below 2^63. No machine has 8 PiB, and as KiB that fits 64 bits.
constexpr std::uint64_t kMostBytes = (std::uint64_t{1} << 53) - 1;

// Four times the private memory of keysieved: RssAnon in /proc/PID/status went from 1.8 to 2.0 MiB while it
// saved the first million keys of a set for 10 million in a dir: store (dev preset).
constexpr std::uint64_t kLeastMargin = std::uint64_t{8} << 20;
// Page tables take 8 bytes for each page of 4 KiB, 0.2 %, in every process that maps the filter: this is room
// for the loader and nine workers in its group.
constexpr std::uint64_t kMarginDivisor = 50;

// A version of control groups: how its mount and its files are called.
struct CgroupVersion {
  std::string_view controller;  // in /proc/self/cgroup
  std::string mount;
  // Beyond memory.high nothing is killed, but every process of the group is held up for up to 2 s whenever it
  // takes memory. A filter would never go below it again, as its pages cannot be dropped: so it is a limit.
  std::vector<std::string> limits;
  std::string usage;
  std::array<std::string_view, 2> droppable;  // in memory.stat, of the group and all groups below
};

// The only word of a file as a number; nullopt also for "max".
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::string word;
  std::ifstream(path) >> word;
  return whole_number(word, kMostBytes);
}

// The number behind the name in a file.
std::optional<std::uint64_t> number_after(std::string_view name, const std::string& path) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    if (word == name && file >> word) return whole_number(word, kMostBytes);
  }
  return std::nullopt;
}

bool has_item(const std::string& list, std::string_view item) {
  return ("," + list + ",").find("," + std::string(item) + ",") != std::string::npos;
}

// The group of this process, from a line such as "4:memory:/web" or, v2, "0::/web"; empty if there is none.
std::string group_path(const CgroupVersion& version, const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string id, controllers, path;
       std::getline(file, id, ':') && std::getline(file, controllers, ':') && std::getline(file, path);) {
    const bool is_it = version.controller.empty() ? controllers.empty() && id == "0"
                                                  : has_item(controllers, version.controller);
    if (is_it && path.starts_with('/')) return path;
  }
  return "";
}

void add_level(const CgroupVersion& version, const std::string& root, const std::string& folder,
               std::vector<MemoryLimit>& limits) {
  const auto used = number_in(root + folder + version.usage);
  if (!used) return;
  std::uint64_t droppable = 0;
  for (const std::string_view name : version.droppable)
    droppable += number_after(name, root + folder + "/memory.stat").value_or(0);
  const std::uint64_t kept = *used - std::min(*used, droppable);
  for (const std::string& name : version.limits) {
    const std::string file = folder + name;
    if (const auto limit = number_in(root + file))
      limits.push_back({file, *limit, *limit - std::min(*limit, kept)});
  }
}

// From the group of this process up to the top of the mount. In a container that is shown only a part of the
// groups, but the path from the top of the host, the end of that path leads to the group.
void add_groups(const CgroupVersion& version, const std::string& root, std::vector<MemoryLimit>& limits) {
  std::string path = group_path(version, root);
  if (path.empty()) return;
  if (path == "/" || (path + "/").find("/../") != std::string::npos) path.clear();  // outside: "/../web"
  std::error_code ignored;
  const std::string mount = root + version.mount;
  while (!path.empty() && !std::filesystem::exists(std::string(mount).append(path), ignored))
    path.erase(0, path.find('/', 1));
  for (;; path.resize(path.rfind('/'))) {
    add_level(version, root, version.mount + path, limits);
    if (path.empty()) return;
  }
}

// Whether the machine says it.
bool add_machine(const std::string& root, std::vector<MemoryLimit>& limits) {
  const std::string path = "/proc/meminfo";
  const auto total_kib = number_after("MemTotal:", root + path);
  const auto left_kib = number_after("MemAvailable:", root + path);
  if (!total_kib || !left_kib) return false;
  limits.push_back({path, *total_kib * 1024, *left_kib * 1024});
  return true;
}

// Where /proc does not show that file: about the same, from all NUMA nodes.
void add_nodes(const std::string& root, std::vector<MemoryLimit>& limits) {
  const std::string nodes = "/sys/devices/system/node";
  MemoryLimit all{nodes + "/node*/meminfo"};
  std::error_code ignored;
  for (const std::string& name : names_in(root + nodes, ignored)) {
    const std::string path = std::string(root).append(nodes).append("/").append(name).append("/meminfo");
    all.limit_bytes += number_after("MemTotal:", path).value_or(0) * 1024;
    for (const char* kind : {"MemFree:", "Active(file):", "Inactive(file):", "SReclaimable:"})
      all.left_bytes += number_after(kind, path).value_or(0) * 1024;
  }
  if (all.limit_bytes != 0) limits.push_back(all);
}

std::string describe(const MemoryLimit& limit) {
  const std::string left = format_bytes(limit.left_bytes);
  const std::string all = format_bytes(limit.limit_bytes);
  if (limit.file.ends_with("/meminfo"))
    return fmt::format("this machine has {} left of {} ({}): free memory or add some", left, all, limit.file);
  const auto* setting = limit.file.ends_with(".high") ? "MemoryHigh=" : "MemoryMax=";
  return fmt::format("the control group has {} left (limit {} in {}): raise {} or the container's limit",
                     left, all, limit.file, setting);
}

}  // namespace

std::optional<MemoryLimit> tightest_memory_limit(const std::string& root) {
  std::vector<MemoryLimit> limits;
  add_groups({"",
              "/sys/fs/cgroup",
              {"/memory.max", "/memory.high"},
              "/memory.current",
              {"inactive_file", "active_file"}},
             root, limits);
  add_groups({"memory",
              "/sys/fs/cgroup/memory",
              {"/memory.limit_in_bytes"},
              "/memory.usage_in_bytes",
              {"total_inactive_file", "total_active_file"}},
             root, limits);
  if (!add_machine(root, limits)) add_nodes(root, limits);
  const auto tightest = std::ranges::min_element(limits, {}, &MemoryLimit::left_bytes);
  return tightest == limits.end() ? std::nullopt : std::optional(*tightest);
}

void check_memory_for(std::uint64_t bytes, const std::string& what, const std::string& root) {
  const auto limit = tightest_memory_limit(root);
  const std::uint64_t margin = std::max(kLeastMargin, bytes / kMarginDivisor);
  if (!limit || (limit->left_bytes >= margin && limit->left_bytes - margin >= bytes)) return;
  throw Error(ErrorKind::CannotCreate,
              fmt::format("{} needs {} and keysieved keeps {} for itself, but {}", what, format_bytes(bytes),
                          format_bytes(margin), describe(*limit)));
}

}  // namespace keysieve
