// keysieve status: what is published in a directory, and whether it answers.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "core/base/error.hpp"
#include "core/base/set_name.hpp"
#include "core/shm/memory_use.hpp"
#include "core/shm/set_reader.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/verbs.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

struct StatusOptions {
  std::vector<std::string> set_names;
  std::string directory;
  bool json = false;
};

std::vector<std::string> sets_in(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(directory, failure), end; !failure && at != end;
       at.increment(failure)) {
    const std::string name = at->path().filename();
    std::error_code unreadable;
    if (is_set_name(name) && at->is_directory(unreadable)) names.push_back(name);
  }
  if (failure) throw_read_error("directory " + directory, failure.value());
  std::sort(names.begin(), names.end());
  return names;
}

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
  status.row = {std::to_string(attached.id().publication),
                attached.live().generation == 0 ? "file" : std::to_string(attached.live().generation),
                format_count(header.key_count),
                format_bytes(header.file_bytes),
                format_share(header.estimated_fpr),
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
    const bool bypassed = reader.availability() == Availability::Bypassed;
    status.json["bypass"] = bypassed;
    const UnixSeconds until = reader.control()->bypass_until.load(std::memory_order_relaxed);
    status.json["bypass_until"] = bypassed ? moment_or_null(until) : Json();
    if (bypassed && until != 0) status.state += " until " + format_moment(until);
  }
  if (reader.attachment() != nullptr)
    describe_attachment(status, *reader.attachment(), *reader.control(), unix_now());
  return status;
}

void print_text(const std::string& directory, const std::vector<SetStatus>& sets, const MemoryUse& use) {
  Table table({"set", "state", "publication", "generation", "keys", "size", "estimated FPR", "as of",
               "confirmed", "loader"});
  for (const SetStatus& set : sets) {
    std::vector<std::string> row{set.name, set.state};
    const std::vector<std::string> nothing(8, "-");
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
  fmt::print("\n");
}

void status(const StatusOptions& options) {
  std::vector<SetStatus> sets;
  for (const std::string& name : options.set_names.empty() ? sets_in(options.directory) : options.set_names) {
    sets.push_back(status_of(options.directory, name));
  }
  const MemoryUse use = memory_use(options.directory);
  if (!options.json) return print_text(options.directory, sets, use);
  Json list = Json::array();
  for (const SetStatus& set : sets) list.push_back(set.json);
  print_json({{"directory", options.directory},
              {"visible_bytes", use.visible_bytes},
              {"pinned_bytes", use.pinned_bytes ? Json(*use.pinned_bytes) : Json()},
              {"sets", list}});
}

}  // namespace

void add_status(CLI::App& program, Outcome& /*outcome*/) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* verb =
      add_verb(program, "status", "Show what is published in shared memory, and whether it answers",
               "  keysieve status\n"
               "  keysieve status tags --json | jq '.sets[0].availability'\n"
               "Ages: as of (of the keys), confirmed (loader's last look at the store), loader (its last "
               "sign of life).");
  verb->add_option("SET", options->set_names, "Names of sets [all]");
  add_directory(verb, options->directory);
  add_json(verb, options->json);
  verb->callback([options] { status(*options); });
}

}  // namespace keysieve
