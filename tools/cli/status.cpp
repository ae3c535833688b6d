// keysieve status: what is published in a directory, and whether it answers.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <csignal>
#include <memory>
#include <set>

#include "core/worker/base/error.hpp"
#include "core/worker/base/set_name.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/set_names.hpp"
#include "tools/cli/verbs.hpp"
#include "tools/program/accounts.hpp"
#include "tools/program/units.hpp"
#include "tools/status/directory_status.hpp"
#include "tools/status/reader_processes.hpp"
#include "tools/status/seen_status.hpp"
#include "tools/status/status_json.hpp"

namespace keysieve {
namespace {

constexpr int kHasTrouble = 1;

struct StatusOptions {
  std::vector<std::string> set_names;
  std::string directory;
  bool wide = false;
  bool readers = false;
  bool verify = false;
  std::optional<std::chrono::milliseconds> watch;
  bool json = false;
};

std::string format_age(UnixSeconds moment, UnixSeconds now) {
  return format_duration(std::chrono::seconds(std::max<UnixSeconds>(0, now - moment)));
}

std::string ago_if_any(UnixSeconds moment, UnixSeconds now) {
  if (moment == 0) return "-";
  const std::string span = format_duration(std::chrono::seconds(std::abs(now - moment)));
  const std::string longest_unit = span.substr(0, span.find(' '));
  return moment > now ? "in " + longest_unit : longest_unit + " ago";
}

std::string share_if_any(const std::optional<std::uint64_t>& part, std::uint64_t whole) {
  return part ? format_share(static_cast<double>(*part) / static_cast<double>(whole)) : "-";
}

std::string count_if_any(const std::optional<std::uint64_t>& count) {
  return count ? format_count(*count) : "-";
}

std::string generation_text(const PublicationStatus& published) {
  return published.generation == 0 ? "file" : std::to_string(published.generation);
}

// "none", or the codes: "refused,not_cached".
constexpr std::string_view kNoTrouble = "none";

std::string words_of(const std::vector<std::string_view>& troubles) {
  return troubles.empty() ? std::string(kNoTrouble) : fmt::format("{}", fmt::join(troubles, ","));
}

struct Column {
  const char* heading;
  bool is_wide;  // shown only with --wide: the others usually fit into 100 columns
  std::string (*cell)(const PublicationStatus& published, UnixSeconds now);
};

constexpr std::array<Column, 12> kColumns{{
    {"publication", true, [](const auto& set, auto) { return std::to_string(set.publication); }},
    {"generation", false, [](const auto& set, auto) { return generation_text(set); }},
    {"keys", false, [](const auto& set, auto) { return format_count(set.key_count); }},
    {"known absent", true, [](const auto& set, auto) { return count_if_any(set.known_absent); }},
    {"added", false,
     [](const auto& set, auto) { return set.layer.bytes == 0 ? "-" : format_count(set.layer.keys); }},
    {"live layer full", true,
     [](const auto& set, auto) {
       return set.layer.bytes == 0 ? "-" : format_share(set.layer.fill.fill_ratio);
     }},
    {"size", true, [](const auto& set, auto) { return format_bytes(set.bytes); }},
    {"in huge pages", true,
     [](const auto& set, auto) { return share_if_any(set.huge_page_bytes, set.bytes); }},
    {"estimated FPR", true, [](const auto& set, auto) { return format_share(set.estimated_fpr); }},
    {"keys as of", false, [](const auto& set, auto now) { return ago_if_any(set.as_of, now); }},
    {"store checked", false, [](const auto& set, auto now) { return ago_if_any(set.last_confirmed, now); }},
    {"loader seen", false, [](const auto& set, auto now) { return ago_if_any(set.heartbeat, now); }},
}};

// Of the states that set_status() and seen_status() name.
Colour colour_of_state(const std::string& state) {
  if (state == to_string(Availability::Ready)) return Colour::None;
  const bool is_meant = state == to_string(Availability::Bypassed);
  return is_meant ? Colour::Yellow : Colour::Red;
}

Colour colour_of_trouble(const std::string& words) {
  return words == kNoTrouble ? Colour::None : Colour::Red;
}

void colour_health(Table& table) {
  table.colour_column(1, colour_of_state);
  table.colour_column(2, colour_of_trouble);
}

Table table_of(const std::vector<SetStatus>& sets, UnixSeconds now, bool is_wide) {
  const auto row = [is_wide](std::string set, std::string state, std::string trouble, const auto& cell_of) {
    std::vector<std::string> cells{std::move(set), std::move(state), std::move(trouble)};
    for (const Column& column : kColumns) {
      if (is_wide || !column.is_wide) cells.push_back(cell_of(column));
    }
    return cells;
  };
  Table table(
      row("set", "state", "trouble", [](const Column& column) { return std::string(column.heading); }));
  colour_health(table);
  for (const SetStatus& set : sets) {
    table.add(row(set.name, std::string(to_string(set.availability)), words_of(set.troubles),
                  [&](const Column& column) {
                    return set.published ? column.cell(*set.published, now) : std::string("-");
                  }));
  }
  return table;
}

// Why the set does not answer, and until when if that is known.
void print_reason(const SetStatus& set) {
  if (set.reason.empty()) return;
  const bool is_bypassed = set.availability == Availability::Bypassed && set.bypasses;
  const UnixSeconds until = is_bypassed ? bypassed_until(*set.bypasses) : 0;
  fmt::print("{}: {}{}\n", set.name, set.reason, until == 0 ? "" : ", until " + format_moment(until));
}

// Also what PHP gets meanwhile.
void print_reason(const SeenStatus& set) {
  if (set.reason.empty()) return;
  fmt::print("{}: {}{}{}\n", set.name, set.reason,
             set.bypass_until == 0 ? "" : ", until " + format_moment(set.bypass_until),
             set.on_unavailable ? fmt::format("; on_unavailable is {}", to_string(*set.on_unavailable)) : "");
}

struct SeenColumn {
  const char* heading;
  bool is_wide;
  std::string (*cell)(const SeenFacts& live, UnixSeconds now);
};

constexpr std::array<SeenColumn, 8> kSeenColumns{{
    {"keys of window", false,
     [](const auto& live, auto) { return "≈ " + format_count(static_cast<std::uint64_t>(live.keys)); }},
    {"made for", false, [](const auto& live, auto) { return format_count(live.capacity); }},
    {"window ends", true, [](const auto& live, auto now) { return ago_if_any(live.newest_ends, now); }},
    {"windows", false, [](const auto& live, auto) { return format_count(live.windows); }},
    {"filters", true, [](const auto& live, auto) { return format_count(live.filters); }},
    {"estimated FPR", false, [](const auto& live, auto) { return format_share(live.estimated_fpr); }},
    {"planned FPR", true, [](const auto& live, auto) { return format_share(live.target_fpr); }},
    {"size", false, [](const auto& live, auto) { return format_bytes(live.bytes); }},
}};

void print_seen(const std::vector<SeenStatus>& sets, UnixSeconds now, bool is_wide) {
  const auto row = [is_wide](std::vector<std::string> cells, const auto& cell_of, std::string loader_seen,
                             std::string on_unavailable) {
    for (const SeenColumn& column : kSeenColumns) {
      if (is_wide || !column.is_wide) cells.push_back(cell_of(column));
    }
    cells.push_back(std::move(loader_seen));
    if (is_wide) cells.push_back(std::move(on_unavailable));
    return cells;
  };
  Table table(row(
      {"seen set", "state", "trouble"}, [](const SeenColumn& column) { return std::string(column.heading); },
      "loader seen", "on_unavailable"));
  colour_health(table);
  for (const SeenStatus& set : sets) {
    table.add(row(
        {set.name, std::string(to_string(set.availability)), words_of(set.troubles)},
        [&](const SeenColumn& column) { return set.live ? column.cell(*set.live, now) : std::string("-"); },
        ago_if_any(set.looked_at, now),
        set.on_unavailable ? std::string(to_string(*set.on_unavailable)) : "-"));
  }
  table.print();
  for (const SeenStatus& set : sets) print_reason(set);
}

using Codes = std::set<std::string_view>;

Codes troubles_of(const std::vector<SetStatus>& sets, const std::vector<SeenStatus>& seen) {
  Codes codes;
  for (const SetStatus& set : sets) codes.insert(set.troubles.begin(), set.troubles.end());
  for (const SeenStatus& set : seen) codes.insert(set.troubles.begin(), set.troubles.end());
  return codes;
}

void print_text(const DirectoryStatus& directory, const std::vector<SetStatus>& sets,
                const std::vector<SeenStatus>& seen, UnixSeconds now, bool is_wide) {
  if (!sets.empty()) {
    table_of(sets, now, is_wide).print();
  } else if (seen.empty()) {
    fmt::print("{}: no set is published here\n", directory.directory);
  }
  for (const SetStatus& set : sets) print_reason(set);
  if (!seen.empty()) print_seen(seen, now, is_wide);
  for (const std::string_view code : troubles_of(sets, seen))
    fmt::print("{}: docs/runbook.md#{}\n", code, code);
  const MemoryUse& use = directory.memory;
  fmt::print("{}: {} in files", directory.directory, format_bytes(use.visible_bytes));
  if (use.pinned_bytes) fmt::print(", {} more pinned by idle workers", format_bytes(*use.pinned_bytes));
  if (directory.huge_pages) fmt::print("; its tmpfs has huge={}", *directory.huge_pages);
  fmt::print("\n");
}

// So that the table of readers fits into 100 columns.
constexpr std::size_t kShownProgram = 20;
constexpr std::size_t kShownProgramWide = 60;

// Cuts UTF-8 between characters, never within one.
std::string shortened(const std::string& program, std::size_t shown) {
  if (program.size() <= shown) return program;
  std::size_t end = shown - 1;
  while (end > 0 && (static_cast<unsigned char>(program[end]) & 0xC0) == 0x80) --end;
  return program.substr(0, end) + "…";
}

// Which processes have which publication of the wanted sets attached.
ReaderProcesses readers_of(const StatusOptions& options) {
  ReaderProcesses found = reader_processes(options.directory);
  if (options.set_names.empty()) return found;
  std::erase_if(found.readers, [&](const ReaderProcess& reader) {
    return std::ranges::find(options.set_names, reader.set_name) == options.set_names.end();
  });
  return found;
}

void print_text(const ReaderProcesses& found, UnixSeconds now, bool is_wide) {
  fmt::print("\n");
  if (found.readers.empty()) {
    fmt::print("no process has a set attached\n");
  } else {
    Table table({"set", "publication", "size", "held", "pid", "user", "runs for", "program"});
    for (const ReaderProcess& reader : found.readers) {
      table.add({reader.set_name, std::to_string(reader.publication), format_bytes(reader.bytes),
                 reader.is_removed ? "pinned" : "published", std::to_string(reader.pid),
                 user_name(reader.uid), format_age(reader.started_at, now),
                 shortened(reader.program, is_wide ? kShownProgramWide : kShownProgram)});
    }
    table.print();
  }
  if (found.unreadable != 0) {
    fmt::print("processes that could not be looked into: {} (needs CAP_SYS_PTRACE)\n",
               format_count(found.unreadable));
  }
}

Json to_json(const ReaderProcess& reader) {
  return {{"set", reader.set_name},    {"publication", reader.publication},
          {"bytes", reader.bytes},     {"pinned", reader.is_removed},
          {"pid", reader.pid},         {"user", user_name(reader.uid)},
          {"program", reader.program}, {"started_at", reader.started_at}};
}

struct WantedSets {
  std::vector<std::string> published;
  std::vector<std::string> seen;
};

// The sets that were named, which must be there; without names all.
WantedSets wanted_sets(const StatusOptions& options) {
  WantedSets all{sets_in(options.directory), seen_sets_in(options.directory)};
  if (options.set_names.empty()) return all;
  WantedSets wanted;
  for (const std::string& name : options.set_names) {
    const bool is_published = std::ranges::find(all.published, checked_set_name(name)) != all.published.end();
    const bool is_seen = std::ranges::find(all.seen, name) != all.seen.end();
    if (is_published) wanted.published.push_back(name);
    if (is_seen) wanted.seen.push_back(name);
    if (!is_published && !is_seen) refuse_unpublished(options.directory, name);
  }
  return wanted;
}

// Throws Data that names all sets whose bytes are not those that were published.
void check_damage(const std::vector<SetStatus>& sets) {
  std::string damaged;
  for (const SetStatus& set : sets) {
    if (set.damage)
      damaged +=
          fmt::format("{}set \"{}\" is damaged: {}", damaged.empty() ? "" : "; ", set.name, *set.damage);
  }
  if (!damaged.empty()) throw Error(ErrorKind::Data, damaged);
}

// Whether a set has a trouble, or there is none.
bool status(const StatusOptions& options) {
  const UnixSeconds now = unix_now();
  std::vector<SetStatus> sets;
  const WantedSets wanted = wanted_sets(options);
  for (const std::string& name : wanted.published) {
    SetReader reader = status_reader(options.directory, name);
    reader.follow();
    sets.push_back(set_status(reader, now, HugePages::Count));
    if (options.verify) sets.back().damage = damage_of(reader);
  }
  check_damage(sets);
  std::optional<ReaderProcesses> readers;
  if (options.readers) readers = readers_of(options);
  std::vector<SeenStatus> seen;
  for (const std::string& name : wanted.seen) seen.push_back(seen_status(options.directory, name, now));
  const DirectoryStatus directory = directory_status(options.directory);
  // After a reboot without a loader nothing is there, which is no good news.
  const bool is_empty = sets.empty() && seen.empty();
  const bool has_trouble = is_empty || !troubles_of(sets, seen).empty();
  if (!options.json) {
    print_text(directory, sets, seen, now, options.wide);
    if (readers) print_text(*readers, now, options.wide);
    return has_trouble;
  }
  Json json = to_json(directory);
  json["sets"] = Json::array();
  for (const SetStatus& set : sets) json["sets"].push_back(to_json(set));
  json["seen_sets"] = Json::array();
  for (const SeenStatus& set : seen) json["seen_sets"].push_back(to_json(set));
  if (readers) {
    json["readers"] = Json::array();
    for (const ReaderProcess& reader : readers->readers) json["readers"].push_back(to_json(reader));
    json["unreadable_processes"] = readers->unreadable;
  }
  print_json(json);
  return has_trouble;
}

constexpr std::chrono::milliseconds kLeastInterval{100};

// Their arrival ends a wait and is not an end of the program.
sigset_t block_stop_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// Whether one came within that time.
bool is_stopped_within(std::chrono::milliseconds interval, const sigset_t& signals) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(interval);
  const std::chrono::nanoseconds rest = interval - seconds;
  const timespec time{.tv_sec = seconds.count(), .tv_nsec = rest.count()};
  return ::sigtimedwait(&signals, nullptr, &time) > 0;
}

// In the place of a block, for what may be over by the next one: a directory that is not mounted yet, say.
void print_error(const Error& error, bool as_json) {
  if (as_json) return print_json({{"error", error.what()}});
  fmt::print("{}\n", error.what());
}

// Until SIGINT or SIGTERM: on a terminal each time over the last, else one below the other. Errors but those
// of usage are shown, and it goes on.
void watch(const StatusOptions& options) {
  const bool on_terminal = ::isatty(STDOUT_FILENO) != 0;
  const sigset_t signals = block_stop_signals();
  do {
    if (on_terminal) fmt::print("\033[H\033[2J");
    try {
      status(options);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::Usage) throw;
      print_error(error, options.json);
    }
    if (!on_terminal) fmt::print("\n");
    flush_output();
  } while (!is_stopped_within(*options.watch, signals));
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

}  // namespace

