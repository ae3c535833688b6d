#include "tools/transfer/pointer_changes.hpp"

#include <algorithm>

namespace keysieve {
std::vector<SnapshotRecord> kept_generations(const PointerRecord& pointer) {
  std::vector<SnapshotRecord> generations;
  if (pointer.current) generations.push_back(*pointer.current);
  generations.insert(generations.end(), pointer.previous.begin(), pointer.previous.end());
  return generations;
}

std::optional<SnapshotRecord> find_kept(const PointerRecord& pointer, const PushId& push_id) {
  for (SnapshotRecord& kept : kept_generations(pointer)) {
    if (kept.push_id == push_id) return std::move(kept);
  }
  return std::nullopt;
}

bool is_pending(const PointerRecord& pointer, const PushId& push_id) {
  return std::ranges::find(pointer.pending, push_id, &PendingPush::push_id) != pointer.pending.end();
}

bool is_garbage(const PointerRecord& pointer, const PushId& push_id) {
  return std::ranges::find(pointer.garbage, push_id, &Garbage::push_id) != pointer.garbage.end();
}

void announce(PointerRecord& pointer, const PendingPush& push) {
  while (pointer.pending.size() >= kMaxPendingPushes) {
    discard(pointer, chunks_of(pointer.pending.front()));
  }
  pointer.pending.push_back(push);
}

void discard_abandoned(PointerRecord& pointer, UnixSeconds now) {
  for (const PendingPush& push : std::vector(pointer.pending)) {
    const UnixSeconds age = std::max<UnixSeconds>(now - push.started_at, 0);
    if (std::chrono::seconds(age) >= kAbandonedAfter) discard(pointer, chunks_of(push));
  }
}

void discard(PointerRecord& pointer, const Garbage& push) {
  std::erase_if(pointer.pending, [&](const PendingPush& pending) { return pending.push_id == push.push_id; });
  if (is_garbage(pointer, push.push_id)) return;
  while (pointer.garbage.size() >= kMaxGarbage) pointer.garbage.erase(pointer.garbage.begin());
  pointer.garbage.push_back(push);
}

void make_current(PointerRecord& pointer, SnapshotRecord record) {
  const std::vector<SnapshotRecord> before = kept_generations(pointer);
  const bool is_same_build = pointer.current && pointer.current->build_id == record.build_id;
  if (is_same_build) {
    record.generation = pointer.current->generation;
    record.restores = pointer.current->restores;
  } else {
    record.generation = pointer.current ? pointer.current->generation + 1 : 1;
  }
  std::erase_if(pointer.pending,
                [&](const PendingPush& pending) { return pending.push_id == record.push_id; });
  pointer.previous = before;
  std::erase_if(pointer.previous,
                [&](const SnapshotRecord& older) { return older.build_id == record.build_id; });
  pointer.previous.resize(std::min(pointer.previous.size(), kKeptGenerations - 1));
  pointer.current = std::move(record);
  for (const SnapshotRecord& old : before) {
    if (!find_kept(pointer, old.push_id)) discard(pointer, chunks_of(old));
  }
}

bool release_adds(PointerRecord& pointer) {
  std::vector<LogPosition> needed;
  for (const SnapshotRecord& kept : kept_generations(pointer)) needed.push_back(kept.adds_from);
  if (needed.empty()) return false;
  for (const PendingPush& push : pointer.pending) needed.push_back(push.adds_from);
  const LogPosition oldest = *std::min_element(needed.begin(), needed.end());
  if (oldest <= pointer.adds_trimmed_to || oldest < pointer.adds_log.begun) return false;
  pointer.adds_trimmed_to = oldest;
  return true;
}

}  // namespace keysieve
