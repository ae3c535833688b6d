// keysieve rollback: an older generation that a store keeps becomes current again.
#include "tools/transfer/rollback.hpp"

#include <fmt/core.h>

#include "core/worker/base/set_name.hpp"
#include "tools/cli/set_names.hpp"
#include "tools/cli/snapshot_file.hpp"
#include "tools/cli/verb.hpp"
#include "tools/status/fields.hpp"
#include "tools/transfer/guards.hpp"

namespace keysieve {
namespace {

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
          {"restores", to_value_if_any(record.restores)},
          {"as_of", record.as_of},
          {"key_count", record.key_count},
          {"kind", record.kind},
          {"bytes", record.bytes},
          {"suspect_loss", loss ? Json(*loss) : Json()},
          {"build_id", to_hex(record.build_id)},
          {"adds_from", to_text(record.adds_from)}};
}

class RollbackVerb {
 public:
  void declare(CLI::App* verb) {
    add_argument_and_url(verb, "SET", set_name_, "Name of the set", store_url_);
    auto* to = add_parsed(verb, "--to GENERATION", to_, parse_count, "Go back to this one [the one before]");
    auto* list = verb->add_flag("--list", list_, "Show what is kept, and change nothing")->excludes(to);
    verb->add_flag("-y,--yes", yes_, "Do not ask")->excludes(list);
  }

  int run() {
    const auto store = open_given_store(store_url_, list_ ? StoreUse::Read : StoreUse::Write);
    checked_set_name(set_name_);
    if (list_) {
      list_kept(*store);
      return 0;
    }
    check_pushed(*store, set_name_);
    const RollbackPlan plan = plan_rollback(*store, set_name_, to_);
    for (const SnapshotRecord& record : plan.passed_over) {
      print_note(fmt::format("passed over {}: it has so few keys that loaders have probably refused it",
                             summary_of(record)));
    }
    if (!is_wanted(*store, plan)) return kExitDeclined;
    report(*store, plan, roll_back(*store, plan));
    return 0;
  }

 private:
  void list_kept(Store& store) {
    const PointerRecord pointer = check_pushed(store, set_name_);
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
    print_json({{"set", set_name_}, {"store", store.name()}, {"generations", list}});
  }

  bool is_wanted(const Store& store, const RollbackPlan& plan) {
    if (yes_) return true;
    const std::string loss = loss_text(plan);
    const std::string from = summary_of(plan.current);
    const std::string to = summary_of(plan.target);
    return is_confirmed(fmt::format("set \"{}\" of {}\n  from  {}\n  to    {}\n{}Roll back?", set_name_,
                                    store.name(), from, to, loss.empty() ? "" : "  loses " + loss + "\n"),
                        fmt::format("{}: set \"{}\" would go from {} back to {}{}", store.name(), set_name_,
                                    from, to, loss.empty() ? "" : ", and lose " + loss));
  }

  SnapshotRecord roll_back(Store& store, const RollbackPlan& plan) {
    ProgressLine progress("checking the snapshot in " + store.name());
    return rollback(store, set_name_, plan, progress.in_bytes());
  }

  void report(const Store& store, const RollbackPlan& plan, const SnapshotRecord& record) {
    Report report;
    report.add("set", set_name_);
    report.add("store", store.name());
    report.add("was", summary_of(plan.current), "replaces", plan.current.generation);
    report.add("is", summary_of(plan.target), "restores", record.restores);
    report.add_if(loss_of(plan) > 0, "lost", loss_text(plan), "lost_share", loss_of(plan), 0.0);
    report.add("now called", fmt::format("generation {}", record.generation), "generation",
               record.generation);
    report.add_member("as_of", record.as_of);
    report.add_member("replaced_as_of", plan.current.as_of);
    report.add_member("key_count", record.key_count);
    report.add_member("kind", record.kind);
    report.print();
  }

  std::string set_name_;
  std::string store_url_;
  std::optional<std::uint64_t> to_;
  bool list_ = false;
  bool yes_ = false;
};

}  // namespace

extern const Verb kRollback{
    "rollback", "Make an older generation in a store the current one again",
    "  keysieve rollback tags --list lmdb:/var/lib/keysieve\n"
    "  keysieve rollback tags lmdb:/var/lib/keysieve\n"
    "  keysieve rollback tags --to 41 --yes redis://cache:6379/2\n"
    "Every loader that follows the store takes it at once, even with fewer keys. Keys that were\n"
    "added since it was built stay. A generation with 20 % fewer keys than another kept one is passed\n"
    "over: loaders have probably refused it. --list marks it, and --to takes it. rollback asks "
    "first on a terminal; exit status 1 if you decline.",
    prepare<RollbackVerb>};

}  // namespace keysieve
