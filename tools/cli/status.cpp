// keysieve status: what is published in a directory, and whether it answers.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/shm/huge_pages.hpp"
#include "core/shm/memory_use.hpp"
#include "core/shm/published_sets.hpp"
#include "core/shm/set_reader.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/reader_report.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/verbs.hpp"
#include "tools/cli/watch.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

struct StatusOptions {
  std::vector<std::string> set_names;
  std::string directory;
  bool readers = false;
  std::optional<std::chrono::milliseconds> watch;
  bool json = false;
};

struct SetStatus {
  std::string name;
  std::string state;
  std::string reason;
  Json json;
  std::vector<std::string> row;
};

std::string age(UnixSeconds moment, UnixSeconds now) {
  return moment == 0 ? "-" : format_duration(std::chrono::seconds(std::max<UnixSeconds>(0, now - moment)));
}

// 0 in a control page means never.
Json moment_or_null(UnixSeconds moment) {
  return moment == 0 ? Json() : Json(moment);
}

struct BypassMembers {
  BypassSwitch bypass;
  const char* state;
  const char* until;
};
constexpr std::array kBypassMembers{BypassMembers{kOperatorBypass, "bypass", "bypass_until"},
                                    BypassMembers{kStoreBypass, "store_bypass", "store_bypass_until"}};

// Returns when the last of the bypasses in force ends; 0: when it is switched off.
UnixSeconds describe_bypasses(SetStatus& status, const ControlPage& control, UnixSeconds now) {
  const std::uint64_t in_force =
      bypasses_in_force(control, control.current.load(std::memory_order_acquire), now);
  UnixSeconds last = 0;
  bool has_end = true;
  for (const auto& [bypass, state_name, until_name] : kBypassMembers) {
    const bool is_on = (in_force & bypass.bit) != 0;
    const UnixSeconds until = is_on ? (control.*bypass.until).load(std::memory_order_relaxed) : 0;
    status.json[state_name] = is_on;
    status.json[until_name] = moment_or_null(until);
    has_end = has_end && (!is_on || until != 0);
    last = std::max(last, until);
  }
  return has_end ? last : 0;
}

// How many keys were added to the layer, and how full that has made it.
std::string describe_layer(SetStatus& status, const Attachment& attached) {
  const std::uint64_t keys = attached.layer().keys();
  const std::uint64_t bytes = attached.layer().geometry().bytes();
  const LayerFill fill = attached.layer().fill();
  status.json.update({{"live_keys", keys},
                      {"layer_bytes", bytes},
                      {"layer_fill_ratio", bytes == 0 ? Json() : Json(fill.fill_ratio)},
                      {"layer_estimated_fpr", bytes == 0 ? Json() : Json(fill.estimated_fpr)}});
  if (bytes == 0) return "-";
  return fmt::format("{}, {} full", format_count(keys), format_share(fill.fill_ratio));
}

void describe_attachment(SetStatus& status, const Attachment& attached, const ControlPage& control,
                         UnixSeconds now) {
  const SnapshotHeader& header = attached.snapshot().header();
  const UnixSeconds confirmed = control.last_confirmed.load(std::memory_order_relaxed);
  const UnixSeconds heartbeat = control.heartbeat.load(std::memory_order_relaxed);
  const UnixSeconds valid_until = attached.snapshot().valid_until();
  status.json.update({{"publication", attached.id().publication},
                      {"generation", attached.live().generation},
                      {"kind", attached.snapshot().kind().name},
                      {"key_count", header.key_count},
                      {"bytes", header.file_bytes},
                      {"estimated_fpr", header.estimated_fpr},
                      {"as_of", header.as_of},
                      {"published_at", attached.live().published_at},
                      {"valid_until", moment_or_null(valid_until)},
                      {"last_confirmed", moment_or_null(confirmed)},
                      {"heartbeat", moment_or_null(heartbeat)}});
  const std::string layer = describe_layer(status, attached);
  const auto huge_bytes = huge_page_bytes(attached.snapshot().bytes());
  status.json["huge_page_bytes"] = huge_bytes ? Json(*huge_bytes) : Json();
  status.row = {std::to_string(attached.id().publication),
                attached.live().generation == 0 ? "file" : std::to_string(attached.live().generation),
                format_count(header.key_count),
                format_bytes(header.file_bytes),
                huge_bytes
                    ? format_share(static_cast<double>(*huge_bytes) / static_cast<double>(header.file_bytes))
                    : "-",
                format_share(header.estimated_fpr),
                layer,
                age(header.as_of, now),
                age(confirmed, now),
                age(heartbeat, now)};
}

