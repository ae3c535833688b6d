#include "tools/transfer/update.hpp"

#include <algorithm>
#include <unordered_set>

#include "core/builder/partition/shard_order.hpp"
#include "core/builder/snapshot/editor.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/error.hpp"
#include "tools/program/units.hpp"
#include "tools/signatures/verify.hpp"
#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {
namespace {

// Each try means that another process completed a whole push while this one was at work.
constexpr int kMaxUpdates = 8;

// Checks the kind before the set is fetched, which may be large.
void check_kind(Store& store, const std::string& set_name, const KeyChanges& changes) {
  const auto pointer = read_pointer(store, set_name);
  const FilterKind* kind = pointer ? find_filter_kind(pointer->current->kind) : nullptr;
  if (kind == nullptr) return;  // pull() says why
  check_can_add(*kind, set_name);
  if (!changes.removed.empty()) check_can_remove(*kind, set_name, pointer->current->counters_bytes != 0);
}

// A second removal of the same key would take another key away.
std::vector<KeyHash> distinct_hashes(const std::vector<std::string>& keys, const KeyHasher& hasher) {
  std::vector<KeyHash> hashes;
  hashes.reserve(keys.size());
  for (const std::string& key : keys) hashes.push_back(hasher(key));
  sort_and_dedupe(hashes);
  return hashes;
}

void warn_of_keys_that_stay(const std::string& set_name, UpdateResult& result) {
  if (result.removed_keys == result.keys_to_remove) return;
  result.pushed.warnings.push_back(
      "set \"" + set_name + "\": removed " + std::to_string(result.removed_keys) + " of " +
      format_count_of(result.keys_to_remove, "key") +
      "; the rest is certainly not in the set, or was added so often that its copies are no longer counted");
}

// Repeating an update that was done would count keys twice, or remove others. So the error must say whether
// the update may be done.
PushResult push_update(Store& store, const SnapshotRecord& base, const SnapshotView& view,
                       const Guards& guards, const Progress& progress, Bytes counters) {
  const std::string next = "generation " + std::to_string(base.generation + 1);
  try {
    return push_over(store, base, view, guards, progress, unix_now(), counters);
  } catch (const Error& error) {
    if (!error.is_outage()) throw;
    const std::string advice =
        error.kind() == ErrorKind::Unconfirmed
            ? "; the update is in it: do not repeat it unless a failover loses " + next
            : "; before you repeat the update, see with keysieve rollback --list that " + next +
                  " is not there";
    throw Error(error.kind(), error.what() + advice);
  }
}

// What is signed must not rest on what anyone may have written.
void check_base(const SnapshotView& snapshot, const SnapshotRecord& record, const Signer& signer,
                const std::string& source) {
  check_signature(snapshot, {signer.public_key()}, source);
  if (record.counters_bytes == 0) return;
  throw Error(ErrorKind::Usage, source +
                                    ": has counters, which are not signed but decide what a removal "
                                    "makes absent; build it again without --counting");
}

UpdateResult update_once(Store& store, const std::string& set_name, const KeyChanges& changes, Guards guards,
                         const Progress& progress, const Signer* signer) {
  Pulled base = pull_with_counters(store, set_name, progress);
  const SnapshotView before = SnapshotView::decode(base.snapshot.get(), store.name(), Check::Tables);
  if (signer != nullptr) check_base(before, base.record, *signer, name_of(store, set_name, base.record));
  SnapshotEditor editor(before, std::move(base.counters), signer);
  const KeyHasher hasher(base.record.seed);
  const std::vector<KeyHash> removed = distinct_hashes(changes.removed, hasher);
  for (const KeyHash& hash : removed) editor.remove(hash);  // first: makes room for what is added
  for (const KeyHash& hash : distinct_hashes(changes.added, hasher)) editor.add(hash);
  UpdateResult result{.pushed = {},
                      .new_keys = editor.new_keys(),
                      .is_exact = editor.keeps_keys_apart(),
                      .keys_to_remove = removed.size(),
                      .removed_keys = editor.removed_keys()};
  const SnapshotBytes updated = editor.finish(changes.as_of);
  const std::optional<SnapshotBytes> counters = editor.take_counters();
  const SnapshotView view = SnapshotView::decode(updated.get(), store.name(), Check::Tables);
  if (!guards.max_fpr) guards.max_fpr = default_max_fpr(view.header().target_fpr);
  result.estimated_fpr = view.header().estimated_fpr;
  result.pushed =
      push_update(store, base.record, view, guards, progress, counters ? counters->get() : Bytes{});
  warn_of_keys_that_stay(set_name, result);
  return result;
}

// Refuses a key in both lists: it is unclear whether it should be in the set in the end.
void check_lists(const std::string& set_name, const KeyChanges& changes) {
  const std::unordered_set<std::string_view> removed(changes.removed.begin(), changes.removed.end());
  const auto both = std::find_if(changes.added.begin(), changes.added.end(),
                                 [&removed](const std::string& key) { return removed.contains(key); });
  if (both == changes.added.end()) return;
  throw Error(ErrorKind::Usage,
              "set \"" + set_name + "\": key \"" + *both + "\" is in the lists to add and to remove");
}

}  // namespace

UpdateResult update(Store& store, const std::string& set_name, const KeyChanges& changes,
                    const Guards& guards, const Progress& progress, const Signer* signer) {
  check_lists(set_name, changes);
  for (int races = 0; races < kMaxUpdates; ++races) {
    check_kind(store, set_name, changes);
    try {
      return update_once(store, set_name, changes, guards, progress, signer);
    } catch (const Error& error) {  // begins again from what is current now
      if (error.kind() != ErrorKind::Superseded) throw;
    }
  }
  throw Error(ErrorKind::Locked,
              store.name() + ": set \"" + set_name + "\": other clients keep pushing it; try again later");
}

}  // namespace keysieve
