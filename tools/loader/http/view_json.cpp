#include "tools/loader/http/loader_view.hpp"

#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "tools/program/optional_json.hpp"
#include "tools/program/program.hpp"

namespace keysieve {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const HistoryEntry& entry) {
  return {{"at", entry.at},
          {"event", to_string(entry.event)},
          {"generation", entry.generation},
          {"publication", number_or_null(entry.publication)},
          {"key_count", entry.key_count},
          {"known_absent_count", or_null(entry.known_absent)},
          {"bytes", entry.bytes},
          {"pull_seconds", or_null(entry.pull_seconds)},
          {"publish_seconds", or_null(entry.publish_seconds)},
          {"reason", text_or_null(entry.reason)}};
}

Json to_json(const SetReport& report, SteadyTime now) {
  Json refused = Json::object();
  for (std::size_t i = 0; i < kRefusals.size(); ++i) {
    refused[std::string(to_string(kRefusals[i]))] = report.refused[i];
  }
  Json history = Json::array();
  for (const HistoryEntry& entry : report.history) history.push_back(to_json(entry));
  return {{"store", report.store},
          {"trouble", to_string(report.diagnosis.trouble)},
          {"trouble_reason", text_or_null(report.diagnosis.reason)},
          {"cache_trouble", text_or_null(report.cache_trouble)},
          {"store_generation", number_or_null(report.store_generation)},
          {"store_lag_seconds", store_lag_seconds(report, now)},
          {"keys_change_ratio", or_null(report.key_change)},
          {"adds_kept", report.adds_kept},
          {"refused_generations", refused},
          {"damages_found", report.damages},
          {"history", history}};
}

Json to_json(const StoreReport& store) {
  return {{"store", store.name},
          {"url", store.shown},
          {"up", store.is_up},
          {"failure", text_or_null(store.failure)}};
}

Json to_json(const SeenReport& report) {
  return {{"store", text_or_null(report.store)},
          {"trouble_reason", text_or_null(report.reason)},
          {"full", report.is_full},
          {"saved_at", number_or_null(report.saved_at)},
          {"keys_saved", report.keys_saved},
          {"keys_merged", report.keys_merged},
          {"saves_lost", report.saves_lost}};
}

Json to_json(const ShardDistribution& shards) {
  return {
      {"measure", shards.measure == ShardDistribution::Measure::FillRatio ? "fill_ratio" : "keys_per_shard"},
      {"count", shards.shard_count},
      {"lowest", shards.lowest},
      {"highest", shards.highest},
      {"mean", shards.mean},
      {"bins", shards.bins}};
}

Json to_json(const LoaderView& view) {
  Json json = view.directory ? to_json(*view.directory) : Json{{"directory", view.loader.directory}};
  json.update({{"version", kVersion},
               {"ready", view.is_ready()},
               {"alive", view.heartbeat.is_alive},
               {"heartbeat_age_seconds", view.heartbeat.age.count()},
               {"started_at", view.loader.started_at},
               {"stores", Json::array()},
               {"sets", Json::array()},
               {"seen_sets", Json::array()}});
  for (const StoreReport& store : view.loader.stores) json["stores"].push_back(to_json(store));
  for (const LoadedSet& set : view.sets) {
    json["sets"].push_back(to_json(set));
    json["sets"].back()["loader"] = to_json(*set.loader, view.steady_now);
  }
  for (const LoadedSeenSet& seen : view.seen) {
    json["seen_sets"].push_back(to_json(seen));
    json["seen_sets"].back()["loader"] = to_json(seen.loader);
  }
  return json;
}

std::string written(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

std::string status_json_text(const LoaderView& view) {
  return written(to_json(view));
}

std::string page_json_text(const LoaderView& view) {
  Json json = to_json(view);
  json["host"] = host_name();
  json["now"] = view.now;
  for (std::size_t i = 0; i < view.sets.size(); ++i) {
    const LoadedSet& set = view.sets[i];
    Json& shown = json["sets"][i];
    shown["max_fpr"] = or_null(set.loader->max_fpr);
    shown["shards"] = set.shards ? to_json(*set.shards) : Json();
  }
  return written(json);
}

}  // namespace keysieve
