// Keeps a host from going back: remembers the newest snapshot that it has seen, also after a restart, and
// refuses what is older.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/loader/config/config.hpp"
#include "tools/loader/refresh/candidate.hpp"
#include "tools/loader/refresh/live_set.hpp"
#include "tools/loader/refresh/snapshot_cache.hpp"
#include "tools/loader/report/set_log.hpp"
#include "tools/records/pointer_record.hpp"

namespace keysieve {

// In a set without public keys, the moments in the store's records count. In a set with public keys, only the
// signed moments of what was live and is trusted do: anyone may have written a record.
class AgeLimit {
 public:
  // All must outlive it.
  AgeLimit(const SetConfig& config, const LoaderConfig& loader, const SnapshotCache& cache,
           const std::string& store_name, SetLog& log);

  // Throws Older unless the pointer's current snapshot is as new as all that this host has seen, or has come
  // after the live one. Needs no pull.
  void check_follows(const PointerRecord& pointer, const LiveSet& live) const;
  // Throws Older if the generation is lower than the live one and the snapshot not newer than all seen here.
  void check_not_older(const SnapshotRecord& record, const LiveSet& live) const;
  // What the next snapshot must not be older than, by its signed header; nothing in a set without public
  // keys.
  [[nodiscard]] std::optional<NewestLive> newest_signed(const LiveSet& live) const;

  // Remembers what was seen. Survives a restart, unless the cache cannot be written.
  void has_seen(const PointerRecord& pointer, const LiveSet& live);
  // Why it would not survive; empty when nothing has failed.
  [[nodiscard]] const std::string& trouble() const noexcept { return failure_; }

 private:
  void load();
  [[nodiscard]] bool is_signed_set() const noexcept { return !config_.public_keys.empty(); }
  [[nodiscard]] UnixSeconds newest_moment(const LiveSet& live) const;
  [[noreturn]] void refuse(const SnapshotRecord& record, UnixSeconds newest) const;
  [[nodiscard]] SignedMoment newest_signed_moment() const;
  SignedMoment& newest_of(const PublicKey& key);
  void save_signed();
  void has_seen_signed(const LivePublication& live);
  void use_cache(const std::function<void()>& work);

  const SetConfig& config_;
  std::string directory_;
  const SnapshotCache& cache_;
  const std::string& store_name_;
  SetLog& log_;
  UnixSeconds newest_as_of_ = 0;
  UnixSeconds saved_as_of_ = 0;              // of these, what a restart finds
  std::vector<NewestSigned> newest_signed_;  // of a set with public keys, one of each key it ever had
  std::vector<NewestSigned> saved_signed_;
  std::string failure_;
};

}  // namespace keysieve
