#include "tools/transfer/update.hpp"

#include <algorithm>
#include <unordered_set>

#include "core/base/error.hpp"
#include "core/snapshot/editor.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {
namespace {

// Each means that a whole push of somebody else went through while this one was at work.
constexpr int kMaxRaces = 8;

// A set may be large: its kind is known before it is fetched.
void check_kind(Store& store, const std::string& set_name, const KeyChanges& changes) {
  const auto geometry = current_geometry(store, set_name);
  const auto pointer = read_pointer(store, set_name);
  if (!geometry || !pointer) return;  // pull() says so
  check_can_add(*geometry->kind, set_name);
  if (!changes.removed.empty()) {
    check_can_remove(*geometry->kind, set_name, pointer->current->counters_bytes != 0);
  }
}

// An update that is repeated though it was done counts keys twice, or removes others: whoever is told that it
// failed must know which it was.
PushResult push_update(Store& store, const SnapshotRecord& base, const SnapshotView& view,
                       const Guards& guards, const Progress& progress, Bytes counters) {
  const std::string next = "generation " + std::to_string(base.generation + 1);
  try {
    return push_over(store, base, view, guards, progress, unix_now(), counters);
  } catch (const UnconfirmedError& error) {
    throw UnconfirmedError(std::string(error.what()) +
                           "; the update is in it: do not repeat it unless a failover loses " + next);
  } catch (const UnavailableError& error) {
    throw UnavailableError(std::string(error.what()) +
                           "; before you repeat the update, see with keysieve rollback --list that " + next +
                           " is not there");
  }
}

UpdateResult update_once(Store& store, const std::string& set_name, const KeyChanges& changes, Guards guards,
                         const Progress& progress) {
  Pulled base = pull_with_counters(store, set_name, progress);
  SnapshotEditor editor(SnapshotView::decode(base.snapshot.get(), store.name(), Check::Tables),
                        std::move(base.counters));
  for (const std::string& key : changes.added) editor.add(key);
  for (const std::string& key : changes.removed) editor.remove(key);
  const std::uint64_t new_keys = editor.new_keys();
  const std::uint64_t removed_keys = editor.removed_keys();
  const SnapshotBytes updated = editor.finish(changes.as_of);
  const std::optional<SnapshotBytes> counters = editor.take_counters();
  const SnapshotView view = SnapshotView::decode(updated.get(), store.name(), Check::Tables);
  if (!guards.max_fpr) guards.max_fpr = default_max_fpr(view.header().target_fpr);
  PushResult pushed =
      push_update(store, base.record, view, guards, progress, counters ? counters->get() : Bytes{});
  return {std::move(pushed), new_keys, removed_keys, view.header().estimated_fpr};
}

// Whether it is to be there in the end, nobody could tell.
void check_lists(const std::string& set_name, const KeyChanges& changes) {
  const std::unordered_set<std::string_view> removed(changes.removed.begin(), changes.removed.end());
  const auto both = std::find_if(changes.added.begin(), changes.added.end(),
                                 [&removed](const std::string& key) { return removed.contains(key); });
  if (both == changes.added.end()) return;
  throw UsageError("set \"" + set_name + "\": key \"" + *both + "\" is in the lists to add and to remove");
}

}  // namespace

UpdateResult update(Store& store, const std::string& set_name, const KeyChanges& changes,
                    const Guards& guards, const Progress& progress) {
  check_lists(set_name, changes);
  for (int races = 0; races < kMaxRaces; ++races) {
    check_kind(store, set_name, changes);
    try {
      return update_once(store, set_name, changes, guards, progress);
    } catch (const SupersededError&) {  // begins again from what is current now
    }
  }
  throw LockedError(store.name() + ": set \"" + set_name +
                    "\": is pushed by others all the time; try again later");
}

}  // namespace keysieve
