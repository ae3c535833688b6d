#include <unistd.h>

#include <array>

#include "tools/loader/http/loader_view.hpp"

namespace keysieve {
namespace {

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
  Json json = view.directory ? object_of(directory_fields(), *view.directory)
                             : Json{{"directory", view.loader->directory}};
  json.update(object_of(loader_fields(), view));
  json["stores"] = list_of(store_fields(), view.loader->stores);
  json["sets"] = Json::array();
  for (const LoadedSet& set : view.sets) {
    json["sets"].push_back(object_of<SetFacts>(set_fields(), set));
    json["sets"].back()["loader"] = object_of(loaded_set_fields(), set);
  }
  json["seen_sets"] = Json::array();
  for (const LoadedSeenSet& seen : view.seen) {
    json["seen_sets"].push_back(object_of<SeenSetFacts>(seen_set_fields(), seen));
    json["seen_sets"].back()["loader"] = object_of(seen_report_fields(), seen.loader);
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
    const auto& shards = view.sets[i].shards;
    json["sets"][i]["shards"] = shards ? to_json(*shards) : Json();
  }
  return written(json);
}

}  // namespace keysieve