void add_status(CLI::App& program, VerbResult& result) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* verb = add_verb(
      program, "status", "Show what is published in shared memory, and whether it answers",
      "  keysieve status\n"
      "  keysieve status tags --json | jq '.sets[0].availability'\n"
      "  keysieve status --readers\n"
      "  keysieve status --verify && echo whole\n"
      "  keysieve status --watch 5s\n"
      "Added: keys since the snapshot was built. Store checked: when the loader last confirmed that\n"
      "the store has nothing newer. Loader seen: its last sign of life. Sets that PHP itself fills (seen\n"
      "sets) have a table of their own: keys and capacity of their newest window.\n"
      "Trouble: what is wrong, by the codes of docs/runbook.md. Exit status: 0 without trouble, 1 with any\n"
      "(a bypass by will is none), 0 with --watch.");
  verb->add_option("SET", options->set_names, "Names of sets [all]");
  add_directory(verb, options->directory);
  verb->add_flag(
      "--wide", options->wide,
      "Show also publication, known-absent keys, size, estimated FPR, huge pages and how full the live "
      "layer is; of seen sets when the window ends, filters, planned FPR and on_unavailable");
  verb->add_flag("--readers", options->readers,
                 "Show also which processes have what attached: all as root, else the caller's own");
  verb->add_flag(
      "--verify", options->verify,
      "Read all that is published and compare it with its checksums; exit status 65 if anything differs");
  add_watch(verb, options->watch);
  add_json(verb, options->json);
  verb->callback([options, &result] {
    if (options->watch) return watch(*options);
    if (status(*options)) result.exit_status = kHasTrouble;
  });
}

}  // namespace keysieve
