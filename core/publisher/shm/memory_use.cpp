#include "core/publisher/shm/memory_use.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <sstream>

#include "core/builder/base/folder_names.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {
namespace {

// Files may come and go during the count, and some folders belong to another user: these are not counted.
std::uint64_t visible_bytes(const std::string& folder) {
  std::error_code failure;
  const std::vector<std::string> names = names_in(folder, failure);
  if (failure && failure != std::errc::permission_denied && failure != std::errc::no_such_file_or_directory &&
      failure != std::errc::not_a_directory)
    throw_read_error("directory " + folder, failure.value());
  std::uint64_t bytes = 0;
  for (const std::string& name : names) {
    const std::string path = std::string(folder).append("/").append(name);
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) continue;
    if (S_ISREG(status.st_mode)) bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
    if (S_ISDIR(status.st_mode)) bytes += visible_bytes(path);
  }
  return bytes;
}

struct statfs file_system_of(const std::string& directory) {
  struct statfs file_system {};
  if (::statfs(directory.c_str(), &file_system) != 0) throw_read_error("directory " + directory, errno);
  return file_system;
}

std::uint64_t used_bytes_of(const struct statfs& file_system) {
  return (file_system.f_blocks - file_system.f_bfree) * static_cast<std::uint64_t>(file_system.f_bsize);
}

bool is_own_tmpfs(const std::string& directory, const struct statfs& file_system) {
  struct stat here {};
  struct stat above {};
  return file_system.f_type == TMPFS_MAGIC && ::stat(directory.c_str(), &here) == 0 &&
         ::stat((directory + "/..").c_str(), &above) == 0 && here.st_dev != above.st_dev;
}

constexpr const char* kSmaps = "/proc/self/smaps";
constexpr const char* kMountInfo = "/proc/self/mountinfo";
constexpr const char* kKernelSwitch = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

void touch_all(Bytes mapping) {
  for (std::size_t at = 0; at < mapping.size(); at += kPageBytes) {
    static_cast<void>(*static_cast<const volatile std::byte*>(mapping.data() + at));
  }
}

// "7f0000000000-7f0000200000 r--s …" is the head of a mapping, "Rss:   4 kB" one of its lines.
bool is_head_of(const std::string& line, std::uintptr_t address) {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  const char* const last = line.data() + line.size();
  const auto [dash, failed] = std::from_chars(line.data(), last, begin, 16);
  if (failed != std::errc{} || dash == last || *dash != '-') return false;
  std::from_chars(dash + 1, last, end, 16);
  return begin <= address && address < end;
}

bool is_head(const std::string& line) {
  return line.find(':') > line.find(' ');
}

std::uint64_t kib_in(const std::string& line, std::string_view name) {
  if (!line.starts_with(name)) return 0;
  return std::stoull(line.substr(name.size()));
}

// The word in brackets: "always [never] deny" says never.
std::string chosen_in(const std::string& choices) {
  const auto begin = choices.find('[');
  const auto end = choices.find(']');
  return begin < end && end != std::string::npos ? choices.substr(begin + 1, end - begin - 1) : "";
}

// The mount options of the tmpfs with this device number, as in "36 35 0:32 / /run rw - tmpfs tmpfs
// rw,huge=always"; nothing if it is not a tmpfs, or if that cannot be found out.
std::optional<std::string> tmpfs_options(dev_t device) {
  std::ifstream mounts(kMountInfo);
  const std::string wanted = std::to_string(major(device)) + ":" + std::to_string(minor(device));
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string id;
    std::string parent;
    std::string number;
    words >> id >> parent >> number;
    const auto rest = line.find(" - tmpfs ");
    if (number == wanted && rest != std::string::npos) return line.substr(line.rfind(' ') + 1);
  }
  return std::nullopt;
}

std::string option_in(const std::string& options, std::string_view name) {
  std::istringstream list(options);
  for (std::string option; std::getline(list, option, ',');) {
    if (option.starts_with(name)) return option.substr(name.size());
  }
  return "never";
}

}  // namespace

MemoryUse memory_use(const std::string& directory) {
  const struct statfs file_system = file_system_of(directory);
  MemoryUse use{.visible_bytes = visible_bytes(directory), .pinned_bytes = std::nullopt};
  if (is_own_tmpfs(directory, file_system)) {
    const std::uint64_t used = used_bytes_of(file_system);
    use.pinned_bytes = used > use.visible_bytes ? used - use.visible_bytes : 0;
  }
  return use;
}

std::optional<std::uint64_t> tmpfs_used_bytes(const std::string& directory) {
  const struct statfs file_system = file_system_of(directory);
  const bool counts = file_system.f_type == TMPFS_MAGIC && file_system.f_blocks != 0;  // not with size=0
  return counts ? std::optional(used_bytes_of(file_system)) : std::nullopt;
}

std::optional<std::uint64_t> huge_page_bytes(Bytes mapping) {
  const auto address = reinterpret_cast<std::uintptr_t>(mapping.data());
  std::ifstream smaps(kSmaps);
  if (!smaps) return std::nullopt;
  touch_all(mapping);
  std::uint64_t kib = 0;
  bool is_ours = false;
  for (std::string line; std::getline(smaps, line);) {
    if (is_head(line)) is_ours = is_head_of(line, address);
    if (is_ours) kib += kib_in(line, "ShmemPmdMapped:") + kib_in(line, "FilePmdMapped:");
  }
  return kib * 1024;
}

std::optional<std::string> huge_page_policy(const std::string& directory) {
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) throw_read_error("directory " + directory, errno);
  const auto options = tmpfs_options(status.st_dev);
  if (!options) return std::nullopt;
  std::string choices;
  std::getline(std::ifstream(kKernelSwitch), choices);
  const std::string overruling = chosen_in(choices);
  if (overruling == "deny") return "never";
  if (overruling == "force") return "always";
  return option_in(*options, "huge=");
}

}  // namespace keysieve