SetStatus status_of(const std::string& directory, const std::string& name) {
  SetReader reader({.directory = directory, .trusted_owner = directory_owner(directory), .max_jitter = {}},
                   name);
  static_cast<void>(reader.pin());
  SetStatus status{name, std::string(to_string(reader.availability())), reader.reason(), Json(), {}};
  status.json = {{"set", name}, {"availability", status.state}};
  status.json["reason"] = status.reason.empty() ? Json() : Json(status.reason);
  if (reader.control() != nullptr) {
    const UnixSeconds until = describe_bypasses(status, *reader.control(), unix_now());
    const bool bypassed = reader.availability() == Availability::Bypassed;
    if (bypassed && until != 0) status.state += " until " + format_moment(until);
  }
  if (reader.attachment() != nullptr)
    describe_attachment(status, *reader.attachment(), *reader.control(), unix_now());
  return status;
}

void print_text(const std::string& directory, const std::vector<SetStatus>& sets, const MemoryUse& use,
                const std::optional<std::string>& huge_pages) {
  Table table({"set", "state", "publication", "generation", "keys", "size", "in huge pages", "estimated FPR",
               "live keys", "as of", "confirmed", "loader"});
  for (const SetStatus& set : sets) {
    std::vector<std::string> row{set.name, set.state};
    const std::vector<std::string> nothing(10, "-");
    const auto& rest = set.row.empty() ? nothing : set.row;
    row.insert(row.end(), rest.begin(), rest.end());
    table.add(row);
  }
  if (sets.empty()) {
    fmt::print("{}: no set is published here\n", directory);
  } else {
    table.print();
  }
  for (const SetStatus& set : sets) {
    if (!set.reason.empty()) fmt::print("{}: {}\n", set.name, set.reason);
  }
  fmt::print("{}: {} in files", directory, format_bytes(use.visible_bytes));
  if (use.pinned_bytes) fmt::print(", {} more pinned by idle workers", format_bytes(*use.pinned_bytes));
  if (huge_pages) fmt::print("; its tmpfs has huge={}", *huge_pages);
  fmt::print("\n");
}

void status(const StatusOptions& options) {
  std::vector<SetStatus> sets;
  for (const std::string& name : options.set_names.empty() ? sets_in(options.directory) : options.set_names) {
    sets.push_back(status_of(options.directory, name));
  }
  const MemoryUse use = memory_use(options.directory);
  const auto huge_pages = huge_page_policy(options.directory);
  std::optional<ReaderReport> readers;
  if (options.readers) readers.emplace(options.directory, options.set_names);
  if (!options.json) {
    print_text(options.directory, sets, use, huge_pages);
    if (readers) readers->print();
    return;
  }
  Json list = Json::array();
  for (const SetStatus& set : sets) list.push_back(set.json);
  Json json{{"directory", options.directory},
            {"visible_bytes", use.visible_bytes},
            {"pinned_bytes", use.pinned_bytes ? Json(*use.pinned_bytes) : Json()},
            {"huge_pages", huge_pages ? Json(*huge_pages) : Json()},
            {"sets", list}};
  if (readers) json.update(readers->json());
  print_json(json);
}

}  // namespace

void add_status(CLI::App& program, Outcome& /*outcome*/) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* verb =
      add_verb(program, "status", "Show what is published in shared memory, and whether it answers",
               "  keysieve status\n"
               "  keysieve status tags --json | jq '.sets[0].availability'\n"
               "  keysieve status --readers\n"
               "  keysieve status --watch 5s\n"
               "Live keys: added since the snapshot was built, and the share of bits that they set.\n"
               "Ages: as of (of the keys), confirmed (loader's last look at the store), loader (its last "
               "sign of life).");
  verb->add_option("SET", options->set_names, "Names of sets [all]");
  add_directory(verb, options->directory);
  verb->add_flag("--readers", options->readers,
                 "Show also which processes have what mapped: all as root, else the caller's own");
  add_watch(verb, options->watch);
  add_json(verb, options->json);
  verb->callback([options] { show_or_watch(options->watch, [options] { status(*options); }); });
}

}  // namespace keysieve
