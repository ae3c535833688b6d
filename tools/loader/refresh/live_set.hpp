// One set on this host: what is live of it, whether that is whole and trusted, and how something else takes
// its place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/builder/snapshot/snapshot_bytes.hpp"
#include "core/publisher/shm/publisher.hpp"
#include "core/worker/shm/attachment.hpp"
#include "core/worker/shm/set_folder.hpp"
#include "tools/loader/adds/adds_reader.hpp"
#include "tools/loader/adds/layer_filler.hpp"
#include "tools/loader/report/set_work.hpp"
#include "tools/records/pointer_record.hpp"
#include "tools/status/live_publication.hpp"

namespace keysieve {

// A snapshot that may be published next.
struct Candidate {
  SnapshotRecord record;  // from the cache without a store: what the cache and the header say
  SnapshotBytes snapshot;
  bool is_cached;
  std::string source;                    // for messages
  std::optional<double> pull_seconds{};  // if it was pulled
};

// Returns it with its path. Read, not mapped: what is checked is what is used. Throws as
// SetFolder::open_file() and read_all_at() do.
std::pair<SnapshotBytes, std::string> read_live(const LivePublication& live, const Publisher& publisher);

class LiveSet {
 public:
  // All must outlive it.
  LiveSet(SetWork& set, AddsReader& adds) : set_(set), adds_(adds), layers_(set, adds.kept()) {}

  // Takes the set's lock. Throws as Publisher's constructor does.
  [[nodiscard]] Publisher lock() const { return {set_.publishing, set_.config.name}; }
  // Takes the lock into `publisher`, tells readers that the loader is alive, and finds out what is live.
  // Reads a part of that again, twice in a poll interval at most, and in a set with public keys all of it,
  // once. Marks it if it has changed.
  void begin_look(std::optional<Publisher>& publisher, SteadyTime now);

  // What is live, as of the last call that found out; nothing when no reader could attach anything.
  [[nodiscard]] const std::optional<LivePublication>& publication() const noexcept { return live_; }
  void find_out() { live_ = live_publication(set_.publishing.directory, set_.config.name); }
  void forget() noexcept { live_.reset(); }

  [[nodiscard]] bool is_whole() const noexcept { return live_ && !live_->is_damaged; }
  // Whether that snapshot is live and needs not be published again.
  [[nodiscard]] bool has(const SnapshotRecord& record) const noexcept {
    return is_whole() && live_->generation == record.generation && live_->build_id == record.build_id &&
           live_->layer.shard_count != 0;
  }
  // Whether what is live is signed with a key of the set, or need not be.
  [[nodiscard]] bool is_trusted() const noexcept {
    return live_ && (set_.config.public_keys.empty() || trusted_ == live_->id);
  }

  // Publishes what has passed all checks. Throws as Publisher::publish() does.
  void publish(Publisher& publisher, const Candidate& candidate);
  // As LayerFiller::fill().
  void fill(Publisher& publisher) {
    if (live_) layers_.fill(publisher, *live_, is_verifying_);
  }
  // Adds to the live layer what has arrived since the last look; false if that is for fill(), because other
  // bytes are live by now, or the layer is full.
  bool add(const Publisher& publisher) {
    return is_whole() && live_->id == publisher.current() && layers_.add(publisher, *live_);
  }

 private:
  void verify(Publisher& publisher);
  void read_some(const Publisher& publisher, PublicationId current);
  void check_live(const Publisher& publisher);

  SetWork& set_;
  const AddsReader& adds_;
  LayerFiller layers_;
  SteadyTime verify_at_{};
  std::uint64_t next_shard_ = 0;  // to be read again
  bool is_verifying_ = false;     // at this look
  std::optional<LivePublication> live_;
  PublicationId checked_;
  PublicationId trusted_;  // of these; zero: that was not
};

}  // namespace keysieve
