#include <fmt/core.h>

#include <algorithm>

#include "core/builder/base/log_positions.hpp"
#include "core/builder/filters/filter_kind.hpp"
#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/base/error.hpp"
#include "tools/program/units.hpp"
#include "tools/records/chunk.hpp"
#include "tools/transfer/adds_log.hpp"
#include "tools/transfer/checked_log.hpp"
#include "tools/transfer/stored_chunks.hpp"
#include "tools/transfer/stored_pointer.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {
namespace {

// Other pushes may make this one obsolete, and stores lose chunks. So often in a row is no accident.
constexpr int kMaxTries = 3;

void warn_of_changes(const std::string& set_name, const SnapshotHeader& before, const SnapshotHeader& now,
                     std::vector<std::string>& warnings) {
  const auto compare = [&](const char* what, const auto& old_value, const auto& new_value,
                           const char* hint = "build --like keeps it") {
    if (old_value == new_value) return;
    warnings.push_back(
        fmt::format("set \"{}\": {} changed from {} to {}; {}", set_name, what, old_value, new_value, hint));
  };
  compare("kind", find_lookup_kind(before.kind)->name, find_lookup_kind(now.kind)->name);
  compare("value bits", before.value_bits, now.value_bits,
          now.value_bits == 0 ? "it is no map any more, so KeySieve\\Map knows nothing"
                              : "values have as many bits as the largest one");
  compare("shard size", before.shard_bytes, now.shard_bytes);
  // The first list of known-absent keys, or the end of one, makes other shards.
  if ((before.retrieval_bytes == 0) == (now.retrieval_bytes == 0) && before.value_bits == now.value_bits) {
    const char* hint = "build --like keeps it while the keys fit";
    compare("hash count", before.hash_count, now.hash_count, hint);
    compare("shard count", before.shard_count, now.shard_count, hint);
  }
  compare("seed", to_hex(before.seed), to_hex(now.seed),
          "build --like takes the store's, which keysieve seed --new changes");
}

// One push of one snapshot.
class Push {
 public:
  Push(Store& store, const SnapshotView& snapshot, const Guards& guards)
      : store_(store),
        snapshot_(snapshot),
        guards_(guards),
        set_name_(snapshot.set_name()),
        record_(describe(snapshot)) {}

  PushResult run(const Progress& progress, UnixSeconds now) {
    now_ = now;
    settle_log();
    for (int tries = 0; tries < kMaxTries; ++tries) {
      begin();
      try {
        put_chunks(progress);
        if (const auto moved = move_pointer()) return finish(*moved);
      } catch (const std::exception& failure) {
        // After an outage a chunk may still be on its way: a push of the next day removes what has arrived.
        const auto* error = dynamic_cast<const Error*>(&failure);
        if (error == nullptr || error->kind() != ErrorKind::Unavailable) withdraw();
        throw;
      }
      withdraw();
      now_ = unix_now();
    }
    give_up();
  }

  // What run() would do, with a record of the store as it is now.
  PushResult plan() {
    PointerRecord pointer = read_stored_pointer(store_, set_name_).value_or(PointerRecord{});
    pointer.adds_log = find_log(pointer.adds_log);
    check(pointer);
    kept_before_ = kept_generations(pointer);
    make_current(pointer, record_);
    return result_of(*pointer.current);
  }

 private:
  // Begins the adds log if there is none. First notes what the store has lost of it, because this
  // snapshot may be older than the loss. The note moves the log's end: then hosts know that it is no late
  // copy.
  void settle_log() {
    if (!store_.abilities().log) return;
    compared_with_ = read_stored_pointer(store_, set_name_).value_or(PointerRecord{}).adds_log;
    log_ = find_log(compared_with_);
    const bool has_lost = log_.lost_to != compared_with_.lost_to;
    if (!has_lost && log_.begun != LogPosition{}) return;
    mark_log();
    log_ = find_log(compared_with_);
    if (!has_lost) return;
    change_pointer(store_, set_name_, [this](PointerRecord& changed) { return know_log(changed); });
  }

  void mark_log() {
    try {
      store_.mark(adds_log(store_, set_name_));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Permission) throw;
      warnings_.push_back("set \"" + set_name_ +
                          "\": nobody may notice if added keys are lost: " + error.what());
    }
  }

