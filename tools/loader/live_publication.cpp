#include "tools/loader/live_publication.hpp"

#include "core/shm/set_reader.hpp"

namespace keysieve {

std::optional<LivePublication> live_publication(const std::string& directory, const std::string& set_name) {
  SetReader reader({.directory = directory, .max_jitter = std::chrono::milliseconds(0)}, set_name);
  static_cast<void>(reader.pin());  // attaches; bypassed or expired, it is live all the same
  const Attachment* attachment = reader.attachment();
  if (attachment == nullptr) return std::nullopt;
  const SnapshotHeader& header = attachment->snapshot().header();
  return LivePublication{.id = attachment->id(),
                         .generation = attachment->live().generation,
                         .layer = attachment->layer().geometry(),
                         .build_id = header.build_id,
                         .seed = header.seed,
                         .key_count = header.key_count,
                         .bytes = header.file_bytes,
                         .as_of = header.as_of,
                         .adds_from = header.adds_from,
                         .target_fpr = header.target_fpr,
                         .estimated_fpr = header.estimated_fpr,
                         .is_damaged = (reader.control()->current.load() & kDamagedBit) != 0};
}

}  // namespace keysieve
