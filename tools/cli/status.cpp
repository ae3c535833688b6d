// keysieve status: what is published in a directory, and whether it answers.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>

#include "core/base/error.hpp"
#include "core/base/set_name.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/print_json.hpp"
#include "tools/cli/reader_report.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/verbs.hpp"
#include "tools/cli/watch.hpp"
#include "tools/program/units.hpp"
#include "tools/status/published_sets.hpp"
#include "tools/status/status_json.hpp"

namespace keysieve {
namespace {

struct StatusOptions {
  std::vector<std::string> set_names;
  std::string directory;
  bool readers = false;
  bool verify = false;
  std::optional<std::chrono::milliseconds> watch;
  bool json = false;
};

std::string age(UnixSeconds moment, UnixSeconds now) {
  return moment == 0 ? "-" : format_duration(std::chrono::seconds(std::max<UnixSeconds>(0, now - moment)));
}

// How many keys were added to the layer, and how full that has made it.
std::string layer_text(const LayerStatus& layer) {
  if (layer.bytes == 0) return "-";
  return fmt::format("{}, {} full", format_count(layer.keys), format_share(layer.fill.fill_ratio));
}

std::string huge_page_text(const PublicationStatus& published) {
  if (!published.huge_page_bytes) return "-";
  return format_share(static_cast<double>(*published.huge_page_bytes) / static_cast<double>(published.bytes));
}

std::string state_text(const SetStatus& set) {
  std::string state(to_string(set.availability));
  const UnixSeconds until = set.bypasses ? bypassed_until(*set.bypasses) : 0;
  const bool is_bypassed = set.availability == Availability::Bypassed;
  return is_bypassed && until != 0 ? state + " until " + format_moment(until) : state;
}

constexpr std::array kHeadings{"set",       "state", "publication",   "generation",
                               "keys",      "size",  "in huge pages", "estimated FPR",
                               "live keys", "as of", "confirmed",     "loader"};

std::vector<std::string> row_of(const SetStatus& set, UnixSeconds now) {
  std::vector<std::string> row{set.name, state_text(set)};
  if (!set.published) {
    row.resize(kHeadings.size(), "-");
    return row;
  }
  const PublicationStatus& published = *set.published;
  row.insert(row.end(),
             {std::to_string(published.publication),
              published.generation == 0 ? "file" : std::to_string(published.generation),
              format_count(published.key_count), format_bytes(published.bytes), huge_page_text(published),
              format_share(published.estimated_fpr), layer_text(published.layer), age(published.as_of, now),
              age(published.last_confirmed, now), age(published.heartbeat, now)});
  return row;
}

void print_text(const DirectoryStatus& directory, const std::vector<SetStatus>& sets, UnixSeconds now) {
  Table table({kHeadings.begin(), kHeadings.end()});
  for (const SetStatus& set : sets) table.add(row_of(set, now));
  if (sets.empty()) {
    fmt::print("{}: no set is published here\n", directory.directory);
  } else {
    table.print();
  }
  for (const SetStatus& set : sets) {
    if (!set.reason.empty()) fmt::print("{}: {}\n", set.name, set.reason);
  }
  const MemoryUse& use = directory.memory;
  fmt::print("{}: {} in files", directory.directory, format_bytes(use.visible_bytes));
  if (use.pinned_bytes) fmt::print(", {} more pinned by idle workers", format_bytes(*use.pinned_bytes));
  if (directory.huge_pages) fmt::print("; its tmpfs has huge={}", *directory.huge_pages);
  fmt::print("\n");
}

// Of the question, which must be there; else all that are.
std::vector<std::string> wanted_sets(const StatusOptions& options) {
  std::vector<std::string> all = sets_in(options.directory);
  if (options.set_names.empty()) return all;
  for (const std::string& name : options.set_names) {
    if (std::ranges::find(all, checked_set_name(name)) != all.end()) continue;
    throw Error(ErrorKind::MissingInput,
                fmt::format("directory {}: no set \"{}\" is published here", options.directory, name));
  }
  return options.set_names;
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

void status(const StatusOptions& options) {
  const UnixSeconds now = unix_now();
  std::vector<SetStatus> sets;
  for (const std::string& name : wanted_sets(options)) {
    SetReader reader = status_reader(options.directory, name);
    reader.follow();
    sets.push_back(set_status(reader, now, HugePages::Count));
    if (options.verify) sets.back().damage = damage_of(reader);
  }
  check_damage(sets);
  std::optional<ReaderReport> readers;
  if (options.readers) readers.emplace(options.directory, options.set_names);
  const DirectoryStatus directory = directory_status(options.directory);
  if (!options.json) {
    print_text(directory, sets, now);
    if (readers) readers->print();
    return;
  }
  Json json = to_json(directory);
  json["sets"] = Json::array();
  for (const SetStatus& set : sets) json["sets"].push_back(to_json(set));
  if (readers) json.update(readers->json());
  print_json(json);
}

// In the place of a block, for what may be over by the next one: a directory that is not mounted yet, say.
void print_error(const Error& error, bool as_json) {
  if (as_json) return print_json({{"error", error.what()}});
  fmt::print("{}\n", error.what());
}

}  // namespace

void add_status(CLI::App& program, Outcome& /*outcome*/) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* verb =
      add_verb(program, "status", "Show what is published in shared memory, and whether it answers",
               "  keysieve status\n"
               "  keysieve status tags --json | jq '.sets[0].availability'\n"
               "  keysieve status --readers\n"
               "  keysieve status --verify && echo whole\n"
               "  keysieve status --watch 5s\n"
               "Live keys: added since the snapshot was built, and the share of bits that they set.\n"
               "Ages: as of (of the keys), confirmed (loader's last look at the store), loader (its last "
               "sign of life).");
  verb->add_option("SET", options->set_names, "Names of sets [all]");
  add_directory(verb, options->directory);
  verb->add_flag("--readers", options->readers,
                 "Show also which processes have what attached: all as root, else the caller's own");
  verb->add_flag(
      "--verify", options->verify,
      "Read all that is published and compare it with its checksums; exit status 65 if anything differs");
  add_watch(verb, options->watch);
  add_json(verb, options->json);
  verb->callback([options] {
    show_or_watch(
        options->watch, [options] { status(*options); },
        [options](const Error& error) { print_error(error, options->json); });
  });
}

}  // namespace keysieve
