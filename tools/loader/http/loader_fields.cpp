// The tables of what only the loader knows.
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
                       {"event", to_string(entry.event)},
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

const Field<LoaderView> kLoaderFields[]{
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
     "When keysieved was started, in Unix time."},
};

const Field<StoreReport> kStoreFields[]{
    {"store", Unit::Plain, fact<&StoreReport::name>},
    {"url", Unit::Plain, fact<&StoreReport::shown>},
    {"up", Unit::Plain, fact<&StoreReport::is_up>, "keysieve_store_up",
     "1 when the store answered when it was asked last."},
    {"failure", Unit::Plain, fact_if_any<&StoreReport::failure>},
};

const Field<LoadedSet> kLoadedSetFields[]{
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
    {"history", Unit::Plain, history},
};

const Field<SeenReport> kSeenReportFields[]{
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

std::span<const Field<LoaderView>> loader_fields() {
  return kLoaderFields;
}

std::span<const Field<StoreReport>> store_fields() {
  return kStoreFields;
}

std::span<const Field<LoadedSet>> loaded_set_fields() {
  return kLoadedSetFields;
}

std::span<const Field<SeenReport>> seen_report_fields() {
  return kSeenReportFields;
}

}  // namespace keysieve
