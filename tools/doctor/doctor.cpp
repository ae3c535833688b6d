#include "tools/doctor/doctor.hpp"

#include <fmt/core.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "core/worker/snapshot/layout.hpp"
#include "tools/program/accounts.hpp"
#include "tools/program/program.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

std::optional<LoaderConfig> load(const std::string& path, Findings& findings) {
  try {
    LoaderConfig config = load_config(path);
    findings.ok("configuration", fmt::format("{}: {}, {}", path,
                                             format_count_of(config.sets.size() + config.seen.size(), "set"),
                                             format_count_of(config.stores.size(), "store")));
    return config;
  } catch (const Error& error) {
    findings.fail("configuration", error);
    return std::nullopt;
  }
}

bool is_same(const std::string& one, const std::string& other) {
  std::error_code failure;
  return std::filesystem::path(one) == other || std::filesystem::equivalent(one, other, failure);
}

}  // namespace

const SetFacts* PublishedSets::find(const std::string& set_name) const {
  const auto found = std::ranges::find(sets, set_name, &SetFacts::name);
  return found == sets.end() ? nullptr : &*found;
}

std::uint64_t PublishedSets::largest_bytes() const {
  std::uint64_t bytes = 0;
  for (const SetFacts& set : sets) {
    if (set.published) bytes = std::max(bytes, set.published->bytes);
  }
  return bytes;
}

std::uint64_t PublishedSets::total_bytes() const {
  std::uint64_t bytes = 0;
  for (const SetFacts& set : sets) {
    if (set.published) bytes += set.published->bytes;
  }
  return bytes;
}

std::string owner_and_mode(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw_read_error(path, errno);
  return fmt::format("{}:{} {:04o}", user_name(status.st_uid), group_name(status.st_gid),
                     status.st_mode & 07777);
}

void check_room(const std::string& subject, const std::string& folder, std::string fact,
                std::uint64_t next_bytes, std::uint64_t wanted_bytes, Findings& findings) {
  struct statvfs status {};
  if (::statvfs(folder.c_str(), &status) != 0) throw_read_error(folder, errno);
  const std::uint64_t total = status.f_blocks * status.f_frsize;
  const std::uint64_t free = status.f_bavail * status.f_frsize;
  if (total == 0) return findings.ok(subject, fact + ": its file system has no limit");
  fact += fmt::format(": {} free of {}", format_bytes(free), format_bytes(total));
  if (free < next_bytes || (status.f_files != 0 && status.f_favail < 2)) {
    return findings.fail(
        subject, FactCode::NoRoom,
        fmt::format("{}; the next snapshot may need {} and 2 files", fact, format_bytes(next_bytes)));
  }
  if (total < wanted_bytes) {
    return findings.warn(
        subject, FactCode::NoRoom,
        fmt::format("{}; three publications of every set take {}", fact, format_bytes(wanted_bytes)));
  }
  findings.ok(subject, fact);
}

Findings examine(const std::string& directory, const std::optional<std::string>& config_path) {
  Findings findings;
  findings.ok("program", fmt::format("keysieve {}, snapshot format {}, run by {}", kVersion,
                                     snapshot_formats_text(), user_name(::geteuid())));
  const auto config = config_path ? load(*config_path, findings) : std::nullopt;
  const bool is_of_this = config && is_same(config->directory, directory);
  const PublishedSets published = check_directory(directory, is_of_this ? &*config : nullptr, findings);
  check_seen_sets(directory, is_of_this ? &*config : nullptr, findings);
  if (config && !is_of_this) {
    findings.fail(
        "configuration", FactCode::OtherDirectory,
        fmt::format("{}: publishes in {}, looked at is {}", *config_path, config->directory, directory));
  }
  if (config) check_loader(*config, is_of_this ? published : PublishedSets(), findings);
  return findings;
}

}  // namespace keysieve
