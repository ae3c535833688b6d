// What a host keeps of one set on its disk, for a reboot without a store. <cache>/<set>.ks is the last good
// snapshot. <cache>/<set>.state has its generation, and the time of the newest snapshot that the host has
// seen. The cache never lists the folder, which has the files of all sets.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/worker/snapshot/snapshot.hpp"
#include "tools/signatures/public_keys.hpp"
#include "tools/transfer/guards.hpp"

namespace keysieve {

struct CachedBuild {
  std::uint64_t generation;
  BuildId build_id;

  friend bool operator==(const CachedBuild&, const CachedBuild&) = default;
};

struct CachedSnapshot {
  std::uint64_t generation;
  SnapshotBytes bytes;
};

// The newest snapshot of one signer.
struct NewestSeen {
  SnapshotMoment moment{};
  PublicKey public_key{};  // zero: by the records of a store, which are not signed

  friend bool operator==(const NewestSeen&, const NewestSeen&) = default;
};

class SetCache {
 public:
  // The folder must exist before the first save. `public_keys`: those of the set.
  SetCache(std::string folder, std::string set_name, const PublicKeys& public_keys = {});

  // The build that is cached; nothing when there is none, or one that save() has not written. The snapshot
  // itself is not checked. Throws as load() does.
  [[nodiscard]] std::optional<CachedBuild> find() const;
  // Reads and validates all of it. Nothing as find(), or if another loader has just replaced it. Throws Data,
  // Incompatible, MissingInput, Permission, NotTrusted.
  [[nodiscard]] std::optional<CachedSnapshot> load() const;
  // Replaces the snapshot, and saves what has been seen. Atomic, and on disk when it returns. Throws as
  // load() does, and CannotCreate.
  void save(std::uint64_t generation, Bytes snapshot);

  // The newest that was seen. Without public keys, the store's records count. With public keys, only what
  // these have signed counts, because anyone may have written a record, and another key may have been
  // stolen.
  [[nodiscard]] SnapshotMoment newest() const;
  // In memory alone. Whether that is news.
  bool has_seen(const NewestSeen& seen);
  // Takes what was saved by an earlier process. Throws as load() does.
  void read_seen();
  // Saves what has been seen. Needs no room if there is a line for each signer already; the first save writes
  // one for each public key of the set. Throws as save() does.
  void save_seen();

  [[nodiscard]] std::string path_of(const char* suffix = ".ks") const { return path_ + suffix; }

 private:
  using Builds = std::array<CachedBuild, 2>;
  struct State {
    Builds builds{};  // the one whose id is in the snapshot's header counts
    std::vector<NewestSeen> seen;
  };

  [[nodiscard]] State read_state() const;
  void write_state(const Builds& builds) const;

  std::string folder_;
  std::string path_;
  std::string set_name_;
  PublicKeys signers_;  // whose moments count; a zero: the store's records
  std::vector<NewestSeen> seen_;
};

}  // namespace keysieve
