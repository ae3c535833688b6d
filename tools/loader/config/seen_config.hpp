// [[seen]] in the configuration: a set that PHP's workers fill.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/worker/seen/seen_page.hpp"
#include "core/worker/seen/seen_size.hpp"
#include "tools/loader/config/config_table.hpp"

namespace keysieve {

inline constexpr std::size_t kMostSeenHostBytes = 64;
// Empty: the system does not say.
std::string own_host_name();

struct SeenConfig {
  std::string name;
  std::uint64_t keys = 0;  // per window
  std::chrono::seconds window{0};
  std::uint32_t windows = 1;
  double fpr = 1e-4;  // of all live windows together
  OnUnavailable on_unavailable = OnUnavailable::Throw;
  std::optional<gid_t> group;  // nothing: LoaderConfig::group
  std::string store;           // name of one of LoaderConfig::stores; empty: nothing is saved
  std::chrono::milliseconds save_interval{1'000};
  std::string host;  // the name of this host, for messages of others
};

// The first filter of a window: with those that grow from it, it keeps the window's share of the rate. Throws
// Usage if the rate is out of reach.
SeenPlan seen_plan(const SeenConfig& config, const SeenWindow& window);

// The window that begins at that moment. It ends at the next multiple of its length since 1970, on all hosts
// alike.
SeenWindow seen_window(const SeenConfig& config, UnixSeconds moment) noexcept;

// Reads one [[seen]] table, but does not look for its store. Throws Config.
SeenConfig read_seen(ConfigTable& table);

}  // namespace keysieve
