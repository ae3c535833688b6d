// keysieve rollback: an older generation that a store keeps becomes current again.
#include "tools/transfer/rollback.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "core/worker/base/error.hpp"
#include "core/worker/base/set_name.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/set_names.hpp"
#include "tools/program/optional_json.hpp"
#include "tools/program/units.hpp"
#include "tools/transfer/guards.hpp"

namespace keysieve {
namespace {

struct RollbackOptions {
  std::string set_name;
  std::string store_url;
  std::optional<std::uint64_t> to;
  bool list = false;
  bool yes = false;
};

std::string summary(const SnapshotRecord& record) {
  return fmt::format("generation {}: as of {}, {}, {}", record.generation, format_moment(record.as_of),
                     format_count_of(record.key_count, "key"), record.kind);
}

double loss_of(const RollbackPlan& plan) {
  return share_lost(plan.current.key_count, plan.target.key_count);
}

// By the counts; others may have come in place of lost keys. Empty if the counts show no loss.
std::string loss_text(const RollbackPlan& plan) {
  const double loss = loss_of(plan);
  return loss > 0 ? fmt::format("at least {} of the keys", format_share(loss)) : "";
}

Json to_json(const SnapshotRecord& record, bool is_current, const std::optional<double>& loss) {
  return {{"generation", record.generation},
          {"current", is_current},
          {"restores", number_or_null(record.restores)},
          {"as_of", record.as_of},
          {"key_count", record.key_count},
          {"kind", record.kind},
          {"bytes", record.bytes},
          {"suspect_loss", loss ? Json(*loss) : Json()},
          {"build_id", to_hex(record.build_id)},
          {"adds_from", to_text(record.adds_from)}};
}

void list_kept(const RollbackOptions& options, Store& store) {
  const PointerRecord pointer = check_pushed(store, options.set_name);
  Table table({"generation", "state", "as of", "keys", "kind", "size", "restores", "adds from"});
  Json list = Json::array();
  const auto add = [&](const SnapshotRecord& record, bool is_current) {
    const auto loss = suspect_loss(pointer, record);
    list.push_back(to_json(record, is_current, loss));
    std::string state = is_current ? "current" : "kept";
    if (loss) state += fmt::format(", {} fewer keys", format_share(*loss));
    table.add({std::to_string(record.generation), state, format_moment(record.as_of),
               format_count(record.key_count), record.kind, format_bytes(record.bytes),
               record.restores == 0 ? "-" : std::to_string(record.restores), to_text(record.adds_from)});
  };
  add(*pointer.current, true);
  for (const SnapshotRecord& older : pointer.previous) add(older, false);
  if (!is_said_as_json()) return table.print();
  print_json({{"set", options.set_name}, {"store", store.name()}, {"generations", list}});
}

bool is_wanted(const RollbackOptions& options, const Store& store, const RollbackPlan& plan) {
  if (options.yes) return true;
  const std::string loss = loss_text(plan);
  const std::string from = summary(plan.current);
  const std::string to = summary(plan.target);
  return is_confirmed(fmt::format("set \"{}\" of {}\n  from  {}\n  to    {}\n{}Roll back?", options.set_name,
                                  store.name(), from, to, loss.empty() ? "" : "  loses " + loss + "\n"),
                      fmt::format("{}: set \"{}\" would go from {} back to {}{}", store.name(),
                                  options.set_name, from, to, loss.empty() ? "" : ", and lose " + loss));
}

SnapshotRecord roll_back(const RollbackOptions& options, Store& store, const RollbackPlan& plan) {
  ProgressLine progress("checking the snapshot in " + store.name());
  return rollback(store, options.set_name, plan, progress.in_bytes());
}

void report(const RollbackOptions& options, const Store& store, const RollbackPlan& plan,
            const SnapshotRecord& record) {
  Report report;
  report.add("set", options.set_name, "set", options.set_name);
  report.add("store", store.name(), "store", store.name());
  report.add("was", summary(plan.current), "replaces", plan.current.generation);
  report.add("is", summary(plan.target), "restores", record.restores);
  report.add_if(loss_of(plan) > 0, "lost", loss_text(plan), "lost_share", loss_of(plan), 0.0);
  report.add("now called", fmt::format("generation {}", record.generation), "generation", record.generation);
  report.add_member("as_of", record.as_of);
  report.add_member("replaced_as_of", plan.current.as_of);
  report.add_member("key_count", record.key_count);
  report.add_member("kind", record.kind);
  report.print();
}

// Returns the exit status.
int run(const RollbackOptions& options) {
  checked_set_name(options.set_name);
  const auto store = open_given_store(options.store_url, options.list ? StoreUse::Read : StoreUse::Write);
  if (options.list) {
    list_kept(options, *store);
    return 0;
  }
  check_pushed(*store, options.set_name);
  const RollbackPlan plan = plan_rollback(*store, options.set_name, options.to);
  for (const SnapshotRecord& record : plan.passed_over) {
    print_note(fmt::format("passed over {}: it has so few keys that loaders have probably refused it",
                           summary(record)));
  }
  if (!is_wanted(options, *store, plan)) return kExitDeclined;
  report(options, *store, plan, roll_back(options, *store, plan));
  return 0;
}

}  // namespace

void add_rollback(CLI::App& program, VerbResult& result) {
  auto options = std::make_shared<RollbackOptions>();
  CLI::App* verb = add_verb(
      program, "rollback", "Make an older generation in a store the current one again",
      "  keysieve rollback tags --list lmdb:/var/lib/keysieve\n"
      "  keysieve rollback tags lmdb:/var/lib/keysieve\n"
      "  keysieve rollback tags --to 41 --yes redis://cache:6379/2\n"
      "Every loader that follows the store takes it at once, even with fewer keys. Keys that were\n"
      "added since it was built stay. A generation with 20 % fewer keys than another kept one is passed\n"
      "over: loaders have probably refused it. --list marks it, and --to takes it. rollback asks "
      "first on a terminal; exit status 1 if you decline.");
  add_argument_and_url(verb, "SET", options->set_name, "Name of the set", options->store_url);
  auto* to = add_parsed(verb, "--to", options->to, parse_count, "Go back to this one [the one before]")
                 ->type_name("GENERATION");
  auto* list = verb->add_flag("--list", options->list, "Show what is kept, and change nothing")->excludes(to);
  verb->add_flag("-y,--yes", options->yes, "Do not ask")->excludes(list);
  verb->callback([options, &result] {
    put_url_last(options->set_name, options->store_url);
    result.exit_status = run(*options);
  });
}

}  // namespace keysieve
