// keysieve list: the sets in a store.
#include <fmt/core.h>

#include "tools/cli/field_table.hpp"
#include "tools/cli/verb.hpp"
#include "tools/program/program.hpp"
#include "tools/records/chunk.hpp"
#include "tools/transfer/stored_sets.hpp"

namespace keysieve {
namespace {

template <auto member>
Json current(const StoredSet& set) {
  return set.pointer.current ? to_value((*set.pointer.current).*member) : Json();
}

const Field<StoredSet> kListFields[]{
    {"set", Unit::Plain, fact<&StoredSet::name>, "", "", "set"},
    {"generation", Unit::Generation, current<&SnapshotRecord::generation>, "", "", "generation"},
    {"key_count", Unit::Count, current<&SnapshotRecord::key_count>, "", "", "keys"},
    {"as_of", Unit::Moment, current<&SnapshotRecord::as_of>, "", "", "as of"},
    {"bytes", Unit::Size, current<&SnapshotRecord::bytes>, "", "", "size"},
    {"kind", Unit::Plain, current<&SnapshotRecord::kind>, "", "", "kind"},
    {"build_id", Unit::Plain,
     [](auto& set) { return set.pointer.current ? Json(to_hex(set.pointer.current->build_id)) : Json(); }, "",
     "", "build"},
    {"failure", Unit::Plain, [](auto& set) { return set.failure ? Json(set.failure->what()) : Json(); }},
};

void print(const std::string& store, const std::vector<StoredSet>& sets) {
  if (is_said_as_json())
    return print_json({{"store", store}, {"sets", list_of<StoredSet>(kListFields, sets)}});
  if (sets.empty()) return fmt::print("{}: holds no sets\n", store);
  print_columns<StoredSet>(kListFields, sets, 0, /*is_wide=*/false);
  for (const StoredSet& set : sets) {
    if (set.failure) fmt::print("{}: {}\n", set.name, set.failure->what());
  }
}

class ListVerb {
 public:
  void declare(CLI::App* verb) { verb->add_option("URL", store_url_, store_help())->required(); }

  // The exit status is that of the first record that cannot be used.
  int run() {
    const auto store = open_given_store(store_url_, StoreUse::List);
    const std::vector<StoredSet> sets = stored_sets(*store);
    print(store->name(), sets);
    for (const StoredSet& set : sets) {
      if (set.failure) return exit_status_of(set.failure->kind());
    }
    return 0;
  }

 private:
  std::string store_url_;
};

}  // namespace

extern const Verb kList{
    "list", "List the sets in a store",
    "  keysieve list lmdb:/var/lib/keysieve\n"
    "  keysieve list redis://cache:6379/2 --json | jq -r '.sets[].set'\n"
    "It reads the names of all records. keysieve rollback SET --list URL says what else the store\n"
    "keeps of a set, keysieve status what this host has.",
    prepare<ListVerb>};

}  // namespace keysieve
