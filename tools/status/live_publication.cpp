#include "tools/status/live_publication.hpp"

#include "core/publisher/shm/memory_use.hpp"
#include "core/publisher/shm/publisher_folder.hpp"
#include "core/worker/base/error.hpp"

namespace keysieve {

SetReader status_reader(const std::string& directory, const std::string& set_name) {
  return {{.directory = directory, .trusted_owner = trusted_owner_of(directory, set_name)}, set_name};
}

LivePublication live_publication(const Attachment& attached, const ControlPage& control, Reading reading) {
  const SnapshotView& snapshot = attached.snapshot();
  const SnapshotHeader& header = snapshot.header();
  LivePublication live{.id = attached.id(),
                       .generation = attached.live().generation,
                       .build_id = header.build_id,
                       .public_key = header.public_key,
                       .format = header.format,
                       .kind = std::string(snapshot.kind().name),
                       .key_profile = std::string(snapshot.key_profile()),
                       .key_count = header.key_count,
                       .value_bits = header.value_bits,
                       .bytes = header.file_bytes,
                       .target_fpr = header.target_fpr,
                       .estimated_fpr = header.estimated_fpr,
                       .adds_from = header.adds_from,
                       .as_of = header.as_of,
                       .built_at = header.built_at,
                       .published_at = attached.live().published_at,
                       .valid_until = snapshot.valid_until(),
                       .last_confirmed = control.last_confirmed.load(std::memory_order_relaxed),
                       .heartbeat = control.heartbeat.load(std::memory_order_relaxed),
                       .is_damaged = (control.current.load(std::memory_order_acquire) & kDamagedBit) != 0,
                       .layer = attached.layer().geometry(),
                       .added_keys = attached.layer().keys()};
  live.value_sample = value_sample_of(snapshot.header());
  live.seed = header.seed;
  if (header.retrieval_bytes != 0) live.known_absent = header.known_absent;
  const bool has_layer = live.layer.shard_count != 0;
  if (has_layer && reading != Reading::Headers) live.layer_fill = layer_fill(attached.layer());
  if (reading >= Reading::HugePages) live.huge_page_bytes = huge_page_bytes(snapshot.bytes());
  return live;
}

std::optional<LivePublication> live_publication(const std::string& directory, const std::string& set_name) {
  try {
    // Trusts the users that the command line trusts, so that root finds what keysieved has published as its
    // own.
    SetReader reader = status_reader(directory, set_name);
    reader.follow();  // attaches; bypassed or expired, it is live all the same
    if (reader.attachment() == nullptr) return std::nullopt;
    return live_publication(*reader.attachment(), *reader.control(), Reading::Headers);
  } catch (const Error&) {  // there is no directory
    return std::nullopt;
  }
}

}  // namespace keysieve
