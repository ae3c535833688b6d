#include <nlohmann/json.hpp>

#include "tools/program/optional_json.hpp"
#include "tools/status/seen_set_facts.hpp"
#include "tools/status/set_facts.hpp"

namespace keysieve {
namespace {

using Json = nlohmann::ordered_json;

void add_publication(Json& json, const LivePublication& live) {
  const auto& fill = live.layer_fill;
  json.update({{"publication", live.id.publication},
               {"generation", live.generation},
               {"kind", live.kind},
               {"key_profile", live.key_profile},
               {"key_count", live.key_count},
               {"known_absent_count", live.known_absent.value_or(0)},
               {"value_bits", live.value_bits},
               {"bytes", live.bytes},
               {"estimated_fpr", live.estimated_fpr},
               {"as_of", live.as_of},
               {"published_at", live.published_at},
               {"valid_until", number_or_null(live.valid_until)},
               {"last_confirmed_at", number_or_null(live.last_confirmed)},
               {"heartbeat_at", number_or_null(live.heartbeat)},
               {"added_keys", live.added_keys},
               {"layer_bytes", live.layer.bytes()},
               {"layer_fill_ratio", fill ? Json(fill->fill_ratio) : Json()},
               {"layer_estimated_fpr", fill ? Json(fill->estimated_fpr) : Json()},
               {"huge_page_bytes", or_null(live.huge_page_bytes)}});
}

}  // namespace

Json to_json(const SetFacts& set) {
  Json json = {{"set", set.name},
               {"availability", to_string(set.availability)},
               {"code", set.reason.empty() ? Json() : Json(code_of(set))},
               {"reason", text_or_null(set.reason)},
               {"troubles", set.troubles}};
  if (set.bypasses) {
    const BypassStatus& by_operator = set.bypasses->by_operator;
    const BypassStatus& in_store = set.bypasses->in_store;
    json.update({{"bypass", by_operator.is_on},
                 {"bypass_until", number_or_null(by_operator.until)},
                 {"store_bypass", in_store.is_on},
                 {"store_bypass_until", number_or_null(in_store.until)}});
  }
  if (set.published) add_publication(json, *set.published);
  return json;
}

Json to_json(const SeenSetFacts& set) {
  Json json = {{"set", set.name},
               {"availability", to_string(set.availability)},
               {"reason", text_or_null(set.reason)},
               {"bypass", set.availability == Availability::Bypassed},
               {"bypass_until", number_or_null(set.bypass_until)},
               {"on_unavailable", set.on_unavailable ? Json(to_string(*set.on_unavailable)) : Json()},
               {"looked_at", number_or_null(set.looked_at)},
               {"troubles", set.troubles}};
  if (!set.live) return json;
  const SeenFacts& live = *set.live;
  json.update({{"windows", live.windows},
               {"filters", live.filters},
               {"estimated_window_keys", live.keys},
               {"window_capacity", live.capacity},
               {"estimated_fpr", live.estimated_fpr},
               {"target_fpr", live.target_fpr},
               {"bytes", live.bytes},
               {"oldest_begins_at", live.oldest_begins},
               {"window_begins_at", live.newest_begins},
               {"window_ends_at", live.newest_ends}});
  return json;
}

Json to_json(const DirectoryStatus& status) {
  return {{"directory", status.directory},
          {"visible_bytes", status.memory.visible_bytes},
          {"pinned_bytes", or_null(status.memory.pinned_bytes)},
          {"huge_pages", or_null(status.huge_pages)}};
}

}  // namespace keysieve
