// The last good snapshot of each set on the host's disk, <cache>/<set>.ks. It is published at once when
// shared memory is empty and the store is unreachable, as after a reboot. <cache>/<set>.generation says which
// generation it is, <cache>/<set>.newest and <cache>/<set>.signed hold a moment each. What concerns one set
// never lists the folder, which has files of all others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/snapshot/snapshot.hpp"
#include "tools/status/live_publication.hpp"

namespace keysieve {

// Of the newest snapshot with a right signature of this key that was live.
struct NewestSigned {
  SignedMoment moment;
  PublicKey public_key{};  // the signer's

  friend bool operator==(const NewestSigned&, const NewestSigned&) = default;
};

struct CachedBuild {
  std::uint64_t generation;
  BuildId build_id;

  friend bool operator==(const CachedBuild&, const CachedBuild&) = default;
};

class SnapshotCache {
 public:
  // The folder must exist before the first save.
  explicit SnapshotCache(std::string folder) : folder_(std::move(folder)) {}

  // Which snapshot of this set is cached; nothing when there is none, or one that save() has not written. The
  // snapshot itself is not checked. Throws as load() does.
  [[nodiscard]] std::optional<CachedBuild> find(const std::string& set_name) const;

  // The newest as_of of the store's records, in Unix seconds, so that a generation that was rolled back
  // from is known to be old. 0 when it was never saved. Throws as load() does.
  [[nodiscard]] UnixSeconds newest_as_of(const std::string& set_name) const;
  // Atomic, and on disk when it returns. Throws as save() does.
  void save_newest_as_of(const std::string& set_name, UnixSeconds as_of) const;

  // The newest signed snapshots of a set with public keys, one of each key; none when they were never saved.
  [[nodiscard]] std::vector<NewestSigned> newest_signed(const std::string& set_name) const;
  // Where there is no room, overwrites a text of the same length in place, which takes none.
  void save_newest_signed(const std::string& set_name, const std::vector<NewestSigned>& newest) const;

  [[nodiscard]] std::string path_of(const std::string& set_name, const char* suffix = ".ks") const {
    return folder_ + "/" + set_name + suffix;
  }
  // Reads and validates all of it. Throws Data, Incompatible, MissingInput, Permission.
  [[nodiscard]] SnapshotBytes load(const std::string& set_name) const;

  // Replaces the snapshot of this set. Atomic, and on disk when it returns. Throws CannotCreate, Permission.
  void save(const std::string& set_name, std::uint64_t generation, Bytes snapshot) const;

 private:
  [[nodiscard]] std::vector<CachedBuild> builds_of(const std::string& set_name) const;

  std::string folder_;
};

}  // namespace keysieve
