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

bool is_obsolete(const PointerRecord& pointer, const PushId& push_id) {
  return push_id <= pointer.chunks_removed_to && !find_kept(pointer, push_id);
}

PushId newest_push(const PointerRecord& pointer) {
  PushId newest = pointer.chunks_removed_to;
  for (const SnapshotRecord& kept : kept_generations(pointer)) newest = std::max(newest, kept.push_id);
  return newest;
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
  pointer.previous = before;
  std::erase_if(pointer.previous,
                [&](const SnapshotRecord& older) { return older.build_id == record.build_id; });
  pointer.previous.resize(std::min(pointer.previous.size(), kKeptGenerations - 1));
  pointer.current = std::move(record);
  for (const SnapshotRecord& old : before) {
    if (!find_kept(pointer, old.push_id))
      pointer.chunks_removed_to = std::max(pointer.chunks_removed_to, old.push_id);
  }
}

bool release_adds(PointerRecord& pointer) {
  std::vector<LogPosition> needed;
  for (const SnapshotRecord& kept : kept_generations(pointer)) needed.push_back(kept.adds_from);
  if (needed.empty()) return false;
  const LogPosition oldest = *std::min_element(needed.begin(), needed.end());
  if (oldest <= pointer.adds_trimmed_to || oldest < pointer.adds_log.begun) return false;
  pointer.adds_trimmed_to = oldest;
  return true;
}

}  // namespace keysieve
