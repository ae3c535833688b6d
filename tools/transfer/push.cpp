#include <algorithm>

#include "core/base/error.hpp"
#include "tools/transfer/chunk.hpp"
#include "tools/transfer/hex.hpp"
#include "tools/transfer/pending_pushes.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

// A lost race means that somebody else's push went through; so many in a row are no accident.
constexpr int kMaxRaces = 32;

std::vector<SnapshotRecord> generations_of(const PointerRecord& pointer) {
  std::vector<SnapshotRecord> generations{pointer.current};
  generations.insert(generations.end(), pointer.previous.begin(), pointer.previous.end());
  return generations;
}

bool keeps(const std::optional<PointerRecord>& pointer, const BuildId& build_id) {
  if (!pointer) return false;
  const auto kept = generations_of(*pointer);
  return std::any_of(kept.begin(), kept.end(),
                     [&](const SnapshotRecord& record) { return record.build_id == build_id; });
}

PointerRecord successor(const std::optional<PointerRecord>& before, SnapshotRecord record) {
  PointerRecord next;
  if (before) {
    next.previous = generations_of(*before);
    next.previous.resize(std::min(next.previous.size(), kKeptGenerations - 1));
  }
  record.generation = before ? before->current.generation + 1 : 1;
  next.current = std::move(record);
  return next;
}

std::vector<std::string> changes(const std::string& set_name, const SnapshotRecord& before,
                                 const SnapshotRecord& now) {
  std::vector<std::string> warnings;
  const auto compare = [&](const std::string& what, const std::string& old_value,
                           const std::string& new_value) {
    if (old_value == new_value) return;
    warnings.push_back("set \"" + set_name + "\": " + what + " changed from " + old_value + " to " +
                       new_value + "; build --like keeps it");
  };
  compare("kind", before.kind, now.kind);
  compare("hash count", std::to_string(before.hash_count), std::to_string(now.hash_count));
  compare("shard size", std::to_string(before.shard_bytes), std::to_string(now.shard_bytes));
  compare("shard count", std::to_string(before.shard_count), std::to_string(now.shard_count));
  compare("seed", to_hex(before.seed), to_hex(now.seed));
  return warnings;
}

// One push of one snapshot.
class Push {
 public:
  Push(Store& store, const SnapshotView& snapshot, const Guards& guards, UnixSeconds now)
      : store_(store),
        snapshot_(snapshot),
        guards_(guards),
        set_name_(snapshot.set_name()),
        record_(describe(snapshot)),
        pending_(store, set_name_),
        own_{record_.build_id, record_.chunk_count, now} {}

  PushResult run(const Progress& progress) {
    StoredPointer before = look();
    announce(before.record);
    try {
      put_chunks(progress);
      return move_pointer(std::move(before));
    } catch (const Error& error) {
      // Where only the answer was lost, the pointer has moved or still may: that is left to a later push.
      if (error.kind() != ErrorKind::Unavailable) withdraw();
      throw;
    }
  }

 private:
  // The generation before, which this one must bear comparison with.
  StoredPointer look() {
    StoredPointer pointer = read_stored_pointer(store_, set_name_);
    std::optional<std::uint64_t> previous_keys;
    if (pointer.record) {
      previous_keys = pointer.record->current.key_count;
      check_not_forged(*pointer.record);
    }
    check_guards(guards_, snapshot_, previous_keys);
    return pointer;
  }

  // Chunks go by build id: other bytes under the same id would destroy those that are there.
  void check_not_forged(const PointerRecord& pointer) const {
    for (const SnapshotRecord& kept : generations_of(pointer)) {
      if (kept.build_id == record_.build_id && kept.checksum != record_.checksum) {
        throw DataError(store_.name() + ": set \"" + set_name_ + "\": generation " +
                        std::to_string(kept.generation) + " has this build id and other bytes");
      }
    }
  }

  // Before the first chunk; removes what earlier pushes left, which may make the room for this one.
  void announce(const std::optional<PointerRecord>& pointer) {
    pending_.update([&](std::vector<PendingPush>& pushes) {
      for (const PendingPush& push : take_abandoned(pushes, own_.started_at)) {
        const bool is_needed = push.build_id == own_.build_id || keeps(pointer, push.build_id);
        if (!is_needed && !is_listed(pushes, push.build_id)) {
          remove_chunks(push.build_id, push.chunk_count, "an interrupted push");
        }
      }
      pushes.push_back(own_);
    });
  }

