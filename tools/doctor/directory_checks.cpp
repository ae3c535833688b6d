#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <fstream>

#include "core/base/error.hpp"
#include "core/shm/huge_pages.hpp"
#include "core/shm/memory_use.hpp"
#include "tools/doctor/checks.hpp"
#include "tools/doctor/volume.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr std::uint64_t kLarge = std::uint64_t{10} << 20;  // from here on huge pages pay

struct statvfs file_system_of(const std::string& directory) {
  struct statvfs status {};
  if (::statvfs(directory.c_str(), &status) != 0) throw_read_error("directory " + directory, errno);
  return status;
}

bool is_read_only(const std::string& directory) {
  return (file_system_of(directory).f_flag & ST_RDONLY) != 0;
}

// "MemAvailable:   12345 kB"; nothing where /proc does not tell.
std::optional<std::uint64_t> available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("MemAvailable:")) return std::stoull(line.substr(13)) * 1024;
  }
  return std::nullopt;
}

}  // namespace

void check_directory(const Situation& situation, Findings& findings) {
  if (!situation.has_directory) return;
  const std::string& directory = situation.question.directory;
  struct stat status {};
  if (::stat(directory.c_str(), &status) != 0) throw_read_error("directory " + directory, errno);
  const std::string seen = fmt::format("{}: of {}:{}, mode {:04o}", directory, user_name(status.st_uid),
                                       group_name(status.st_gid), status.st_mode & 07777);
  if ((status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) == 0 && !is_read_only(directory)) {
    if (is_volume(status)) {
      return findings.warn("directory", seen + ": a volume, in which whoever mounts it may put sets",
                           "mount it readOnly in every container but the loader's");
    }
    return findings.fail("directory", seen + ": anybody may put a set in its place",
                         fmt::format("chmod o-w {}", directory));
  }
  findings.ok("directory", seen);
}

void check_file_system(const Situation& situation, Findings& findings) {
  if (!situation.has_directory) return;
  const std::string& directory = situation.question.directory;
  const FileDescriptor opened(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open()) throw_read_error("directory " + directory, errno);
  if (is_in_memory(opened, directory)) return findings.ok("file system", directory + " is a tmpfs");
  findings.warn("file system",
                directory + " is no tmpfs: publishing waits for the disk, and first lookups may too",
                "choose a directory below /run, or: mount -t tmpfs -o size=1G,mode=0750 tmpfs " + directory);
}

void check_room(const Situation& situation, Findings& findings) {
  const SetStatus* largest = situation.largest();
  if (largest == nullptr) return;
  const std::string& directory = situation.question.directory;
  const struct statvfs status = file_system_of(directory);
  const std::uint64_t total = status.f_blocks * status.f_frsize;
  const std::uint64_t free = status.f_bavail * status.f_frsize;
  if (total == 0) return findings.ok("room", directory + ": its file system has no limit");
  const std::uint64_t wanted = situation.wanted_bytes();
  const std::string seen =
      fmt::format("{}: {} free of {}; three publications of every set take {}", directory, format_bytes(free),
                  format_bytes(total), format_bytes(wanted));
  const std::string remedy = fmt::format(
      "keysieve status --readers: restart idle workers that pin what is gone; mount -o "
      "remount,size=<more> {}",
      directory);
  if (free < largest->published->bytes || (status.f_files != 0 && status.f_favail < 2)) {
    return findings.fail("room",
                         fmt::format("{}: the next publication of {} ({}) does not fit", seen, largest->name,
                                     format_bytes(largest->published->bytes)),
                         remedy);
  }
  if (total < wanted) return findings.warn("room", seen, remedy);
  findings.ok("room", seen);
}

void check_huge_pages(const Situation& situation, Findings& findings) {
  if (!situation.has_directory) return;
  const auto policy = huge_page_policy(situation.question.directory);
  if (!policy) return;
  const std::string seen = fmt::format("{} has huge={}", situation.question.directory, *policy);
  const SetStatus* largest = situation.largest();
  if (largest == nullptr || largest->published->bytes < kLarge ||
      (*policy != "never" && *policy != "advise")) {
    return findings.ok("huge pages", seen);
  }
  findings.warn("huge pages",
                fmt::format("{}, and {} has {}: each refresh costs every worker its page table", seen,
                            largest->name, format_bytes(largest->published->bytes)),
                fmt::format("mount -o remount,huge=within_size {}, if it is a mount of its own",
                            situation.question.directory));
}

void check_memory(const Situation& situation, Findings& findings) {
  const SetStatus* largest = situation.largest();
  const auto available = available_memory();
  if (largest == nullptr || !available) return;
  const std::string seen = format_bytes(*available) + " available on this host";
  if (*available < largest->published->bytes) {
    return findings.fail("memory",
                         fmt::format("{}: the next publication of {} takes {}", seen, largest->name,
                                     format_bytes(largest->published->bytes)),
                         "free memory: something may be killed for want of it");
  }
  findings.ok("memory", seen);
}

}  // namespace keysieve
