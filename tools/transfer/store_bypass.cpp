#include "tools/transfer/store_bypass.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/worker/base/set_name.hpp"

namespace keysieve {
namespace {

using Json = nlohmann::json;

// One colon after the prefix here, two in the record of a set: so a set may be named "bypass".
std::string key_of_all(const Store& store) {
  return store.prefix() + ":bypass";
}
std::string key_of(const Store& store, const std::optional<std::string>& set_name) {
  return set_name ? store.prefix() + ":" + checked_set_name(*set_name) + ":bypass" : key_of_all(store);
}

// Returns 0 for a value that is no moment.
UnixSeconds moment_in(const Json& document, const char* member) {
  if (!document.is_object()) return 0;
  const auto found = document.find(member);
  if (found == document.end() || !found->is_number_integer()) return 0;
  const auto moment = found->get<UnixSeconds>();
  return is_moment(moment) ? moment : 0;
}

}  // namespace

void set_store_bypass(Store& store, const std::optional<std::string>& set_name, const StoreBypass& bypass) {
  const Json until = bypass.until == 0 ? Json(nullptr) : Json(bypass.until);
  const Json document{{"until", until}, {"set_at", bypass.set_at}};
  const Record record{key_of(store, set_name), document.dump()};
  store.put_many({&record, 1});
}

void clear_store_bypass(Store& store, const std::optional<std::string>& set_name) {
  const std::string key = key_of(store, set_name);
  store.remove_many({&key, 1});
}

StoreBypasses read_store_bypasses(Store& store, const std::string& set_name) {
  const auto texts = store.get_many(store_bypass_keys(store, set_name));
  return decode_store_bypasses(std::span(texts).first<2>());
}

std::array<std::string, 2> store_bypass_keys(const Store& store, const std::string& set_name) {
  return {key_of(store, set_name), key_of_all(store)};
}

std::optional<StoreBypass> decode_store_bypass(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const Json document = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  return StoreBypass{.until = moment_in(document, "until"), .set_at = moment_in(document, "set_at")};
}

StoreBypasses decode_store_bypasses(std::span<const std::optional<std::string>, 2> texts) {
  return {.of_set = decode_store_bypass(texts[0]), .of_all = decode_store_bypass(texts[1])};
}

std::optional<StoreBypass> read_bypass_of_all(Store& store) {
  return decode_store_bypass(store.get(key_of_all(store)));
}

std::optional<UnixSeconds> bypassed_until(const StoreBypasses& bypasses, UnixSeconds now) noexcept {
  std::optional<UnixSeconds> until;
  for (const auto& bypass : {bypasses.of_set, bypasses.of_all}) {
    if (!bypass) continue;
    if (bypass->until == 0) return 0;
    if (bypass->until > now) until = std::max(until.value_or(0), bypass->until);
  }
  return until;
}

}  // namespace keysieve
