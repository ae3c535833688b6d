// Where the snapshots of one set come from (its store, or this host's cache), and the checks that each must
// pass before it is published.
#pragma once

#include <exception>
#include <functional>
#include <optional>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/publisher/shm/publisher.hpp"
#include "tools/loader/config/config.hpp"
#include "tools/loader/config/schedule.hpp"
#include "tools/loader/refresh/snapshot_cache.hpp"
#include "tools/loader/refresh/store_connection.hpp"
#include "tools/loader/report/set_log.hpp"
#include "tools/status/live_publication.hpp"
#include "tools/transfer/transfer.hpp"

namespace keysieve {

// What may be published next.
struct Candidate {
  SnapshotRecord record;
  std::optional<std::uint64_t> keys_before;  // in the generation before, where the store keeps one
  SnapshotBytes snapshot;
  bool is_cached;
};

class SnapshotSource {
 public:
  // All must outlive it. `on_progress` is called now and then while a snapshot is pulled; false throws
  // Stopped.
  SnapshotSource(const SetConfig& config, const LoaderConfig& loader, StoreConnection& store,
                 const std::function<bool()>& on_progress, SetLog& log);

  // The store's current snapshot; from the cache if that holds the one in the pointer record, so that a
  // build that was saved but could not be published is not pulled again. Throws as pull() does.
  Candidate fetch(const PointerRecord& pointer, SteadyTime now);
  // Nothing when the cache has none. Its record holds the generation alone.
  [[nodiscard]] std::optional<Candidate> newest_cached() const;

  // Checks the signature, guards, size, and that it is not older than the live publication: by the moment in
  // the store's record, and in a set with a public key also by those that are signed, against all that were
  // live and are remembered. Shrink is measured against the generation before, as push does, so that all
  // hosts decide alike whichever generations one of them missed; against the live publication when the store
  // keeps no earlier generation, or when this process has refused one since it published: what was refused
  // must not become the measure. Throws one of kRefusals.
  void check(const Candidate& candidate, const std::optional<LivePublication>& live) const;
  // Throws Older unless the pointer's current snapshot is as new as all that this host has seen, or has come
  // after the live one. Needs no pull.
  void check_follows(const PointerRecord& pointer, const std::optional<LivePublication>& live) const;

  // Checks the signature of what is live, once per publication: it may have been published under another
  // configuration, or by hand. Reads all of it.
  void check_live(const LivePublication& live, const Publisher& publisher);
  // Whether check_live() has found it to be signed with a key of the set, or need not.
  [[nodiscard]] bool trusts(const LivePublication& live) const noexcept {
    return config_.public_keys.empty() || trusted_ == live.id;
  }

  void has_refused() noexcept { has_refused_ = true; }
  // What has passed check().
  void has_published(const std::optional<LivePublication>& live) noexcept;

  // Remembers the newest moment in the store's records. In a set with public keys only that of what is live,
  // if it is trusted: records are not signed. Survives a restart, unless the cache cannot be written.
  void has_seen(const PointerRecord& pointer, const std::optional<LivePublication>& live);

  // Whether a reboot would find that snapshot and no older one.
  [[nodiscard]] bool is_cached(const LivePublication& live) const noexcept;
  // Replaces the cached snapshot. A cache that cannot be written is logged and stops nothing.
  void save(std::uint64_t generation, Bytes snapshot, SteadyTime now);
  // Saves the live publication if that failed before, or if this process did not find it in the cache when it
  // began. Tries with a backoff.
  void save_again(const LivePublication& live, const Publisher& publisher, SteadyTime now);
  // Why a reboot would not find what is live, or what this host has seen; empty when nothing has failed.
  [[nodiscard]] const std::string& cache_trouble() const noexcept {
    return save_failure_.empty() ? moment_failure_ : save_failure_;
  }

 private:
  void check_not_older(const SnapshotRecord& record, const std::optional<LivePublication>& live) const;
  void check_not_replayed(const SnapshotHeader& header, const Candidate& candidate,
                          const std::optional<LivePublication>& live) const;
  [[nodiscard]] bool is_signed_set() const noexcept { return !config_.public_keys.empty(); }
  void load_moments();
  void has_seen_signed(const LivePublication& live);
  void save_moment(const std::function<void()>& save);
  [[nodiscard]] UnixSeconds newest_moment(const LivePublication& live) const;
  [[noreturn]] void refuse_as_older(const SnapshotRecord& record, UnixSeconds newest) const;
  std::optional<Candidate> fetch_cached(const PointerRecord& pointer);
  void saved();
  void save_failed(const std::exception& error, SteadyTime now);

  const SetConfig& config_;
  std::string directory_;
  SnapshotCache cache_;
  StoreConnection& store_;
  const std::function<bool()>& on_progress_;
  SetLog& log_;
  UnixSeconds newest_as_of_ = 0;
  UnixSeconds saved_as_of_ = 0;  // of these, what a restart finds
  NewestSigned newest_signed_;   // of a set with public keys
  NewestSigned saved_signed_;
  PublicationId checked_live_;
  PublicationId trusted_;     // of these; zero: that was not
  bool has_refused_ = false;  // since the last publish
  bool is_saved_ = false;     // false also as long as nothing is known of the cache
  Backoff save_backoff_;
  std::string save_failure_;    // of the snapshot; empty: none
  std::string moment_failure_;  // of newest_as_of_ or newest_signed_
};

}  // namespace keysieve