  // What stands in the log, and what is lost of what was known. A damaged log says nothing, and all who read
  // it refuse it.
  LogWitness find_log(const LogWitness& known) {
    if (!store_.abilities().log) return known;
    const std::string name = adds_log(store_, set_name_);
    try {
      CheckedLog log(store_, name, {.witness = known}, {});
      log.read_to_end();
      if (!log.has_lost() && !log.is_behind()) return log.known();
      LogPosition lost_to = log.known().lost_to;
      if (log.is_behind())  // one that is written to is no late copy
        lost_to = std::max(lost_to, log_position(static_cast<std::uint64_t>(unix_now_ms()), 0));
      CheckedLog as_it_is(store_, name, {.witness = {.lost_to = lost_to}}, {});
      as_it_is.read_to_end();
      return as_it_is.known();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::Data) throw;
      return known;
    }
  }

  // Another push may have known more, or less. Returns false if there is nothing to change.
  bool know_log(PointerRecord& pointer) {
    if (pointer.adds_log == log_) return false;
    if (pointer.adds_log != compared_with_) {
      compared_with_ = pointer.adds_log;
      log_ = find_log(compared_with_);
    }
    pointer.adds_log = log_;
    return true;
  }

  // Runs before the first chunk. Removes the leftovers of earlier pushes, which may make room for this one.
  void begin() {
    const auto pointer = read_stored_pointer(store_, set_name_).value_or(PointerRecord{});
    check(pointer);
    record_.push_id = new_push_id(now_, newest_push(pointer));
    has_tried_to_move_ = false;
    lost_chunk_.reset();
    tidy_up(pointer, [this] {
      const UnixSeconds day = std::chrono::seconds(kAbandonedAfter).count();
      remove_obsolete_chunks(store_, set_name_, now_ - day);
    });
  }

  void check(const PointerRecord& pointer) const {
    std::optional<Baseline> baseline;
    if (pointer.current) baseline = read_baseline(store_, set_name_, *pointer.current, snapshot_);
    check_guards(guards_, snapshot_, baseline);
    for (const SnapshotRecord& kept : kept_generations(pointer)) {
      if (kept.build_id == record_.build_id && kept.checksum != record_.checksum) {
        throw Error(ErrorKind::Data, store_.name() + ": set \"" + set_name_ + "\": generation " +
                                         std::to_string(kept.generation) +
                                         " has the same build id but other bytes");
      }
    }
    if (!guards_.allow_any_as_of) check_as_of(pointer);
    check_adds(pointer);
  }

  // Keys that were added to the source since are in neither an older snapshot nor one of a moment that is
  // still to come: adds up to that moment count as included.
  void check_as_of(const PointerRecord& pointer) const {
    const std::string set = "set \"" + set_name_ + "\": its keys are as of " + format_moment(record_.as_of);
    const std::string lift = "; --allow-any-as-of lifts this";
    if (is_future(record_.as_of, now_)) {
      throw Error(ErrorKind::Data, set + ", which is in the future: now is " + format_moment(now_) +
                                       "; correct the clock and build it again" + lift);
    }
    const auto kept = kept_generations(pointer);
    const auto newest = std::ranges::find_if(
        kept, [this](const SnapshotRecord& record) { return !is_future(record.as_of, now_); });
    if (newest == kept.end() || record_.as_of >= newest->as_of) return;
    throw Error(ErrorKind::Older, set + ", older than those of generation " +
                                      std::to_string(newest->generation) + ", which are as of " +
                                      format_moment(newest->as_of) +
                                      ": keys added since would become absent" + lift);
  }

  // A key that was added after this snapshot's keys were read, and then trimmed, would be in neither of
  // them.
  void check_adds(const PointerRecord& pointer) const {
    const LogPosition needed = adds_needed_by(record_.adds_from, record_.as_of).trimmed_at_most;
    const LogPosition trimmed_to = adds_trimmed_to(store_, set_name_, pointer.adds_trimmed_to);
    const LogPosition& lost_to = pointer.adds_log.lost_to;
    if (needed >= trimmed_to && needed >= lost_to) return;
    const auto moment = [](const LogPosition& position) {
      return format_moment(static_cast<UnixSeconds>(milliseconds_of(position) / 1000));
    };
    const std::string reason =
        needed < lost_to
            ? " has lost some that were added up to " + moment(lost_to) + ": build it again after " +
                  format_moment(builds_help_after(lost_to)) + ", then push"
            : " has trimmed them up to " + moment(trimmed_to) + ": they would become absent; build it again";
    throw Error(ErrorKind::Data, "set \"" + set_name_ + "\" needs the keys that were added from " +
                                     moment(needed) + " on, but " + store_.name() + reason);
  }

  void put_chunks(const Progress& progress) {
    const std::uint32_t chunk_count = record_.chunk_count();
    std::vector<Record> batch;
    std::uint64_t done = 0;
    for (std::uint32_t number = 0; number < chunk_count; ++number) {
      const Bytes payload = chunk_payload(snapshot_.bytes(), number);
      batch.push_back(
          {chunk_key(store_.prefix(), set_name_, record_.push_id, number), encode_chunk(number, payload)});
      done += payload.size();
      if (batch.size() < kBatchChunks && number + 1 < chunk_count) continue;
      store_.put_many(batch);
      batch.clear();
      if (progress) progress(done, record_.bytes);
    }
  }

  // The key of a chunk that the store does not have as it was put: it may have evicted it, or have been
  // replaced by a replica that never had it.
  std::optional<std::string> find_lost_chunk() {
    for (std::uint32_t first = 0; first < record_.chunk_count(); first += kBatchChunks) {
      const auto keys = chunk_key_batch(store_, set_name_, record_, first);
      const auto values = store_.get_many(keys);
      for (std::uint32_t i = 0; i < values.size(); ++i) {
        if (values[i] != encode_chunk(first + i, chunk_payload(snapshot_.bytes(), first + i))) return keys[i];
      }
    }
    return std::nullopt;
  }

  // Returns nothing if this push is obsolete or has lost a chunk. Both are found out after the record was
  // read, and before the compare-and-set that expects it unchanged.
  std::optional<PointerRecord> move_pointer() {
    PointerRecord pointer = move_current(store_, set_name_, record_.push_id, [&](PointerRecord& changed) {
      if (find_kept(changed, record_.push_id) || is_obsolete(changed, record_.push_id)) return false;
      know_log(changed);
      check(changed);
      lost_chunk_ = find_lost_chunk();
      if (lost_chunk_) return false;
      kept_before_ = kept_generations(changed);
      make_current(changed, record_);
      release_adds(changed);
      has_tried_to_move_ = true;
      return true;
    });
    return find_kept(pointer, record_.push_id) ? std::optional(std::move(pointer)) : std::nullopt;
  }

  [[noreturn]] void give_up() const {
    if (!lost_chunk_) {
      throw Error(ErrorKind::Locked,
                  store_.name() + ": set \"" + set_name_ +
                      "\": other pushes overtake this one, or treat it as abandoned; are the clocks of all "
                      "hosts right?");
    }
    throw Error(ErrorKind::CannotCreate,
                store_.name() + ": " + *lost_chunk_ +
                    " was put and is gone: give the servers more memory, for three generations of " +
                    format_bytes(record_.bytes) + " and what else they hold");
  }

  PushResult finish(const PointerRecord& pointer) {
    tidy_up(pointer, [&] {
      for (const SnapshotRecord& before : kept_before_) {
        if (is_obsolete(pointer, before.push_id)) remove_chunks(store_, set_name_, before);
      }
    });
    return result_of(find_kept(pointer, record_.push_id).value());
  }

  PushResult result_of(const SnapshotRecord& record) {
    const auto before = kept_before_.empty() ? std::nullopt : std::optional(kept_before_.front());
    warn_of_consequences(before);
    return {record, before, std::move(warnings_)};
  }

  void tidy_up(const PointerRecord& pointer, const std::function<void()>& remove) {
    try {
      remove();
      trim_adds(store_, set_name_, pointer);
    } catch (const Error& error) {
      warnings_.push_back("set \"" + set_name_ + "\": some obsolete records are left" +
                          (store_.abilities().list ? ", which the next push removes: " : ": ") +
                          error.what());
    }
  }

  void warn_of_consequences(const std::optional<SnapshotRecord>& before) {
    try {
      if (before && before->build_id != record_.build_id) {
        warn_of_changes(set_name_, read_header(store_, set_name_, *before), snapshot_.header(), warnings_);
      }
    } catch (const Error& error) {
      if (error.is_outage()) return;  // the push itself is done
      warnings_.push_back("set \"" + set_name_ + "\": only its number of keys was compared with the " +
                          "generation before: " + error.what());
    }
    try {
      if (record_.adds_from != LogPosition{} || !has_adds(store_, set_name_)) return;
      warnings_.push_back("set \"" + set_name_ + "\": needs the adds log from its beginning on, so that it " +
                          "cannot be trimmed while this generation is kept; build with --like URL");
    } catch (const Error&) {  // the push itself is done
    }
  }

  // Removes the chunks of a push that failed. Once the record was changed after the last try to move it, no
  // compare-and-set of this push can still be on its way.
  void withdraw() {
    try {
      PointerRecord pointer;
      if (has_tried_to_move_) {
        pointer = change_pointer(store_, set_name_, [&, is_changed = false](PointerRecord& now) mutable {
          return !find_kept(now, record_.push_id) && !std::exchange(is_changed, true);
        });
      }
      if (!find_kept(pointer, record_.push_id)) remove_chunks(store_, set_name_, record_);
    } catch (const Error&) {  // the caller must hear why the push failed
    }
  }

  Store& store_;
  const SnapshotView& snapshot_;
  const Guards& guards_;
  std::string set_name_;
  SnapshotRecord record_;
  LogWitness compared_with_{};
  LogWitness log_{};
  UnixSeconds now_ = unix_now();
  std::vector<SnapshotRecord> kept_before_;
  std::optional<std::string> lost_chunk_;
  bool has_tried_to_move_ = false;
  std::vector<std::string> warnings_;
};

SnapshotView checked(const SnapshotView& snapshot) {
  const std::string source = "snapshot of set \"" + std::string(snapshot.set_name()) + "\"";
  return SnapshotView::decode(snapshot.bytes(), source, Check::Everything);
}

}  // namespace

PushResult push(Store& store, const SnapshotView& snapshot, const Guards& guards, const Progress& progress,
                UnixSeconds now) {
  return Push(store, checked(snapshot), guards).run(progress, now);
}

PushResult plan_push(Store& store, const SnapshotView& snapshot, const Guards& guards) {
  return Push(store, checked(snapshot), guards).plan();
}

}  // namespace keysieve
