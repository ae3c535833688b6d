// The writing side of shared memory: one publisher per set and host at a time. A crash before the last step
// leaves the old publication live, a crash after it the new one. The argument is in docs/concurrency.md.
#pragma once

#include <optional>
#include <string>

#include "core/shm/control_page.hpp"
#include "core/shm/set_folder.hpp"
#include "core/snapshot/snapshot.hpp"

namespace keysieve {

struct PublisherSettings {
  std::string directory{kDefaultDirectory};
  std::optional<gid_t> group;         // group of the PHP workers; default: that of the directory's creator
  std::uint64_t max_total_bytes = 0;  // of all sets and what idle workers still pin; 0: no limit
};

// Owns the set's lock for its lifetime; runs as the folder's owner.
class Publisher {
 public:
  // Creates folder, lock and control where they are missing. Throws LockedError when another process
  // publishes this set, PermissionError when the folder belongs to somebody else, CannotCreateError,
  // MissingInputError.
  Publisher(PublisherSettings settings, std::string_view set_name);

  // Publishes a snapshot of this set; returns its publication number. Validates all of it with the reader's
  // own checks first. On any exception the old publication stays live.
  std::uint64_t publish(Bytes snapshot, std::uint64_t generation);

  // The loader has looked at the store and found nothing newer.
  void confirm(UnixSeconds now) noexcept;
  // The loader is alive.
  void beat(UnixSeconds now) noexcept;

 private:
  [[nodiscard]] std::uint64_t next_publication() const;
  void remove_leftovers() const;
  void check_total_size(std::uint64_t new_bytes) const;
  void write_file(const std::string& name, Bytes bytes, mode_t mode) const;
  void check_lock_is_ours() const;
  [[nodiscard]] ControlPage& control() const noexcept;

  PublisherSettings settings_;
  std::string set_name_;
  SetFolder folder_;
  FileDescriptor lock_;
  MappedRegion control_;
};

// The switch for 3 a.m.: every lookup answers maybe from the next call on, until `until` (Unix seconds; 0:
// until switched off). Needs no lock, so it works while a publisher runs or hangs; must run as the folder's
// owner.
void set_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until);
void clear_bypass(const std::string& directory, std::string_view set_name);

// Bytes that unlinked publications still hold because workers have them mapped. Known only where the
// directory is a file system of its own.
std::optional<std::uint64_t> pinned_bytes(const std::string& directory);

}  // namespace keysieve