  // After a refusal. A build that is kept, or that somebody else is pushing too, needs its chunks.
  void withdraw() {
    try {
      const auto pointer = read_stored_pointer(store_, set_name_).record;
      pending_.update([&](std::vector<PendingPush>& pushes) {
        drop_own(pushes);
        if (keeps(pointer, own_.build_id) || is_listed(pushes, own_.build_id)) return;
        remove_chunks(own_.build_id, own_.chunk_count, "this push");
      });
    } catch (const Error&) {  // the refusal is what the caller must hear; a later push removes them
    }
  }

  void leave() {
    try {
      pending_.update([this](std::vector<PendingPush>& pushes) { drop_own(pushes); });
    } catch (const Error& error) {
      warnings_.push_back("set \"" + set_name_ + "\": stays listed as pending: " + error.what());
    }
  }

  void drop_own(std::vector<PendingPush>& pushes) const {
    const auto own = std::find(pushes.begin(), pushes.end(), own_);
    if (own != pushes.end()) pushes.erase(own);
  }

  static bool is_listed(const std::vector<PendingPush>& pushes, const BuildId& build_id) {
    return std::any_of(pushes.begin(), pushes.end(),
                       [&](const PendingPush& push) { return push.build_id == build_id; });
  }

  void put_chunks(const Progress& progress) {
    std::vector<Record> batch;
    std::uint64_t done = 0;
    for (std::uint32_t number = 0; number < record_.chunk_count; ++number) {
      const Bytes payload = chunk_payload(snapshot_.bytes(), number);
      batch.push_back(
          {chunk_key(store_.prefix(), set_name_, record_.build_id, number), encode_chunk(number, payload)});
      done += payload.size();
      if (batch.size() < kBatchChunks && number + 1 < record_.chunk_count) continue;
      store_.put_many(batch);
      batch.clear();
      if (progress) progress(done, record_.bytes);
    }
  }

  PushResult move_pointer(StoredPointer before) {
    for (int races = 0; races < kMaxRaces; ++races) {
      if (before.record && before.record->current.build_id == record_.build_id) {
        leave();
        return {before.record->current, std::move(warnings_)};
      }
      const PointerRecord next = successor(before.record, record_);
      if (store_.compare_and_set({pointer_key(store_, set_name_), encode(next)}, before.text)) {
        return finish(before.record, next);
      }
      before = look();
    }
    throw LockedError(store_.name() + ": set \"" + set_name_ +
                      "\" is pushed by others all the time; try again later");
  }

  PushResult finish(const std::optional<PointerRecord>& before, const PointerRecord& next) {
    leave();
    if (before) {
      for (std::string& change : changes(set_name_, before->current, next.current)) {
        warnings_.push_back(std::move(change));
      }
      for (const SnapshotRecord& old : generations_of(*before)) {
        if (keeps(next, old.build_id)) continue;  // a build may have been pushed more than once
        remove_chunks(old.build_id, old.chunk_count, "generation " + std::to_string(old.generation));
      }
    }
    return {next.current, std::move(warnings_)};
  }

  void remove_chunks(const BuildId& build_id, std::uint32_t chunk_count, const std::string& whose) {
    try {
      for (std::uint32_t first = 0; first < chunk_count;) {
        const auto keys = chunk_key_batch(store_, set_name_, build_id, chunk_count, first);
        store_.remove_many(keys);
        first += static_cast<std::uint32_t>(keys.size());
      }
    } catch (const Error& error) {
      warnings_.push_back("set \"" + set_name_ + "\": the chunks of " + whose +
                          " could not be removed: " + error.what());
    }
  }

  Store& store_;
  const SnapshotView& snapshot_;
  const Guards& guards_;
  std::string set_name_;
  SnapshotRecord record_;
  PendingPushes pending_;
  PendingPush own_;
  std::vector<std::string> warnings_;
};

}  // namespace

PushResult push(Store& store, const SnapshotView& snapshot, const Guards& guards, const Progress& progress,
                UnixSeconds now) {
  const std::string source = "snapshot of set \"" + std::string(snapshot.set_name()) + "\"";
  const SnapshotView checked = SnapshotView::decode(snapshot.bytes(), source, Check::Everything);
  return Push(store, checked, guards, now).run(progress);
}

}  // namespace keysieve
