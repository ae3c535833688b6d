// One set of a directory as a reader sees it at this moment: what is published, and whether it answers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/publisher/shm/new_layer.hpp"
#include "core/publisher/shm/trouble.hpp"
#include "core/worker/shm/set_reader.hpp"

namespace keysieve {

inline constexpr std::string_view kLoaderSilent = "loader_silent";

struct BypassStatus {
  bool is_on = false;
  UnixSeconds until = 0;  // 0: until it is switched off
};

struct BypassesStatus {
  BypassStatus by_operator;
  BypassStatus in_store;
};

struct LayerStatus {
  std::uint64_t bytes = 0;  // 0: there is no layer
  std::uint64_t keys = 0;
  LayerFill fill;
};

struct PublicationStatus {
  std::uint64_t publication = 0;
  std::uint64_t generation = 0;  // 0: published from a file
  std::string kind;
  std::string key_profile;  // empty: it has none
  std::uint64_t key_count = 0;
  std::optional<std::uint64_t> known_absent;  // keys; nothing: its shards have no second level
  std::uint64_t bytes = 0;
  std::uint16_t format = 0;
  double estimated_fpr = 0;
  UnixSeconds as_of = 0;
  UnixSeconds published_at = 0;
  UnixSeconds valid_until = 0;     // 0: without end
  UnixSeconds last_confirmed = 0;  // 0: never
  UnixSeconds heartbeat = 0;       // 0: never
  LayerStatus layer;
  std::optional<std::uint64_t> huge_page_bytes;  // nothing: not looked at, or unknown
};

struct SetStatus {
  std::string name;
  Availability availability = Availability::Missing;
  std::optional<ErrorKind> trouble;        // as SetReader::trouble()
  std::string reason;                      // empty: nothing is wrong
  std::optional<BypassesStatus> bypasses;  // nothing: there is no control page
  std::optional<PublicationStatus> published;
  std::optional<std::string> damage;       // as damage_of(), if the caller asked for it
  std::vector<std::string_view> troubles;  // as codes of the runbook; a bypass by will is none
};

// Number of known-absent keys; nothing if the shards have no second level.
std::optional<std::uint64_t> known_absent_of(const SnapshotHeader& header) noexcept;

// A reader that trusts the directory's owner and takes a new publication at once.
SetReader status_reader(const std::string& directory, const std::string& set_name);

// Counting huge pages reads all of a snapshot.
enum class HugePages { Skip, Count };

// Describes what the reader found by its last follow(). Reads all of the live layer.
SetStatus set_status(const SetReader& reader, UnixSeconds now, HugePages huge_pages);

// Reads everything that the reader found by its last follow(), and compares it with its checksums; in the
// live layer only the header has one. Returns what is wrong, even if the publication cannot be attached;
// nothing when all is well.
std::optional<std::string> damage_of(const SetReader& reader);

// One word for `reason`: the name of the trouble, or else of the availability ("ready", "expired",
// "bypassed"). docs/runbook.md has a section for each.
std::string_view code_of(const SetStatus& status) noexcept;

// What a loader has left in shared memory, and whether it is silent though it promised to look again by
// `next_look`.
std::vector<std::string_view> troubles_of_loader(const Troubles& troubles, UnixSeconds next_look,
                                                 UnixSeconds now);

// When the last of the bypasses in force ends; 0 if there is none, or if one has no end.
UnixSeconds bypassed_until(const BypassesStatus& bypasses) noexcept;

}  // namespace keysieve
