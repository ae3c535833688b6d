// A publication mapped read-only into this process.
#pragma once

#include <string>
#include <string_view>

#include "core/worker/shm/live_file.hpp"
#include "core/worker/shm/set_folder.hpp"
#include "core/worker/snapshot/snapshot.hpp"

namespace keysieve {

class Attachment {
 public:
  // Checks owner and mode, exact size, header and tables, set name, live page. Throws MissingInput when it is
  // not there (any more), Data, Incompatible, Permission, NotTrusted.
  Attachment(const SetFolder& folder, std::string_view set_name, const PublicationId& id);

  // Attaches files that have no final name yet: the publisher checks them by it, as a reader would.
  struct FileNames {
    std::string snapshot;
    std::string live;
  };
  Attachment(const SetFolder& folder, const FileNames& files, std::string_view set_name,
             const PublicationId& id);

  [[nodiscard]] const SnapshotView& snapshot() const noexcept { return snapshot_; }
  [[nodiscard]] const LivePage& live() const noexcept { return live_.page(); }
  [[nodiscard]] const LiveLayer& layer() const noexcept { return layer_; }

  // Whether the set may hold the key: in the snapshot, or added since. The hash must have been made with the
  // snapshot's seed. No allocation, lock, system call or exception.
  [[nodiscard]] bool may_contain(KeyHash hash) const noexcept {
    return layer_.keys() == 0 ? snapshot_.may_contain(hash) : may_contain_with_layer(hash);
  }
  // results[i] answers hashes[i].
  void may_contain_many(std::span<const KeyHash> hashes, bool* results) const noexcept {
    snapshot_.may_contain_many(hashes, results);
    layer_.may_contain_many(hashes, results);
  }

  // Requires a map. The value of a key of the snapshot; kUnknown for a key that was added since.
  [[nodiscard]] MapAnswer find(KeyHash hash) const noexcept {
    return layer_.may_contain(hash) ? kUnknown : snapshot_.find(hash);
  }
  void find_many(std::span<const KeyHash> hashes, MapAnswer* results) const noexcept {
    snapshot_.find_many(hashes, results);
    if (layer_.keys() == 0) return;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      if (layer_.may_contain(hashes[i])) results[i] = kUnknown;
    }
  }

  // False: keys are added to another live file than the one that is mapped. As MappedRegion's.
  [[nodiscard]] bool shows_its_path() const { return live_.shows_its_path(); }

  [[nodiscard]] const PublicationId& id() const noexcept { return id_; }

 private:
  [[nodiscard]] bool may_contain_with_layer(KeyHash hash) const noexcept;

  PublicationId id_;
  MappedRegion snapshot_region_;
  MappedPage<const LivePage> live_;
  SnapshotView snapshot_;
  LiveLayer layer_;
};

}  // namespace keysieve
