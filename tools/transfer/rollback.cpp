#include "tools/transfer/rollback.hpp"

#include <algorithm>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/error.hpp"
#include "tools/program/units.hpp"
#include "tools/transfer/guards.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {
namespace {

std::string list_of_kept(const PointerRecord& pointer) {
  std::string list = std::to_string(pointer.current->generation) + " (current)";
  for (const SnapshotRecord& older : pointer.previous) {
    list += ", " + std::to_string(older.generation);
    if (const auto loss = suspect_loss(pointer, older)) list += " (" + format_share(*loss) + " fewer keys)";
  }
  return list;
}

bool is_done(const PointerRecord& pointer, const RollbackPlan& plan) {
  return pointer.current && pointer.current->generation > plan.current.generation &&
         pointer.current->restores == plan.target.generation &&
         pointer.current->push_id == plan.target.push_id;
}

void check_plan(const PointerRecord& pointer, const RollbackPlan& plan, const std::string& source) {
  if (pointer.current == plan.current && find_kept(pointer, plan.target.push_id) == plan.target) return;
  throw Error(ErrorKind::Locked,
              source + " was pushed or rolled back by another client in the meantime; look at --list again");
}

void check_whole(Store& store, const std::string& set_name, const RollbackPlan& plan,
                 const Progress& progress) {
  const auto fetched = fetch(store, set_name, plan.target, progress);
  const auto* missing = std::get_if<MissingChunk>(&fetched);
  if (missing == nullptr) return;
  const std::string source = name_of(store, set_name, plan.target);
  check_plan(read_stored_pointer(store, set_name).value_or(PointerRecord{}), plan, source);
  throw Error(ErrorKind::Data,
              source + ": is damaged and cannot be rolled back to: " + missing->key + " is missing");
}

}  // namespace

std::optional<double> suspect_loss(const PointerRecord& pointer, const SnapshotRecord& kept) {
  std::uint64_t most_keys = pointer.current->key_count;
  for (const SnapshotRecord& older : pointer.previous) most_keys = std::max(most_keys, older.key_count);
  const double loss = share_lost(most_keys, kept.key_count);
  return loss > kDefaultMaxShrink ? std::optional(loss) : std::nullopt;
}

RollbackPlan plan_rollback(Store& store, const std::string& set_name, std::optional<std::uint64_t> to) {
  const auto pointer = read_pointer(store, set_name);
  const std::string source = store.name() + ": set \"" + set_name + "\"";
  if (!pointer) throw Error(ErrorKind::MissingInput, source + " was never pushed");
  const SnapshotRecord& current = *pointer->current;
  if (to == current.generation) {
    throw Error(ErrorKind::Usage, source + ": generation " + std::to_string(*to) +
                                      " is current; kept: " + list_of_kept(*pointer));
  }
  RollbackPlan plan{current, {}};
  for (const SnapshotRecord& older : pointer->previous) {
    plan.target = older;
    if (to == older.generation || (!to && !suspect_loss(*pointer, older))) return plan;
    if (!to) plan.passed_over.push_back(older);
  }
  if (!to) {
    const std::string reason = plan.passed_over.empty() ? "nothing older is kept"
                                                        : "what is older has far fewer keys; --to takes it";
    throw Error(ErrorKind::MissingInput, source + ": " + reason + "; kept: " + list_of_kept(*pointer));
  }
  throw Error(ErrorKind::Usage, source + ": generation " + std::to_string(*to) +
                                    " is not kept; kept: " + list_of_kept(*pointer));
}

SnapshotRecord rollback(Store& store, const std::string& set_name, const RollbackPlan& plan,
                        const Progress& progress) {
  check_whole(store, set_name, plan, progress);
  const PointerRecord pointer =
      move_current(store, set_name, plan.target.push_id, [&](PointerRecord& changed) {
        if (is_done(changed, plan)) return false;
        check_plan(changed, plan, name_of(store, set_name, plan.current));
        SnapshotRecord record = plan.target;
        record.restores = plan.target.generation;
        make_current(changed, std::move(record));
        return true;
      });
  return pointer.current.value();
}

}  // namespace keysieve
