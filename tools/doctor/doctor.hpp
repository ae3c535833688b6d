// The doctor: looks at a directory, and at everything a loader's configuration names, with the rights of the
// user who runs it, and reports what it finds. It changes nothing and never switches users. Used by `keysieve
// doctor`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/doctor/findings.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/status/seen_set_facts.hpp"
#include "tools/status/set_facts.hpp"

namespace keysieve {

// What is published in a directory, as far as this user may see it.
struct PublishedSets {
  bool is_known = false;
  std::vector<SetFacts> sets;

  // nullptr when there is no such set.
  [[nodiscard]] const SetFacts* find(const std::string& set_name) const;
  // Size of the largest snapshot, and of all together; 0 when there is none.
  [[nodiscard]] std::uint64_t largest_bytes() const;
  [[nodiscard]] std::uint64_t total_bytes() const;
};

// Checks the directory: each folder on the way to it, its file system, its sets with all their checksums,
// room and memory. A silent loader is only a warning without a configuration, which says how often the loader
// looks.
PublishedSets check_directory(const std::string& directory, const LoaderConfig* config, Findings& findings);

// Looks at the seen sets of the directory, and at those that are configured (nullptr: unknown).
// `shm_rmid_forced`: the file that says whether the kernel keeps their memory; only tests set it.
void check_seen_sets(const std::string& directory, const LoaderConfig* config, Findings& findings,
                     const std::string& shm_rmid_forced = kShmRmidForcedFile);

// Compares what the configuration names with what is published: sets, cache, stores.
void check_loader(const LoaderConfig& config, const PublishedSets& published, Findings& findings);

// "keysieve:www-data 0750". Throws MissingInput, Permission.
std::string owner_and_mode(const std::string& path);

// Checks how much is free where the folder is; `fact` says which folder that is. no_room is an error if
// `next_bytes` are not free, and a warning if the whole file system is smaller than `wanted_bytes` (0:
// never).
void check_room(const std::string& subject, const std::string& folder, std::string fact,
                std::uint64_t next_bytes, std::uint64_t wanted_bytes, Findings& findings);

// Runs all checks; without a configuration only those of the directory.
Findings examine(const std::string& directory, const std::optional<std::string>& config_path);

}  // namespace keysieve
