// keysieve list: the sets in a store, or of this host.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/program/optional_json.hpp"
#include "tools/program/program.hpp"
#include "tools/program/units.hpp"
#include "tools/records/chunk.hpp"
#include "tools/status/set_facts.hpp"
#include "tools/transfer/stored_sets.hpp"

namespace keysieve {
namespace {

struct ListOptions {
  std::string store_url;
  std::string directory;
};

struct ListedSet {
  std::string name;
  std::optional<SnapshotRecord>
      current{};  // generation 0: published from a file; nothing if it cannot be read
  std::string failure{};
};

std::vector<ListedSet> sets_of_store(Store& store, int& exit_status) {
  std::vector<ListedSet> listed;
  for (const StoredSet& set : stored_sets(store)) {
    if (set.failure) {
      listed.push_back({set.name, {}, set.failure->what()});
      if (exit_status == 0) exit_status = exit_status_of(set.failure->kind());
      continue;
    }
    listed.push_back({set.name, set.pointer.current});
  }
  return listed;
}

std::vector<ListedSet> sets_of_directory(const std::string& directory) {
  std::vector<ListedSet> listed;
  for (const std::string& name : sets_in(directory)) {
    SetReader reader = status_reader(directory, name);
    reader.follow();
    const Attachment* attached = reader.attachment();
    if (attached == nullptr) {
      listed.push_back({name, {}, std::string(reader.reason())});
      continue;
    }
    const LivePublication live = live_publication(*attached, *reader.control(), Reading::Headers);
    SnapshotRecord current;
    current.generation = live.generation;
    current.build_id = live.build_id;
    current.kind = live.kind;
    current.key_count = live.key_count;
    current.bytes = live.bytes;
    current.as_of = live.as_of;
    listed.push_back({name, std::move(current)});
  }
  return listed;
}

Json to_json(const ListedSet& set) {
  const auto& current = set.current;
  const auto member = [&current](const auto& value_of) {
    return current ? Json(value_of(*current)) : Json();
  };
  const bool is_from_file = current && current->generation == 0;
  return {{"set", set.name},
          {"generation", is_from_file ? Json() : member([](const auto& one) { return one.generation; })},
          {"build_id", member([](const auto& one) { return to_hex(one.build_id); })},
          {"kind", member([](const auto& one) { return one.kind; })},
          {"key_count", member([](const auto& one) { return one.key_count; })},
          {"bytes", member([](const auto& one) { return one.bytes; })},
          {"as_of", member([](const auto& one) { return one.as_of; })},
          {"failure", text_or_null(set.failure)}};
}

void print_table(const std::vector<ListedSet>& sets) {
  Table table({"set", "generation", "keys", "as of", "size", "kind", "build"});
  for (const ListedSet& set : sets) {
    if (!set.current) {
      table.add({set.name, "-", "-", "-", "-", "-", "-"});
      continue;
    }
    const SnapshotRecord& current = *set.current;
    table.add({set.name, current.generation == 0 ? "file" : std::to_string(current.generation),
               format_count(current.key_count), format_moment(current.as_of), format_bytes(current.bytes),
               current.kind, to_hex(current.build_id)});
  }
  table.print();
  for (const ListedSet& set : sets) {
    if (!set.failure.empty()) fmt::print("{}: {}\n", set.name, set.failure);
  }
}

void print(const ListOptions& options, const std::string& where, const std::vector<ListedSet>& sets) {
  if (is_said_as_json()) {
    Json list = Json::array();
    for (const ListedSet& set : sets) list.push_back(to_json(set));
    return print_json({{options.store_url.empty() ? "directory" : "store", where}, {"sets", list}});
  }
  if (sets.empty()) {
    fmt::print("{}: holds no sets\n", where);
  } else {
    print_table(sets);
  }
}

// Returns the exit status: that of the first record in a store that cannot be used.
int list(const ListOptions& options) {
  if (options.store_url.empty()) {
    print(options, options.directory, sets_of_directory(options.directory));
    return 0;
  }
  const auto store = open_given_store(options.store_url, StoreUse::List);
  int exit_status = 0;
  const std::vector<ListedSet> sets = sets_of_store(*store, exit_status);
  print(options, store->name(), sets);
  return exit_status;
}

}  // namespace

void add_list(CLI::App& program, VerbResult& result) {
  auto options = std::make_shared<ListOptions>();
  CLI::App* verb =
      add_verb(program, "list", "List the sets in a store, or those published on this host",
               "  keysieve list lmdb:/var/lib/keysieve\n"
               "  keysieve list redis://cache:6379/2 --json | jq -r '.sets[].set'\n"
               "  keysieve list\n"
               "It reads the names of all records in a store. keysieve status says whether the sets of this\n"
               "host answer, keysieve rollback SET --list URL what else a store keeps.");
  verb->add_option("URL", options->store_url, store_help() + " [the sets of this host]");
  add_directory(verb, options->directory);
  verb->callback([options, &result] { result.exit_status = list(*options); });
}

}  // namespace keysieve
