// keysieve status: what is published in a directory, and whether it answers.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
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

constexpr std::chrono::milliseconds kLeastInterval{100};

// In the place of a block, for what may be over by the next one: a directory that is not mounted yet, say.
void print_error(const Error& error) {
  if (is_said_as_json()) return print_json({{"error", error.what()}});
  fmt::print("{}\n", error.what());
}

// Nothing unless it is asked for; two seconds when it is asked for without a time.
void add_watch(CLI::App* verb, std::optional<std::chrono::milliseconds>& interval) {
  const auto parse = [](const std::string& text) {
    const auto parsed = parse_duration(text);
    if (parsed >= kLeastInterval) return parsed;
    throw Error(ErrorKind::Usage, "\"" + text + "\" is too often: 100ms at least");
  };
  add_parsed(verb, "--watch", interval, parse, "Repeat every so often [2s] until Ctrl-C")
      ->type_name("DURATION")
      ->expected(0, 1)
      ->default_str("2s");
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
    add_watch(verb, watch_);
  }

  int run() {
    if (!watch_) return show();
    watch();
    return 0;
  }

 private:
  // The sets that were named, which must be there; without names all.
  Shown look(UnixSeconds now) {
    const std::vector<std::string>& wanted = set_names_;
    const std::string& directory = directory_;
    for (const std::string& name : wanted) static_cast<void>(sets_named(directory, name));
    const auto is_wanted = [&](const std::string& name) {
      return wanted.empty() || std::ranges::find(wanted, name) != wanted.end();
    };
    const Reading reading = verify_ ? Reading::Checksums : Reading::HugePages;
    Shown shown;
    for (const std::string& name : sets_in(directory)) {
      if (is_wanted(name)) shown.sets.push_back(set_facts(directory, name, now, reading));
    }
    for (const std::string& name : seen_sets_in(directory)) {
      if (is_wanted(name)) shown.seen.push_back(seen_set_facts(directory, name, now));
    }
    shown.directory = directory_status(directory);
    return shown;
  }

  // Returns 1 if a set has a trouble, or if there is none.
  int show() {
    const UnixSeconds now = unix_now();
    const Shown shown = look(now);
    if (is_said_as_json()) {
      print_json(to_json(shown));
    } else {
      print_text(shown, now, wide_);
    }
    // After a reboot without a loader nothing is there, which is no good news.
    const bool is_empty = shown.sets.empty() && shown.seen.empty();
    return is_empty || !troubles_of(shown).empty() ? 1 : 0;
  }

  // Until SIGINT or SIGTERM: on a terminal each time over the last, else one below the other. Errors but
  // those of usage are shown, and it goes on.
  void watch() {
    const bool on_terminal = ::isatty(STDOUT_FILENO) != 0;
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int number : {SIGINT, SIGTERM}) ::sigaddset(&signals, number);
    ::sigprocmask(SIG_BLOCK, &signals, nullptr);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(*watch_);
    const timespec pause{.tv_sec = seconds.count(),
                         .tv_nsec = std::chrono::nanoseconds(*watch_ - seconds).count()};
    do {
      if (on_terminal) fmt::print("\033[H\033[2J");
      try {
        show();
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::Usage) throw;
        print_error(error);
      }
      if (!on_terminal) fmt::print("\n");
      flush_output();
    } while (::sigtimedwait(&signals, nullptr, &pause) < 0);
  }

  std::vector<std::string> set_names_;
  std::string directory_;
  bool wide_ = false;
  bool verify_ = false;
  std::optional<std::chrono::milliseconds> watch_;
};

}  // namespace

extern const Verb kStatus{
    "status", "Show what is published in shared memory, and whether it answers",
    "  keysieve status\n"
    "  keysieve status tags --json | jq '.sets[0].availability'\n"
    "  keysieve status --verify && echo whole\n"
    "  keysieve status --watch 5s\n"
    "Added: keys since the snapshot was built. Store checked: when the loader last confirmed that\n"
    "the store has nothing newer. Loader seen: its last sign of life. Sets that PHP itself fills (seen\n"
    "sets) have a table of their own: keys and capacity of their newest window.\n"
    "Trouble: what is wrong, by the codes of docs/runbook.md. Exit status: 0 without trouble, 1 with any\n"
    "(a bypass by will is none), 0 with --watch.",
    prepare<StatusVerb>};

}  // namespace keysieve
