// How a seen set lies in a store. Per host there is one record that lists its filters, and one record per
// shard of 4 KiB in which a bit is set, all with checksums:
//
//   <prefix>:seen.d:<set>:<host>                          the list
//   <prefix>:seen.d:<set>:<host>:<ends>.<growth>:<shard>  a shard of the filter <growth> of a window
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/seen/seen_page.hpp"
#include "tools/stores/store.hpp"

namespace keysieve {

// Names a filter of a host, for ever.
struct FilterId {
  UnixSeconds window_ends = 0;
  std::uint64_t growth = 0;
  friend auto operator<=>(const FilterId&, const FilterId&) = default;
};
inline FilterId id_of(const SeenPlan& plan) noexcept {
  return {plan.window.ends, plan.growth};
}

struct SavedFilter {  // its bytes are the record's
  SeenPlan plan{};
  std::uint64_t version = 0;  // another one whenever shards were written
  std::uint64_t shards = 0;   // that have a record

  [[nodiscard]] FilterId id() const noexcept { return id_of(plan); }
  friend bool operator==(const SavedFilter&, const SavedFilter&) = default;
};

struct SavedFilters {
  std::uint64_t seed = 0;
  std::vector<SavedFilter> filters{};  // oldest first, at most kMaxSeenFilters

  friend bool operator==(const SavedFilters&, const SavedFilters&) = default;
};

// The record's value, and back. Throws Data naming `source` for anything that was not made by encode().
std::string encode(const SavedFilters& saved);
SavedFilters decode_saved_filters(std::string_view value, const std::string& source);

// What one host has saved of one set. Calls throw as the store does.
class SavedSet {
 public:
  // on_progress: called before each request for shards; false ends the call there.
  SavedSet(Store& store, const std::string& set_name, const std::string& host,
           const std::function<bool()>& on_progress);

  // Empty if the host has never saved it. Throws Data.
  [[nodiscard]] SavedFilters list() const;
  void put_list(const SavedFilters& saved) const;

  // Writes the shards in which a bit is set and whose checksums are others, and stores these. Returns how
  // many it has written.
  std::uint64_t put_changed(const FilterId& id, SeenFilter filter,
                            std::vector<std::uint64_t>& checksums) const;
  void remove_shards(const SavedFilter& saved) const;
  // Adds all bits of the saved filter to one of the same size. Returns how many shards had an intact record.
  std::uint64_t add_to(SeenFilter filter, const SavedFilter& saved) const;

 private:
  template <typename Work>
  void for_each_batch(const FilterId& id, std::uint64_t shards, const Work& work) const;

  Store& store_;
  const std::function<bool()>& on_progress_;
  std::string key_;
};

}  // namespace keysieve
