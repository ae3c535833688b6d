// All that shared memory shows of one set at this moment: whether it answers and what is published, as a
// reader sees it. Text, JSON, metrics, the status page and the doctor render this.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/publisher/shm/memory_use.hpp"
#include "core/publisher/shm/trouble.hpp"
#include "core/worker/shm/set_reader.hpp"
#include "tools/status/live_publication.hpp"

namespace keysieve {

// Until when each is in force; 0: until it is switched off.
struct Bypasses {
  std::optional<UnixSeconds> by_operator{};
  std::optional<UnixSeconds> in_store{};
  bool is_for_lost_adds = false;  // by the loader

  // When the last of the first two ends; 0 if there is none, or if one has no end.
  [[nodiscard]] UnixSeconds until() const noexcept;
};

struct SetFacts {
  std::string name;
  Availability availability = Availability::Missing;
  std::optional<ErrorKind> trouble;  // as SetReader::trouble()
  std::string reason;                // empty: nothing is wrong
  std::optional<Bypasses> bypasses;  // nothing: there is no control page
  std::optional<LivePublication> published;
  std::vector<std::string_view> troubles;  // as codes of the runbook; a bypass by will is none
};

// Describes what the reader found by its last follow(), or what a status_reader() finds now.
SetFacts set_facts(const SetReader& reader, UnixSeconds now, Reading reading);
SetFacts set_facts(const std::string& directory, const std::string& set_name, UnixSeconds now,
                   Reading reading);

// One word for `reason`: the name of the trouble, or else of the availability ("ready", "expired",
// "bypassed": by will). docs/runbook.md has a section for each.
std::string_view code_of(const SetFacts& set) noexcept;

// Troubles that a loader has left in shared memory, and its silence if it promised to look again by
// `next_look`.
std::vector<std::string_view> troubles_of_loader(const Troubles& troubles, UnixSeconds next_look,
                                                 UnixSeconds now);

// What a directory holds: the memory that its sets take, and whether its file system gives huge pages. For
// operators; a reader knows the name of its set.
struct DirectoryStatus {
  std::string directory;
  MemoryUse memory;
  std::optional<std::string> huge_pages;  // the policy of its tmpfs; nothing on any other file system
};

// Throws MissingInput, Permission.
DirectoryStatus directory_status(const std::string& directory);

// The sets that have a folder there, by name. Throws MissingInput, Permission.
std::vector<std::string> sets_in(const std::string& directory);

}  // namespace keysieve
