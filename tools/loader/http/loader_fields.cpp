// The tables of what only the loader knows, and all tables as JSON.
#include "tools/loader/http/loader_view.hpp"
#include "tools/program/program.hpp"

namespace keysieve {
namespace {

template <auto member>
Json report(const LoadedSet& set) {
  return to_value((*set.loader).*member);
}
template <auto member>
Json report_if_any(const LoadedSet& set) {
  return to_value_if_any((*set.loader).*member);
}

Json refused(const LoadedSet& set) {
  Json generations = Json::object();
  for (std::size_t i = 0; i < kRefusals.size(); ++i) {
    generations[std::string(to_string(kRefusals[i]))] = set.loader->refused[i];
  }
  return generations;
}

Json history(const LoadedSet& set) {
  Json history = Json::array();
  for (const HistoryEntry& entry : set.loader->history) {
    history.push_back({{"at", entry.at},
                       {"event", entry.event},
                       {"generation", entry.generation},
                       {"publication", number_or_null(entry.publication)},
                       {"key_count", entry.key_count},
                       {"known_absent_count", or_null(entry.known_absent)},
                       {"bytes", entry.bytes},
                       {"pull_seconds", or_null(entry.pull_seconds)},
                       {"publish_seconds", or_null(entry.publish_seconds)},
                       {"reason", text_or_null(entry.reason)}});
  }
  return history;
}

// How evenly the keys are spread; null where nothing is published.
Json shards(const LoadedSet& set) {
  if (!set.shards) return {};
  const ShardDistribution& shards = *set.shards;
  return {{"measure", shards.is_of_fill_ratios ? "fill_ratio" : "keys_per_shard"},
          {"count", shards.shard_count},
          {"lowest", shards.lowest},
          {"highest", shards.highest},
          {"mean", shards.mean},
          {"bins", shards.bins}};
}

const Field<LoaderView> kLoaderTable[]{
    {"host", Unit::Plain, fact<&LoaderView::host>},
    {"now", Unit::Moment, fact<&LoaderView::now>},
    {"version", Unit::Plain, [](auto&) { return Json(kVersion); }},
    {"", Unit::Plain,
     [](auto&) {
       return Json{{kVersion, 1}};
     },
     "keysieve_build_info", "The version of keysieved; always 1.", "", !kWide, "version"},
    {"ready", Unit::Plain, [](auto& view) { return Json(view.is_ready()); }, "keysieve_loader_ready",
     "1 when no set is held back by this host, as /healthz says."},
    {"alive", Unit::Plain, [](auto& view) { return Json(view.heartbeat.is_alive); }},
    {"heartbeat_age_seconds", Unit::Plain, [](auto& view) { return Json(view.heartbeat.age.count()); },
     "keysieve_loader_heartbeat_age_seconds", "Since the last sign of life of the loader's main loop."},
    {"started_at", Unit::Moment, fact<&LoaderView::started_at>, "keysieve_loader_start_time_seconds",
     "When keysieved was started, or reloaded last, in Unix time."},
};

const Field<StoreReport> kStoreTable[]{
    {"store", Unit::Plain, fact<&StoreReport::name>},
    {"url", Unit::Plain, fact<&StoreReport::shown>},
    {"up", Unit::Plain, [](auto& store) { return Json(store.failure.empty()); }, "keysieve_store_up",
     "1 when the store answered when it was asked last."},
    {"failure", Unit::Plain, fact_if_any<&StoreReport::failure>},
};

const Field<LoadedSet> kLoadedSetTable[]{
    {"store", Unit::Plain, report<&SetReport::store>},
    {"trouble", Unit::Plain, [](auto& set) { return Json(to_string(set.loader->diagnosis.trouble)); }},
    {"", Unit::Plain,
     [](auto& set) {
       return one_of(kSetTroubles, [&](Trouble one) { return set.loader->troubles().has(one); });
     },
     "keysieve_set_trouble",
     "What keeps the loader from its work with the set: 1 for each trouble that it has.", "", !kWide,
     "trouble"},
    {"trouble_reason", Unit::Plain, [](auto& set) { return text_or_null(set.loader->diagnosis.reason); }},
    {"cache_trouble", Unit::Plain, report_if_any<&SetReport::cache_trouble>},
    {"max_fpr", Unit::Share, report<&SetReport::max_fpr>, "keysieve_set_max_fpr_ratio",
     "Highest estimated rate that the configuration allows, where it does."},
    {"store_generation", Unit::Generation, report_if_any<&SetReport::store_generation>,
     "keysieve_set_store_generation", "Generation that the store called current when it last answered."},
    {"store_lag_seconds", Unit::Plain,
     [](auto& set) { return set.loader->store_generation == 0 ? Json() : Json(set.store_lag_seconds); },
     "keysieve_set_store_lag_seconds",
     "How long this host has known of a current generation that is not live; 0: it is live."},
    {"keys_change_ratio", Unit::Share, report<&SetReport::key_change>, "keysieve_set_keys_change_ratio",
     "Keys of what is live, less those of what was live before on this host, as a share of these."},
    {"adds_kept", Unit::Count, report<&SetReport::adds_kept>, "keysieve_set_adds_kept",
     "Entries of the adds log that this host keeps, for the next live layer."},
    {"refused_generations", Unit::Count, refused, "keysieve_set_refused_generations_total",
     "Generations that were refused because of damage or a guard; each counts once per reason.", "", !kWide,
     "reason"},
    {"damages_found", Unit::Count, report<&SetReport::damages>, "keysieve_set_damages_found_total",
     "How often bytes in shared memory had changed by themselves; they are published again or restored."},
    {"shards", Unit::Plain, shards},
    {"history", Unit::Plain, history},
};

const Field<SeenReport> kSeenReportTable[]{
    {"store", Unit::Plain, fact_if_any<&SeenReport::store>},
    {"", Unit::Plain, [](auto& seen) { return Json(!seen.is_good()); }, "keysieve_seen_trouble",
     "1 when the loader cannot do what it should with the set."},
    {"trouble_reason", Unit::Plain, fact_if_any<&SeenReport::reason>},
    {"full", Unit::Plain, fact<&SeenReport::is_full>, "keysieve_seen_window_full",
     "1 when the newest window has more keys than all its filters are made for."},
    {"saved_at", Unit::Age, fact_if_any<&SeenReport::saved_at>, "keysieve_seen_saved_age_seconds",
     "Since the set was last saved in its store."},
    {"keys_saved", Unit::Count, fact<&SeenReport::keys_saved>, "keysieve_seen_keys_saved_total",
     "Keys that were saved in the store, for a reboot and for other hosts."},
    {"keys_merged", Unit::Count, fact<&SeenReport::keys_merged>, "keysieve_seen_keys_merged_total",
     "Keys of other hosts that were read from the store."},
    {"saves_lost", Unit::Count, fact<&SeenReport::saves_lost>},
};

}  // namespace

const std::span<const Field<LoaderView>> kLoaderFields = kLoaderTable;
const std::span<const Field<StoreReport>> kStoreFields = kStoreTable;
const std::span<const Field<LoadedSet>> kLoadedSetFields = kLoadedSetTable;
const std::span<const Field<SeenReport>> kSeenReportFields = kSeenReportTable;

std::string status_json_text(const LoaderView& view) {
  Json json = view.directory ? object_of(kDirectoryFields, *view.directory)
                             : Json{{"directory", view.loader->directory}};
  json.update(object_of(kLoaderFields, view));
  json["stores"] = list_of(kStoreFields, view.loader->stores);
  json["sets"] = Json::array();
  for (const LoadedSet& set : view.sets) {
    json["sets"].push_back(object_of<SetFacts>(kSetFields, set));
    json["sets"].back()["loader"] = object_of(kLoadedSetFields, set);
  }
  json["seen_sets"] = Json::array();
  for (const LoadedSeenSet& seen : view.seen) {
    json["seen_sets"].push_back(object_of<SeenSetFacts>(kSeenSetFields, seen));
    json["seen_sets"].back()["loader"] = object_of(kSeenReportFields, seen.loader);
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace keysieve
