// keysieve status: what is published in a directory, and whether it answers.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tools/cli/field_table.hpp"
#include "tools/cli/set_names.hpp"
#include "tools/cli/verb.hpp"

namespace keysieve {
namespace {

// What is shown at one moment.
struct Shown {
  DirectoryStatus directory;
  std::vector<SetFacts> sets;
  std::vector<SeenSetFacts> seen;
};

using Codes = std::set<std::string_view>;

Codes troubles_of(const Shown& shown) {
  Codes codes;
  for (const SetFacts& set : shown.sets) codes.insert(set.troubles.begin(), set.troubles.end());
  for (const SeenSetFacts& set : shown.seen) codes.insert(set.troubles.begin(), set.troubles.end());
  return codes;
}

// Why the set does not answer, and until when if that is known.
void print_reason(const SetFacts& set) {
  if (set.reason.empty()) return;
  const bool is_by_will = set.bypasses && code_of(set) == to_string(Availability::Bypassed);
  const UnixSeconds until = is_by_will ? set.bypasses->until() : 0;
  fmt::print("{}: {}{}\n", set.name, set.reason, until == 0 ? "" : ", until " + format_moment(until));
}

// Also what PHP gets meanwhile.
void print_reason(const SeenSetFacts& set) {
  if (set.reason.empty()) return;
  fmt::print("{}: {}{}{}\n", set.name, set.reason,
             set.bypass_until == 0 ? "" : ", until " + format_moment(set.bypass_until),
             set.on_unavailable ? fmt::format("; on_unavailable is {}", to_string(*set.on_unavailable)) : "");
}

void print_text(const Shown& shown, UnixSeconds now, bool is_wide) {
  const auto& [directory, sets, seen] = shown;
  if (!sets.empty()) print_columns(kSetFields, sets, now, is_wide);
  for (const SetFacts& set : sets) print_reason(set);
  if (!seen.empty()) print_columns(kSeenSetFields, seen, now, is_wide);
  for (const SeenSetFacts& set : seen) print_reason(set);
  if (sets.empty() && seen.empty()) fmt::print("{}: no set is published here\n", directory.directory);
  for (const std::string_view code : troubles_of(shown)) fmt::print("{}: docs/runbook.md#{}\n", code, code);
  const MemoryUse& use = directory.memory;
  fmt::print("{}: {} in files", directory.directory, format_bytes(use.visible_bytes));
  if (use.pinned_bytes) fmt::print(", {} more pinned by idle workers", format_bytes(*use.pinned_bytes));
  if (directory.huge_pages) fmt::print("; its tmpfs has huge={}", *directory.huge_pages);
  fmt::print("\n");
}

Json to_json(const Shown& shown) {
  Json json = object_of(kDirectoryFields, shown.directory);
  json["sets"] = list_of(kSetFields, shown.sets);
  json["seen_sets"] = list_of(kSeenSetFields, shown.seen);
  return json;
}

class StatusVerb {
 public:
  void declare(CLI::App* verb) {
    verb->add_option("SET", set_names_, "Names of sets [all]");
    add_directory(verb, directory_);
    verb->add_flag(
        "--wide", wide_,
        "Show also publication, known-absent keys, size, estimated FPR, huge pages and how full the live "
        "layer is; of seen sets when the window ends, filters, planned FPR and on_unavailable");
    verb->add_flag(
        "--verify", verify_,
        "Read all that is published and compare it with its checksums; the trouble is then \"damaged\"");
  }

  // Returns 1 if a set has a trouble, or if there is none.
  int run() {
    const UnixSeconds now = unix_now();
    const Shown shown = look(now);
    is_said_as_json() ? print_json(to_json(shown)) : print_text(shown, now, wide_);
    // After a reboot without a loader nothing is there, which is no good news.
    const bool is_empty = shown.sets.empty() && shown.seen.empty();
    return is_empty || !troubles_of(shown).empty() ? 1 : 0;
  }

 private:
  // The sets that were named, which must be there; without names all.
  Shown look(UnixSeconds now) {
    for (const std::string& name : set_names_) static_cast<void>(sets_named(directory_, name));
    const auto is_wanted = [&](const std::string& name) {
      return set_names_.empty() || std::ranges::count(set_names_, name) != 0;
    };
    const Reading reading = verify_ ? Reading::Checksums : Reading::HugePages;
    Shown shown;
    for (const std::string& name : sets_in(directory_)) {
      if (is_wanted(name)) shown.sets.push_back(set_facts(directory_, name, now, reading));
    }
    for (const std::string& name : seen_sets_in(directory_)) {
      if (is_wanted(name)) shown.seen.push_back(seen_set_facts(directory_, name, now));
    }
    shown.directory = directory_status(directory_);
    return shown;
  }

  std::vector<std::string> set_names_;
  std::string directory_;
  bool wide_ = false;
  bool verify_ = false;
};

}  // namespace

extern const Verb kStatus{
    "status", "Show what is published in shared memory, and whether it answers",
    "  keysieve status\n"
    "  keysieve status tags --json | jq '.sets[0].availability'\n"
    "  keysieve status --verify && echo whole\n"
    "  watch -n 5 keysieve status\n"
    "Added: keys since the snapshot was built. Store checked: when the loader last confirmed that\n"
    "the store has nothing newer. Loader seen: its last sign of life. Sets that PHP itself fills (seen\n"
    "sets) have a table of their own: keys and capacity of their newest window.\n"
    "Trouble: what is wrong, by the codes of docs/runbook.md. Exit status: 0 without trouble, 1 with any\n"
    "(a bypass by will is none).",
    prepare<StatusVerb>};

}  // namespace keysieve
