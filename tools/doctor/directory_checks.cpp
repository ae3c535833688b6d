// The directory, what is published in it, and its seen sets: facts that any user of the host may see.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "core/builder/base/file_io.hpp"
#include "tools/doctor/doctor.hpp"
#include "tools/loader/config/schedule.hpp"
#include "tools/program/units.hpp"
#include "tools/status/seen_set_facts.hpp"
#include "tools/status/set_facts.hpp"

namespace keysieve {
namespace {

constexpr std::uint64_t kPublicationsThatFit = 3;  // the current one, the next, and one still being read
constexpr UnixSeconds kOldKeys = 172'800;          // 48 h, as the alert KeysieveKeysOld
constexpr UnixSeconds kClockTolerance = 5;

std::string age(UnixSeconds moment, UnixSeconds now) {
  const std::string span = format_duration(std::chrono::seconds(std::abs(now - moment)));
  return moment > now ? span + " ahead of this clock" : span + " ago";
}

// Write permission does not count if a sticky bit keeps users to their own files, or if the mount is
// read-only for this process.
bool others_may_write(const std::string& folder, const struct stat& status) {
  const bool by_group = (status.st_mode & S_IWGRP) != 0 && status.st_gid != 0;
  if (!by_group && (status.st_mode & S_IWOTH) == 0) return false;
  if ((status.st_mode & S_ISVTX) != 0) return false;
  struct statvfs mounted {};
  return ::statvfs(folder.c_str(), &mounted) != 0 || (mounted.f_flag & ST_RDONLY) == 0;
}

// Starts at the root. Throws MissingInput, Permission for the first folder that this user cannot enter.
void check_way(const std::string& directory, Findings& findings) {
  std::filesystem::path part;
  for (const auto& name : std::filesystem::absolute(directory)) {
    part /= name;
    struct stat status {};
    if (::stat(part.c_str(), &status) != 0) throw_read_error("directory " + part.native(), errno);
    const std::string fact = fmt::format("{}: {}", part.native(), owner_and_mode(part));
    if (::access(part.c_str(), X_OK) != 0) throw_read_error(fact, errno);
    if (others_may_write(part, status)) {
      findings.add(Severity::Warning, "directory", to_string(ErrorKind::NotTrusted),
                   fact + ": others may put something else in the place of a set");
    }
  }
}

void check_file_system(const std::string& directory, Findings& findings) {
  const FileDescriptor opened(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!opened.is_open()) throw_read_error("directory " + directory, errno);
  const std::string fact = fmt::format("{}: {}", directory, owner_and_mode(directory));
  if (is_in_memory(opened, directory)) return findings.ok("directory", fact + ", a tmpfs");
  findings.warn("directory", FactCode::NotTmpfs, fact + ", on a disk");
}

std::string publication_text(const LivePublication& set, UnixSeconds now) {
  std::string text =
      fmt::format("publication {}, {}, {}, format {}, keys from {}", set.id.publication,
                  set.generation == 0 ? "from a file" : fmt::format("generation {}", set.generation),
                  format_count_of(set.key_count, "key"), set.format, age(set.as_of, now));
  if (!set.key_profile.empty()) text += fmt::format(", key profile \"{}\"", set.key_profile);
  if (set.heartbeat == 0) return text + ", no loader";
  return text + fmt::format(", loader seen {}, confirmed {}", age(set.heartbeat, now),
                            set.last_confirmed == 0 ? "never" : age(set.last_confirmed, now));
}

// What the loader itself says of a set that answers. Its silence is judged by check_ages().
void check_troubles(const SetFacts& set, const std::string& fact, Findings& findings) {
  bool is_well = true;
  for (const std::string_view code : set.troubles) {
    if (code == kLoaderSilent) continue;
    findings.add(Severity::Warning, "set " + set.name, code, fact);
    is_well = false;
  }
  if (is_well) findings.ok("set " + set.name, fact);
}

void check_state(const std::string& directory, const SetFacts& set, UnixSeconds now, Findings& findings) {
  const std::string subject = "set " + set.name;
  const std::string published = set.published ? publication_text(*set.published, now) : "";
  if (set.damage) {
    return findings.add(Severity::Error, subject, to_string(ErrorKind::Data), *set.damage);
  }
  if (set.availability == Availability::Ready) return check_troubles(set, "ready: " + published, findings);
  std::string fact = set.reason;
  if (!published.empty()) fact += "; " + published;
  if (set.trouble == ErrorKind::Permission || set.trouble == ErrorKind::NotTrusted) {
    fact += fmt::format("; the folder is {}", owner_and_mode(directory + "/" + set.name));
  }
  const bool is_meant = code_of(set) == to_string(Availability::Bypassed);
  findings.add(is_meant ? Severity::Warning : Severity::Error, subject, code_of(set), fact);
}

void check_ages(const std::string& subject, const LivePublication& set, const LoaderConfig* config,
                UnixSeconds now, Findings& findings) {
  struct Moment {
    std::string_view what;
    UnixSeconds at;
  };
  for (const auto& [what, at] :
       {Moment{"its keys are as of", set.as_of}, Moment{"it was published at", set.published_at},
        Moment{"its loader gave a sign of life at", set.heartbeat}}) {
    if (at <= now + kClockTolerance) continue;
    findings.fail(
        subject, FactCode::Clock,
        fmt::format("{} {}, which is in the future: now is {}", what, format_moment(at), format_moment(now)));
  }
  if (set.valid_until == 0 && now - set.as_of > kOldKeys) {
    findings.warn(subject, FactCode::OldKeys, "its keys are from " + age(set.as_of, now));
  }
  if (set.heartbeat == 0) return;
  auto patience = std::chrono::ceil<std::chrono::seconds>(HealthLimits().longest_silence);
  for (const StoreConfig& store : config == nullptr ? std::vector<StoreConfig>() : config->stores) {
    patience = std::max(patience, 3 * std::chrono::ceil<std::chrono::seconds>(store.poll_interval));
  }
  if (now - set.heartbeat > patience.count()) {
    findings.add(config == nullptr ? Severity::Warning : Severity::Error, subject,
                 to_string(FactCode::LoaderSilent),
                 "its loader gave the last sign of life " + age(set.heartbeat, now));
  } else if (now - set.last_confirmed > patience.count()) {
    findings.add(Severity::Warning, subject, to_string(ErrorKind::Unconfirmed),
                 "its loader is alive, but has confirmed nothing with the store for more than " +
                     format_duration(patience));
  }
}

// "MemAvailable:   12345 kB"; nothing if /proc does not say.
std::optional<std::uint64_t> available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("MemAvailable:")) return std::stoull(line.substr(13)) * 1024;
  }
  return std::nullopt;
}

