// Brings a seen set into its store and back: saves what has changed, restores it after a reboot, and merges
// what other hosts have saved.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/seen/seen_writer.hpp"
#include "tools/loader/config/seen_config.hpp"
#include "tools/loader/seen/saved_filters.hpp"

namespace keysieve {

// What the loader goes on with. Functions throw as the store does.
class SeenExchange {
 public:
  // on_progress: called before each batch of records; false ends the work there, which the next call repeats.
  // It may append filters, but must not retire any.
  SeenExchange(const SeenConfig& config, std::function<bool()> on_progress)
      : config_(config), on_progress_(std::move(on_progress)) {}

  // The filters that this host, or else the first other one that has any, had saved, without those that have
  // expired. Nothing if there are none, or none that can be read.
  struct Found {
    SavedFilters saved;
    std::string host;
  };
  [[nodiscard]] std::optional<Found> find(Store& store, UnixSeconds now) const;
  // Creates the page with these filters and, unless one of them is for `window`, an empty one for it. Returns
  // how many shards the store has lost.
  std::uint64_t restore(Store& store, const Found& found, const SeenWindow& window, SeenWriter& writer) const;

  // Writes the shards that have changed, or all if the store does not hold what was saved last, and removes
  // what has expired. Returns how many it wrote.
  std::uint64_t save(Store& store, const SeenWriter& writer);
  // Adds what other hosts have saved since the last call, also of filters that this host does not have. Asks
  // all of them, then throws what the first one has failed with. Returns how many shards it read.
  std::uint64_t merge(Store& store, SeenWriter& writer);

 private:
  struct Known {
    std::uint64_t version = 0;
    std::vector<std::uint64_t> checksums{};  // of the shards as they were written; 0: never
  };

  [[nodiscard]] SavedSet saved_by(Store& store, const std::string& host) const;
  void compare_with(Store& store, const SavedSet& saved);
  void remove_expired(const SavedSet& saved, const SeenWriter& writer);
  void put_list(const SavedSet& saved, const SeenWriter& writer);
  Known& known_of(const SeenPlan& plan);
  std::uint64_t merge_host(Store& store, const std::string& host, SeenWriter& writer);
  [[nodiscard]] SeenPlan plan_of(const SeenWriter& writer, const FilterId& id) const;
  void append_missing(const std::vector<SavedFilter>& filters, const std::string& host,
                      SeenWriter& writer) const;

  const SeenConfig& config_;
  std::function<bool()> on_progress_;
  SavedFilters listed_;  // as this process has saved it last
  std::map<FilterId, Known> known_;
  std::map<std::pair<std::string, FilterId>, std::uint64_t> merged_;  // versions
};

}  // namespace keysieve
