// keysieve status: what is published in a directory, and whether it answers.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <set>

#include "core/worker/base/error.hpp"
#include "core/worker/base/set_name.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/set_names.hpp"
#include "tools/program/units.hpp"
#include "tools/status/seen_set_facts.hpp"
#include "tools/status/set_facts.hpp"

namespace keysieve {
namespace {

constexpr int kHasTrouble = 1;

struct StatusOptions {
  std::vector<std::string> set_names;
  std::string directory;
  bool wide = false;
  bool verify = false;
  std::optional<std::chrono::milliseconds> watch;
};

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

// "none", or the codes: "refused,not_cached".
constexpr std::string_view kNoTrouble = "none";

std::string words_of(const std::vector<std::string_view>& troubles) {
  return troubles.empty() ? std::string(kNoTrouble) : fmt::format("{}", fmt::join(troubles, ","));
}

// A column about what is live in a set, or about the set itself.
template <typename Facts>
struct Column {
  const char* heading;
  bool is_wide;  // shown only with --wide: the others usually fit into 100 columns
  std::string (*cell)(const Facts& facts, UnixSeconds now);
};

constexpr std::array<Column<LivePublication>, 13> kColumns{{
    {"publication", true, [](const auto& live, auto) { return std::to_string(live.id.publication); }},
    {"generation", false,
     [](const auto& live, auto) { return live.generation == 0 ? "file" : std::to_string(live.generation); }},
    {"keys", false, [](const auto& live, auto) { return format_count(live.key_count); }},
    {"known absent", true, [](const auto& live, auto) { return count_if_any(live.known_absent); }},
    {"values", true,
     [](const auto& live, auto) {
       return live.value_bits == 0 ? "-" : format_count_of(live.value_bits, "bit");
     }},
    {"added", false,
     [](const auto& live, auto) { return live.layer_fill ? format_count(live.added_keys) : "-"; }},
    {"live layer full", true,
     [](const auto& live, auto) {
       return live.layer_fill ? format_share(live.layer_fill->fill_ratio) : "-";
     }},
    {"size", true, [](const auto& live, auto) { return format_bytes(live.bytes); }},
    {"in huge pages", true,
     [](const auto& live, auto) { return share_if_any(live.huge_page_bytes, live.bytes); }},
    {"estimated FPR", true, [](const auto& live, auto) { return format_share(live.estimated_fpr); }},
    {"keys as of", false, [](const auto& live, auto now) { return ago_if_any(live.as_of, now); }},
    {"store checked", false, [](const auto& live, auto now) { return ago_if_any(live.last_confirmed, now); }},
    {"loader seen", false, [](const auto& live, auto now) { return ago_if_any(live.heartbeat, now); }},
}};
constexpr std::array<Column<SetFacts>, 0> kSetColumns{};

constexpr std::array<Column<SeenFacts>, 8> kWindowColumns{{
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
constexpr std::array<Column<SeenSetFacts>, 2> kSeenSetColumns{{
    {"loader seen", false, [](const auto& set, auto now) { return ago_if_any(set.looked_at, now); }},
    {"on_unavailable", true,
     [](const auto& set, auto) {
       return set.on_unavailable ? std::string(to_string(*set.on_unavailable)) : "-";
     }},
}};

// Knows the states that set_facts() and seen_set_facts() name.
Colour colour_of_state(const std::string& state) {
  if (state == to_string(Availability::Ready)) return Colour::None;
  const bool is_meant = state == to_string(Availability::Bypassed);
  return is_meant ? Colour::Yellow : Colour::Red;
}

Colour colour_of_trouble(const std::string& words) {
  return words == kNoTrouble ? Colour::None : Colour::Red;
}

// Why the set does not answer, and until when if that is known.
void print_reason(const SetFacts& set) {
  if (set.reason.empty()) return;
  const bool is_by_will = set.bypasses && code_of(set) == to_string(Availability::Bypassed);
  const UnixSeconds until = is_by_will ? bypassed_until(*set.bypasses) : 0;
  fmt::print("{}: {}{}\n", set.name, set.reason, until == 0 ? "" : ", until " + format_moment(until));
}

// Also what PHP gets meanwhile.
void print_reason(const SeenSetFacts& set) {
  if (set.reason.empty()) return;
  fmt::print("{}: {}{}{}\n", set.name, set.reason,
             set.bypass_until == 0 ? "" : ", until " + format_moment(set.bypass_until),
             set.on_unavailable ? fmt::format("; on_unavailable is {}", to_string(*set.on_unavailable)) : "");
}

// The table, and below it why sets do not answer.
template <typename Set, typename Live>
void print_table(const char* what, const std::vector<Set>& sets, std::optional<Live> Set::*live_of,
                 const auto& columns_of_live, const auto& columns_of_set, UnixSeconds now, bool is_wide) {
  const auto add = [is_wide](std::vector<std::string>& row, const auto& columns, const auto& cell_of) {
    for (const auto& column : columns) {
      if (is_wide || !column.is_wide) row.push_back(cell_of(column));
    }
  };
  const auto heading_of = [](const auto& column) { return std::string(column.heading); };
  std::vector<std::string> headings{what, "state", "trouble"};
  add(headings, columns_of_live, heading_of);
  add(headings, columns_of_set, heading_of);
  Table table(std::move(headings));
  table.colour_column(1, colour_of_state);
  table.colour_column(2, colour_of_trouble);
  for (const Set& set : sets) {
    const std::optional<Live>& live = set.*live_of;
    std::vector<std::string> row{set.name, std::string(to_string(set.availability)), words_of(set.troubles)};
    add(row, columns_of_live,
        [&](const auto& column) { return live ? column.cell(*live, now) : std::string("-"); });
    add(row, columns_of_set, [&](const auto& column) { return column.cell(set, now); });
    table.add(std::move(row));
  }
  table.print();
  for (const Set& set : sets) print_reason(set);
}

void print_text(const Shown& shown, UnixSeconds now, bool is_wide) {
  const auto& [directory, sets, seen] = shown;
  if (!sets.empty()) print_table("set", sets, &SetFacts::published, kColumns, kSetColumns, now, is_wide);
  if (!seen.empty())
    print_table("seen set", seen, &SeenSetFacts::live, kWindowColumns, kSeenSetColumns, now, is_wide);
  if (sets.empty() && seen.empty()) fmt::print("{}: no set is published here\n", directory.directory);
  for (const std::string_view code : troubles_of(shown)) fmt::print("{}: docs/runbook.md#{}\n", code, code);
  const MemoryUse& use = directory.memory;
  fmt::print("{}: {} in files", directory.directory, format_bytes(use.visible_bytes));
  if (use.pinned_bytes) fmt::print(", {} more pinned by idle workers", format_bytes(*use.pinned_bytes));
  if (directory.huge_pages) fmt::print("; its tmpfs has huge={}", *directory.huge_pages);
  fmt::print("\n");
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
void check_damage(const std::vector<SetFacts>& sets) {
  std::string damaged;
  for (const SetFacts& set : sets) {
    if (set.damage)
      damaged +=
          fmt::format("{}set \"{}\" is damaged: {}", damaged.empty() ? "" : "; ", set.name, *set.damage);
  }
  if (!damaged.empty()) throw Error(ErrorKind::Data, damaged);
}

Shown look(const StatusOptions& options, UnixSeconds now) {
  Shown shown;
  const WantedSets wanted = wanted_sets(options);
  for (const std::string& name : wanted.published) {
    SetReader reader = status_reader(options.directory, name);
    reader.follow();
    shown.sets.push_back(set_facts(reader, now, Reading::HugePages));
    if (options.verify) shown.sets.back().damage = damage_of(reader);
  }
  check_damage(shown.sets);
  for (const std::string& name : wanted.seen)
    shown.seen.push_back(seen_set_facts(options.directory, name, now));
  shown.directory = directory_status(options.directory);
  return shown;
}

template <typename Facts>
Json list_json(const std::vector<Facts>& list) {
  Json json = Json::array();
  for (const Facts& facts : list) json.push_back(to_json(facts));
  return json;
}

Json to_json(const Shown& shown) {
  Json json = to_json(shown.directory);
  json["sets"] = list_json(shown.sets);
  json["seen_sets"] = list_json(shown.seen);
  return json;
}

// Whether a set has a trouble, or there is none.
bool status(const StatusOptions& options) {
  const UnixSeconds now = unix_now();
  const Shown shown = look(options, now);
  if (is_said_as_json()) {
    print_json(to_json(shown));
  } else {
    print_text(shown, now, options.wide);
  }
  // After a reboot without a loader nothing is there, which is no good news.
  const bool is_empty = shown.sets.empty() && shown.seen.empty();
  return is_empty || !troubles_of(shown).empty();
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
void print_error(const Error& error) {
  if (is_said_as_json()) return print_json({{"error", error.what()}});
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
      print_error(error);
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
  verb->add_flag(
      "--verify", options->verify,
      "Read all that is published and compare it with its checksums; exit status 65 if anything differs");
  add_watch(verb, options->watch);
  verb->callback([options, &result] {
    if (options->watch) return watch(*options);
    if (status(*options)) result.exit_status = kHasTrouble;
  });
}

}  // namespace keysieve
