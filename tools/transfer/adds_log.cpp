#include "tools/transfer/adds_log.hpp"

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/set_name.hpp"

namespace keysieve {

std::string adds_log(const Store& store, const std::string& set_name) {
  return store.prefix() + ":" + checked_set_name(set_name) + ":adds";
}

std::optional<std::string> wake_loaders(Store& store, const std::string& set_name) {
  try {
    store.notify(adds_log(store, set_name));
    return std::nullopt;
  } catch (const Error& error) {
    return "set \"" + set_name +
           "\": loaders could not be woken and see the change at their next poll: " + error.what();
  }
}

LogPosition adds_from(Store& store, const std::string& set_name, std::int64_t read_at_ms,
                      std::chrono::milliseconds overlap) {
  const LogPosition end = store.end_of(adds_log(store, set_name));
  const auto read_at = static_cast<std::uint64_t>(std::max<std::int64_t>(read_at_ms, 0));
  const auto before = static_cast<std::uint64_t>(std::max<std::int64_t>(overlap.count(), 0));
  const std::uint64_t latest = std::min(read_at, milliseconds_of(end));
  return log_position(latest - std::min(latest, before), 0);
}

}  // namespace keysieve
