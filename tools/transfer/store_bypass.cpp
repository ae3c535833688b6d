#include "tools/transfer/store_bypass.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "tools/transfer/stored_pointer.hpp"

namespace keysieve {

using Json = nlohmann::json;

void set_store_bypass(Store& store, const std::optional<std::string>& set_name, const StoreBypass& until) {
  if (set_name) {
    // At first in any case: without a record, loaders leave the bypass as it is.
    change_pointer(store, *set_name, [&until, is_written = false](PointerRecord& changed) mutable {
      const bool is_first = !std::exchange(is_written, true);
      return std::exchange(changed.bypass_until, until) != until || is_first;
    });
    return;
  }
  const std::string key = key_of_bypass_of_all(store);
  if (!until) return store.remove_many({&key, 1});
  const Record record{key, Json{{"until", *until == 0 ? Json() : Json(*until)}}.dump()};
  store.put_many({&record, 1});
}

StoreBypasses read_store_bypasses(Store& store, const std::optional<std::string>& set_name) {
  StoreBypasses bypasses;
  if (set_name) {
    bypasses.of_set = read_stored_pointer(store, *set_name).value_or(PointerRecord{}).bypass_until;
  }
  bypasses.of_all = decode_bypass_of_all(store.get(key_of_bypass_of_all(store)));
  return bypasses;
}

// One colon after the prefix here, two in the records of a set: so a set may be named "bypass".
std::string key_of_bypass_of_all(const Store& store) {
  return store.prefix() + ":bypass";
}

StoreBypass decode_bypass_of_all(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const Json document = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  const Json until = document.is_object() ? document.value("until", Json()) : Json();
  const UnixSeconds moment = until.is_number_integer() ? until.get<UnixSeconds>() : 0;
  return is_moment(moment) ? moment : 0;
}

bool is_in_force(const StoreBypass& until, UnixSeconds now) noexcept {
  return until && (*until == 0 || *until > now);
}

StoreBypass bypassed_until(const StoreBypasses& bypasses, UnixSeconds now) noexcept {
  StoreBypass latest;
  for (const StoreBypass& until : {bypasses.of_set, bypasses.of_all}) {
    if (!is_in_force(until, now) || latest == 0) continue;
    latest = *until == 0 ? 0 : std::max(latest.value_or(0), *until);
  }
  return latest;
}

}  // namespace keysieve
