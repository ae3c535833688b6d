// The tables of what only the loader knows, and all tables as JSON and as metrics.
#include <fmt/core.h>

#include <iterator>

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
                       {"publication", to_value_if_any(entry.publication)},
                       {"key_count", entry.key_count},
                       {"known_absent_count", to_value(entry.known_absent)},
                       {"bytes", entry.bytes},
                       {"pull_seconds", to_value(entry.pull_seconds)},
                       {"publish_seconds", to_value(entry.publish_seconds)},
                       {"reason", to_value_if_any(entry.reason)}});
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

const Field<LoaderView> kLoaderFields[]{
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

const Field<StoreReport> kStoreFields[]{
    {"store", Unit::Plain, fact<&StoreReport::name>},
    {"url", Unit::Plain, fact<&StoreReport::shown>},
    {"up", Unit::Plain, [](auto& store) { return Json(store.failure.empty()); }, "keysieve_store_up",
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
    {"trouble_reason", Unit::Plain, [](auto& set) { return to_value_if_any(set.loader->diagnosis.reason); }},
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

std::string label(std::string_view name, std::string_view value) {
  std::string text = fmt::format("{}=\"", name);
  for (const char c : value) {
    if (c == '"' || c == '\\') text += '\\';
    text += c == '\n' ? "\\n" : std::string(1, c);
  }
  return text + "\"";
}

// Prometheus' text format, version 0.0.4: families of samples, each with its help and type.
class Metrics {
 public:
  explicit Metrics(const LoaderView& view) : view_(view) {}

  std::string text() {
    write(kLoaderFields, "", std::span(&view_, 1));
    write(kStoreFields, "store", view_.loader->stores);
    if (view_.directory) write(kDirectoryFields, "", std::span(&*view_.directory, 1));
    write(kSetFields, "set", view_.sets);
    write(kLoadedSetFields, "set", view_.sets);
    durations("keysieve_set_pull_duration_seconds", "Time of pulling a snapshot from the store.",
              &SetReport::pulls);
    durations("keysieve_set_publish_duration_seconds",
              "Time of publishing a snapshot: writing, checking, making current.", &SetReport::publishes);
    write(kSeenSetFields, "set", view_.seen);
    std::vector<SeenReport> reports;
    for (const LoadedSeenSet& set : view_.seen) reports.push_back(set.loader);
    write(kSeenReportFields, "set", reports);
    return text_;
  }

 private:
  // A sample for each of `all`, with its name as the label `what`, if it has one.
  void write(const auto& fields, std::string_view what, const auto& all) {
    for (const auto& field : fields) {
      if (field.metric.empty()) continue;
      family(field.metric, field.help, field.metric.ends_with("_total") ? "counter" : "gauge");
      for (const auto& facts : all) {
        std::string labels;
        if constexpr (requires { facts.name; }) labels = label(what, facts.name);
        const Json value = field.value(facts);
        if (!value.is_object()) {
          if (!value.is_null()) sample("", labels, number(field.unit, value));
          continue;
        }
        if (!labels.empty()) labels += ",";
        for (const auto& [name, one] : value.items())
          sample("", labels + label(field.label, name), number(field.unit, one));
      }
    }
  }

  [[nodiscard]] double number(Unit unit, const Json& value) const {
    if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
    const auto now = static_cast<double>(view_.now);
    const auto as_it_is = value.get<double>();
    if (unit == Unit::Age) return now - as_it_is;
    return unit == Unit::Until ? as_it_is - now : as_it_is;
  }

  void durations(std::string_view name, std::string_view help, Durations SetReport::*member) {
    family(name, help, "histogram");
    for (const LoadedSet& set : view_.sets) {
      const Durations& durations = (*set.loader).*member;
      const std::string labels = label("set", set.name);
      const auto up_to = [&](std::string_view bound, std::uint64_t count) {
        sample("_bucket", labels + "," + label("le", bound), static_cast<double>(count));
      };
      for (std::size_t i = 0; i < Durations::kBounds.size(); ++i)
        up_to(fmt::format("{}", Durations::kBounds[i]), durations.up_to(i));
      up_to("+Inf", durations.count());
      sample("_sum", labels, durations.sum());
      sample("_count", labels, static_cast<double>(durations.count()));
    }
  }

  // The samples written next belong to it. A family without a sample is left out.
  void family(std::string_view name, std::string_view help, std::string_view type) {
    name_ = name;
    head_ = fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }
  void sample(std::string_view suffix, const std::string& labels, double value) {
    text_ += std::exchange(head_, "");
    const std::string braced = labels.empty() ? "" : "{" + labels + "}";
    fmt::format_to(std::back_inserter(text_), "{}{}{} {}\n", name_, suffix, braced, value);
  }

  const LoaderView& view_;
  std::string text_;
  std::string_view name_;
  std::string head_;
};

}  // namespace

std::string status_json_text(const LoaderView& view) {
  Json json = view.directory ? object_of(kDirectoryFields, *view.directory)
                             : Json{{"directory", view.loader->directory}};
  json.update(object_of<LoaderView>(kLoaderFields, view));
  json["stores"] = list_of<StoreReport>(kStoreFields, view.loader->stores);
  json["sets"] = Json::array();
  for (const LoadedSet& set : view.sets) {
    json["sets"].push_back(object_of<SetFacts>(kSetFields, set));
    json["sets"].back()["loader"] = object_of<LoadedSet>(kLoadedSetFields, set);
  }
  json["seen_sets"] = Json::array();
  for (const LoadedSeenSet& seen : view.seen) {
    json["seen_sets"].push_back(object_of<SeenSetFacts>(kSeenSetFields, seen));
    json["seen_sets"].back()["loader"] = object_of<SeenReport>(kSeenReportFields, seen.loader);
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string metrics_text(const LoaderView& view) {
  return Metrics(view).text();
}

}  // namespace keysieve
