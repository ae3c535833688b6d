#include "tools/loader/report/live_publication.hpp"

#include "core/worker/base/error.hpp"
#include "tools/status/set_status.hpp"

namespace keysieve {
namespace {

// Trusts the users that the command line trusts, so that root finds what keysieved has published as its own
// user. Nothing if there is no directory.
std::optional<SetReader> reader_of(const std::string& directory, const std::string& set_name) {
  try {
    SetReader reader = status_reader(directory, set_name);
    reader.follow();  // attaches; bypassed or expired, it is live all the same
    return reader;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<LivePublication> live_publication(const std::string& directory, const std::string& set_name) {
  const std::optional<SetReader> reader = reader_of(directory, set_name);
  const Attachment* attachment = reader ? reader->attachment() : nullptr;
  if (attachment == nullptr) return std::nullopt;
  const SnapshotHeader& header = attachment->snapshot().header();
  return LivePublication{.id = attachment->id(),
                         .generation = attachment->live().generation,
                         .layer = attachment->layer().geometry(),
                         .build_id = header.build_id,
                         .public_key = header.public_key,
                         .key_count = header.key_count,
                         .known_absent = known_absent_of(header),
                         .bytes = header.file_bytes,
                         .as_of = header.as_of,
                         .built_at = header.built_at,
                         .adds_from = header.adds_from,
                         .target_fpr = header.target_fpr,
                         .estimated_fpr = header.estimated_fpr,
                         .is_damaged = (reader->control()->current.load() & kDamagedBit) != 0};
}

}  // namespace keysieve
