#include "tools/status/status_json.hpp"

#include <nlohmann/json.hpp>

#include "tools/program/optional_json.hpp"

namespace keysieve {
namespace {

using Json = nlohmann::ordered_json;

// 0 means never, or without end.
Json moment_or_null(UnixSeconds moment) {
  return moment == 0 ? Json() : Json(moment);
}

void add_layer(Json& json, const LayerStatus& layer) {
  json.update({{"added_keys", layer.keys},
               {"layer_bytes", layer.bytes},
               {"layer_fill_ratio", layer.bytes == 0 ? Json() : Json(layer.fill.fill_ratio)},
               {"layer_estimated_fpr", layer.bytes == 0 ? Json() : Json(layer.fill.estimated_fpr)}});
}

void add_publication(Json& json, const PublicationStatus& published) {
  json.update({{"publication", published.publication},
               {"generation", published.generation},
               {"kind", published.kind},
               {"key_profile", published.key_profile},
               {"key_count", published.key_count},
               {"known_absent_count", published.known_absent.value_or(0)},
               {"bytes", published.bytes},
               {"estimated_fpr", published.estimated_fpr},
               {"as_of", published.as_of},
               {"published_at", published.published_at},
               {"valid_until", moment_or_null(published.valid_until)},
               {"last_confirmed_at", moment_or_null(published.last_confirmed)},
               {"heartbeat_at", moment_or_null(published.heartbeat)}});
  add_layer(json, published.layer);
  json["huge_page_bytes"] = or_null(published.huge_page_bytes);
}

}  // namespace

Json to_json(const SetStatus& status) {
  Json json = {{"set", status.name},
               {"availability", to_string(status.availability)},
               {"code", status.reason.empty() ? Json() : Json(code_of(status))},
               {"reason", status.reason.empty() ? Json() : Json(status.reason)},
               {"troubles", status.troubles}};
  if (status.bypasses) {
    const auto& [by_operator, in_store] = *status.bypasses;
    json.update({{"bypass", by_operator.is_on},
                 {"bypass_until", moment_or_null(by_operator.until)},
                 {"store_bypass", in_store.is_on},
                 {"store_bypass_until", moment_or_null(in_store.until)}});
  }
  if (status.published) add_publication(json, *status.published);
  return json;
}

Json to_json(const DirectoryStatus& status) {
  return {{"directory", status.directory},
          {"visible_bytes", status.memory.visible_bytes},
          {"pinned_bytes", or_null(status.memory.pinned_bytes)},
          {"huge_pages", or_null(status.huge_pages)}};
}

}  // namespace keysieve
