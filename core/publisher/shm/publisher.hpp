// The writing side of shared memory: one publisher per set and host at a time. A crash before the last step
// leaves the old publication live, a crash after it the new one. docs/concurrency.md explains why.
#pragma once

#include <optional>
#include <string>

#include "core/publisher/shm/layer_writer.hpp"
#include "core/publisher/shm/new_layer.hpp"
#include "core/publisher/shm/new_pages.hpp"
#include "core/publisher/shm/publisher_folder.hpp"
#include "core/publisher/shm/trouble.hpp"
#include "core/worker/shm/live_layer.hpp"
#include "core/worker/snapshot/snapshot.hpp"

namespace keysieve {

struct PublisherSettings {
  std::string directory{kDefaultDirectory};
  std::optional<gid_t> group{};       // group of the PHP workers; default: that of the directory's creator
  std::uint64_t max_total_bytes = 0;  // all sets and what idle workers still pin; 0: no limit
  CheckMemory check_memory{};         // of a directory in memory
};

// Owns the set's lock for its lifetime; runs as the folder's owner.
class Publisher {
 public:
  // Creates folder, lock and control file if they are missing. Throws Locked when another process publishes
  // this set, NotTrusted when the folder belongs to another user, CannotCreate, MissingInput.
  Publisher(PublisherSettings settings, std::string_view set_name);

  // Publishes a snapshot of this set with its live layer; returns its publication number. First validates all
  // of it with the reader's own checks. On any exception the old publication stays live. `layer` must have
  // every key that the old one's layer has and the snapshot may lack: readers attach it at their next call.
  std::uint64_t publish(Bytes snapshot, std::uint64_t generation, const NewLayer& layer = {});

  [[nodiscard]] const SetFolder& folder() const noexcept { return folder_; }
  // Publication 0 means that nothing is published.
  [[nodiscard]] PublicationId current() const noexcept;
  // Tells the control file from one in a copy of the folder, where publications have the same numbers.
  [[nodiscard]] FileIdentity control_identity() const noexcept { return control_->identity(); }
  // Reports that the bytes of the current publication have changed since it was published: every lookup
  // answers maybe until the next publication. Returns false if that was known.
  bool mark_damaged() noexcept;

  // The store has lost keys that were added up to there, in Unix milliseconds: every lookup answers maybe,
  // whatever is published, until that is forgotten.
  void mark_adds_lost(std::uint64_t up_to_ms) noexcept;
  void forget_lost_adds() noexcept;
  // Nothing: none are lost.
  [[nodiscard]] std::optional<std::uint64_t> adds_lost_to_ms() const noexcept;

  // The live layer of the current publication, for adding keys while this publisher lives. Nothing if nothing
  // is published, or without a layer. Throws MissingInput, Data, Permission.
  [[nodiscard]] std::optional<LayerWriter> open_layer() const;

  // Records that the loader has looked at the store and found nothing newer.
  void confirm(UnixSeconds now) noexcept;
  // Records that the loader is alive, and by when it will have looked again; 0: it does not say.
  void beat(UnixSeconds now, UnixSeconds next_look = 0) noexcept;
  // Records what keeps the loader from its work.
  void note(const Troubles& troubles) noexcept;
  // The set has no loader any more: marks it as NotConfigured until a loader looks at it again. What is
  // published stays live. If nothing is, and no bypass is on, removes the folder instead; do not use
  // this object after that. Throws CannotCreate, Permission, MissingInput.
  void leave();
  // Until when the store's bypass is on, 0 without end; nothing if it is off.
  [[nodiscard]] std::optional<UnixSeconds> store_bypass() const noexcept;
  // Clears the bit of each bypass whose time is over, the operator's and the store's. Readers have ended it
  // by their own clock; until then each of their calls compares the ends.
  void clear_expired_bypass(UnixSeconds now) noexcept;

 private:
  [[nodiscard]] std::uint64_t next_publication() const;
  void remove_leftovers() const;
  void check_room(std::uint64_t new_bytes) const;
  void check_total_size(std::uint64_t new_bytes) const;
  void make_current(std::uint64_t publication, std::uint64_t replaced) const;
  void take_control();
  bool remove_if_unused();

  PublisherSettings settings_;
  std::string set_name_;
  SetFolder folder_;
  FileDescriptor lock_;
  FileDescriptor control_lock_;  // of its file
  std::optional<MappedPage<ControlPage>> control_;
};

}  // namespace keysieve