void check_memory(std::uint64_t next_bytes, Findings& findings) {
  const auto available = available_memory();
  if (!available) return;
  const std::string fact = format_bytes(*available) + " available on this host";
  if (*available >= next_bytes) return findings.ok("memory", fact);
  findings.fail("memory", FactCode::NoMemory,
                fmt::format("{}; the next snapshot may need {}", fact, format_bytes(next_bytes)));
}

SetFacts look_at(const std::string& directory, const std::string& set_name, UnixSeconds now) {
  SetReader reader = status_reader(directory, set_name);
  reader.follow();
  SetFacts set = set_facts(reader, now, Reading::Headers);
  set.damage = damage_of(reader);
  return set;
}

std::string fact_of(const SeenSetFacts& set) {
  if (!set.live) return set.reason;
  return fmt::format("{}: {} of {} in the newest of {}", set.reason.empty() ? "ready" : set.reason,
                     format_count(static_cast<std::uint64_t>(set.live->keys)),
                     format_count_of(set.live->capacity, "key"),
                     format_count_of(set.live->windows, "window"));
}

void check_seen_set(const SeenSetFacts& set, Findings& findings) {
  const std::string subject = "seen set " + set.name;
  const bool is_bypassed = set.availability == Availability::Bypassed;
  if (is_bypassed) findings.warn(subject, FactCode::Bypassed, fact_of(set));
  if (!is_bypassed && set.troubles.empty()) return findings.ok(subject, fact_of(set));
  for (const std::string_view code : set.troubles) {
    findings.add(set.live ? Severity::Warning : Severity::Error, subject, code, fact_of(set));
  }
}

}  // namespace

PublishedSets check_directory(const std::string& directory, const LoaderConfig* config, Findings& findings) {
  PublishedSets published;
  try {
    check_way(directory, findings);
    check_file_system(directory, findings);
    for (const std::string& name : sets_in(directory)) {
      const UnixSeconds now = unix_now();
      const SetFacts& set = published.sets.emplace_back(look_at(directory, name, now));
      check_state(directory, set, now, findings);
      if (set.published) check_ages("set " + name, *set.published, config, now, findings);
    }
    if (published.sets.empty() && (config == nullptr || !config->sets.empty()) &&
        seen_sets_in(directory).empty()) {
      findings.fail("directory", FactCode::NotPublished, directory + ": no set is published here");
    }
    check_room("room", directory, directory, published.largest_bytes(),
               kPublicationsThatFit * published.total_bytes(), findings);
    check_memory(published.largest_bytes(), findings);
    published.is_known = true;
  } catch (const Error& error) {
    findings.fail("directory", error);
  }
  return published;
}

void check_seen_sets(const std::string& directory, const LoaderConfig* config, Findings& findings,
                     const std::string& shm_rmid_forced) {
  std::vector<std::string> names;
  try {
    names = seen_sets_in(directory);
  } catch (const Error& error) {
    return findings.fail("seen sets", error);
  }
  for (const std::string& name : names) {
    check_seen_set(seen_set_facts(directory, name, unix_now()), findings);
    if (config != nullptr && std::ranges::find(config->seen, name, &SeenConfig::name) == config->seen.end())
      findings.warn("seen set " + name, FactCode::NotConfigured, "is here, but not configured");
  }
  const bool has_any = !names.empty() || (config != nullptr && !config->seen.empty());
  if (has_any && is_shm_rmid_forced(shm_rmid_forced))
    findings.warn("seen sets", FactCode::SeenMemoryMayGo, kShmRmidForced);
  if (config == nullptr) return;
  for (const SeenConfig& seen : config->seen) {
    if (std::ranges::find(names, seen.name) == names.end())
      findings.add(Severity::Error, "seen set " + seen.name, to_string(Trouble::SeenMissing),
                   "configured, but not in " + seen_directory(directory));
  }
}

}  // namespace keysieve
