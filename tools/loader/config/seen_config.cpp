#include "tools/loader/config/seen_config.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/publisher/seen/seen_sizing.hpp"
#include "core/worker/base/set_name.hpp"
#include "tools/program/accounts.hpp"
#include "tools/program/units.hpp"
#include "tools/stores/store_url.hpp"

namespace keysieve {
namespace {

constexpr std::uint32_t kMostWindows = kMaxSeenFilters / 2;  // the rest is for windows that need more filters
constexpr std::uint64_t kMostKeys = 10'000'000'000;
constexpr std::chrono::milliseconds kLongestWindow = std::chrono::hours(24) * 366;

const auto kKeysPerWindow = in_range(parse_key_count, 1, kMostKeys, "1 to " + format_count(kMostKeys));
const auto kWindowCount = in_range(parse_count, 1, kMostWindows, fmt::format("1 to {}", kMostWindows));
const auto kSeenFpr = in_range(parse_share, kAboveZero, kBelowOne, "above 0, below 1");
const auto kSaveInterval =
    in_range(parse_duration, std::chrono::milliseconds(10), kLongestWindow, "10ms to 366d");

std::chrono::seconds window_length(const std::string& text) {
  const auto length = parse_duration(text);
  const auto seconds = std::chrono::floor<std::chrono::seconds>(length);
  if (seconds.count() >= 1 && length <= kLongestWindow && seconds == length) return seconds;
  throw Error(ErrorKind::Usage, fmt::format("\"{}\" is out of range: whole seconds, 1s to 366d", text));
}

OnUnavailable on_unavailable_named(const std::string& name) {
  const auto found = std::find_if(kOnUnavailable.begin(), kOnUnavailable.end(),
                                  [&](OnUnavailable answer) { return to_string(answer) == name; });
  if (found != kOnUnavailable.end()) return *found;
  throw Error(ErrorKind::Usage, fmt::format("\"{}\" is none of throw, new and seen", name));
}

std::string host_name(const std::string& text) {
  const auto is_allowed = [](char c) { return is_plain(c, "-._"); };
  if (!text.empty() && text.size() <= kMostSeenHostBytes && std::all_of(text.begin(), text.end(), is_allowed))
    return text;
  throw Error(ErrorKind::Usage,
              fmt::format("\"{}\" is not a host: 1 to {} letters, digits, - . _", text, kMostSeenHostBytes));
}

// Both need a store.
void read_saving(ConfigTable& table, SeenConfig& seen) {
  seen.store = table.text("store").value_or("");
  for (const char* key : {"save_interval", "host"}) {
    if (seen.store.empty() && table.text(key)) table.fail(key, "needs a store");
  }
  if (seen.store.empty()) return;
  seen.save_interval = table.parsed("save_interval", kSaveInterval).value_or(seen.save_interval);
  seen.host = table.parsed("host", host_name).value_or(own_host_name());
}

// The last filter that a window can grow to has the lowest rate and the most keys.
void check_last_filter(ConfigTable& table, const SeenConfig& seen) {
  const auto check = [&](const char* key, std::uint64_t keys, const std::string& why) {
    try {
      constexpr int kGrowth = kFiltersPerWindow - 1;
      seen_size(keys << kGrowth, std::ldexp(seen.fpr / seen.windows / 2, -kGrowth));
    } catch (const Error& error) {
      table.fail(key, why + error.what());
    }
  };
  check("fpr", 1, "");
  check("keys", seen.keys, "a window may grow to a filter of 8 times as many: ");
}

}  // namespace

std::string own_host_name() {
  std::array<char, kMostSeenHostBytes + 1> name{};
  return ::gethostname(name.data(), name.size()) == 0 ? name.data() : "";
}

SeenPlan seen_plan(const SeenConfig& config, const SeenWindow& window) {
  const double rate = config.fpr / config.windows / 2;
  return {.window = window,
          .growth = 0,
          .capacity = config.keys,
          .rate = rate,
          .size = seen_size(config.keys, rate)};
}

SeenWindow seen_window(const SeenConfig& config, UnixSeconds moment) noexcept {
  const UnixSeconds length = config.window.count();
  const UnixSeconds ends = moment - moment % length + length;
  return {moment, ends, length * (config.windows - 1)};
}

SeenConfig read_seen(ConfigTable& table) {
  SeenConfig seen;
  seen.name = table.required("name", checked_set_name);
  seen.keys = table.required("keys", kKeysPerWindow);
  seen.window = table.required("window", window_length);
  seen.windows = static_cast<std::uint32_t>(table.parsed("windows", kWindowCount).value_or(seen.windows));
  seen.fpr = table.parsed("fpr", kSeenFpr).value_or(seen.fpr);
  seen.on_unavailable = table.parsed("on_unavailable", on_unavailable_named).value_or(seen.on_unavailable);
  seen.group = table.parsed("group", group_named);
  read_saving(table, seen);
  table.reject_unknown_keys();
  check_last_filter(table, seen);
  return seen;
}

}  // namespace keysieve
