// What a running loader can tell of one set beside what every reader sees: how it stands to its store, what
// was refused, how long things took, and what has happened lately.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "tools/loader/durations.hpp"
#include "tools/loader/schedule.hpp"
#include "tools/loader/set_state.hpp"
#include "tools/transfer/refusal.hpp"

namespace keysieve {

enum class Event {
  Found,      // live when this process began, or published by another hand
  Published,  // from the store
  FromCache,
  Enlarged,  // the same snapshot again, with a larger live layer
  Refused,
};

std::string_view to_string(Event event) noexcept;  // "from_cache"

struct HistoryEntry {
  UnixSeconds at = 0;
  Event event = Event::Found;
  std::uint64_t generation = 0;
  std::uint64_t publication = 0;  // 0: there is none
  std::uint64_t key_count = 0;
  std::uint64_t bytes = 0;
  std::optional<double> pull_seconds{};
  std::optional<double> publish_seconds{};
  std::string reason{};  // of a refusal
};

struct SetReport {
  static constexpr std::size_t kHistoryEntries = 20;

  std::string name;
  std::string store;
  std::optional<double> max_fpr;  // that its configuration allows
  Trouble trouble = Trouble::NotAsked;
  std::string trouble_reason;
  std::uint64_t store_generation = 0;       // what the store calls current; 0: not known
  std::optional<SteadyTime> waiting_since;  // since when that is not what is live
  std::optional<double> key_change;         // of what is live, as a share of what was live before
  std::uint64_t adds_kept = 0;              // of the adds log, on this host
  std::array<std::uint64_t, kRefusals.size()> refused{};  // generations, as kRefusals
  Durations pulls;
  Durations publishes;
  std::deque<HistoryEntry> history;  // newest first
};

}  // namespace keysieve
