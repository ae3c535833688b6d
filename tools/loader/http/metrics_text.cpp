#include "tools/loader/http/loader_view.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "tools/loader/http/metric_writer.hpp"
#include "tools/program/program.hpp"

namespace keysieve {
namespace {

using Type = MetricWriter::Type;
using Value = std::optional<double>;

template <typename Number>
Value number(const Number& value) {
  return static_cast<double>(value);
}
template <typename Number>
Value number(const std::optional<Number>& value) {
  return value ? number(*value) : Value();
}

// Seconds since then; nothing if it never happened.
Value since(UnixSeconds moment, UnixSeconds now) {
  return moment == 0 ? Value() : number(now - moment);
}

// What readers see of a set, and what the loader reports of it.
const std::optional<LivePublication>& live_of(const LoadedSet& set) {
  return set.published;
}
const std::optional<SeenFacts>& live_of(const LoadedSeenSet& seen) {
  return seen.live;
}
const SetReport& report_of(const LoadedSet& set) {
  return *set.loader;
}
const SeenReport& report_of(const LoadedSeenSet& seen) {
  return seen.loader;
}

// A fact as it is, or the time since that moment.
template <auto member>
Value live(const auto& set, const LoaderView& /*view*/) {
  return live_of(set) ? number((*live_of(set)).*member) : Value();
}
template <auto member>
Value live_since(const auto& set, const LoaderView& view) {
  return live_of(set) ? since((*live_of(set)).*member, view.now) : Value();
}
template <auto member>
Value report(const auto& set, const LoaderView& /*view*/) {
  return number(report_of(set).*member);
}

bool has_limit(const LoadedSet& set) {
  return set.published && set.published->valid_until != 0;
}
bool has_layer(const LoadedSet& set) {
  return set.published && set.published->layer_fill;
}
template <double LayerFill::*member>
Value layer(const LoadedSet& set, const LoaderView& /*view*/) {
  return has_layer(set) ? number((*set.published->layer_fill).*member) : Value();
}

// A set for which there is no value has no sample.
template <typename Set>
struct Metric {
  std::string_view name;
  std::string_view help;
  Value (*value)(const Set& set, const LoaderView& view);
  Type type = Type::Gauge;
};

constexpr Metric<LoadedSet> kSetMetrics[]{
    {"keysieve_set_generation", "Generation that is live; 0: published from a file.",
     live<&LivePublication::generation>},
    {"keysieve_set_publication", "Publication that is live; rises with each publish.",
     [](auto& set, auto&) { return set.published ? number(set.published->id.publication) : Value(); }},
    {"keysieve_set_published_age_seconds", "Since it was published on this host.",
     live_since<&LivePublication::published_at>},
    {"keysieve_set_as_of_age_seconds", "Since its keys began to be read from their source.",
     live_since<&LivePublication::as_of>},
    {"keysieve_set_expires_in_seconds",
     "Until lookups answer maybe because it is too old, negative afterwards; only with a limit.",
     [](auto& set, auto& view) {
       return has_limit(set) ? number(set.published->valid_until - view.now) : Value();
     }},
    {"keysieve_set_valid_for_seconds",
     "How long the snapshot is valid after its keys began to be read; only with a limit.",
     [](auto& set, auto&) {
       return has_limit(set) ? number(set.published->valid_until - set.published->as_of) : Value();
     }},
    {"keysieve_set_keys", "Keys of the snapshot that is live.", live<&LivePublication::key_count>},
    {"keysieve_set_known_absent_keys",
     "Keys that the live snapshot was built to answer absent for certain; only if it was.",
     live<&LivePublication::known_absent>},
    {"keysieve_set_value_width", "Bits of each key's value in the live map; only if it is one.",
     [](auto& set, auto&) {
       return set.published && set.published->value_bits != 0 ? number(set.published->value_bits) : Value();
     }},
    {"keysieve_set_bytes", "Size of the snapshot that is live.", live<&LivePublication::bytes>},
    {"keysieve_set_estimated_fpr_ratio", "Estimated false-positive rate of the snapshot alone.",
     live<&LivePublication::estimated_fpr>},
    {"keysieve_set_max_fpr_ratio", "Highest estimated rate that the configuration allows, where it does.",
     report<&SetReport::max_fpr>},
    {"keysieve_set_keys_change_ratio",
     "Keys of what is live, less those of what was live before on this host, as a share of these.",
     report<&SetReport::key_change>},
    {"keysieve_set_added_keys", "Keys added since the snapshot was built, in the live layer.",
     [](auto& set, auto&) { return has_layer(set) ? number(set.published->added_keys) : Value(); }},
    {"keysieve_set_layer_bytes", "Size of the live layer.",
     [](auto& set, auto&) { return has_layer(set) ? number(set.published->layer.bytes()) : Value(); }},
    {"keysieve_set_layer_fill_ratio", "Share of the live layer's bits that are set.",
     layer<&LayerFill::fill_ratio>},
    {"keysieve_set_layer_estimated_fpr_ratio", "Estimated false-positive rate that the live layer adds.",
     layer<&LayerFill::estimated_fpr>},
    {"keysieve_set_confirmed_age_seconds",
     "Since the loader last saw that the store has nothing newer than what is live.",
     live_since<&LivePublication::last_confirmed>},
    {"keysieve_set_store_generation", "Generation that the store called current when it last answered.",
     [](auto& set, auto&) {
       return set.loader->store_generation == 0 ? Value() : number(set.loader->store_generation);
     }},
    {"keysieve_set_store_lag_seconds",
     "How long this host has known of a current generation that is not live; 0: it is live.",
     [](auto& set, auto& view) {
       return set.loader->store_generation == 0 ? Value() : store_lag_seconds(*set.loader, view.steady_now);
     }},
    {"keysieve_set_adds_kept", "Entries of the adds log that this host keeps, for the next live layer.",
     report<&SetReport::adds_kept>},
    {"keysieve_set_damages_found_total",
     "How often bytes in shared memory had changed by themselves; they are published again or restored.",
     report<&SetReport::damages>, Type::Counter},
};

constexpr Metric<LoadedSeenSet> kSeenMetrics[]{
    {"keysieve_seen_trouble", "1 when the loader cannot do what it should with the set.",
     [](auto& seen, auto&) { return number(!seen.loader.is_good()); }},
    {"keysieve_seen_estimated_window_keys", "Keys of the newest window, from its tags.",
     live<&SeenFacts::keys>},
    {"keysieve_seen_window_capacity_keys", "Keys that the newest window is made for, grown or not.",
     live<&SeenFacts::capacity>},
    {"keysieve_seen_window_full", "1 when the newest window has more keys than all its filters are made for.",
     report<&SeenReport::is_full>},
    {"keysieve_seen_windows", "Live windows; more than configured while windows last longer.",
     live<&SeenFacts::windows>},
    {"keysieve_seen_filters", "Filters that each lookup asks.", live<&SeenFacts::filters>},
    {"keysieve_seen_bytes", "Memory of all filters.", live<&SeenFacts::bytes>},
    {"keysieve_seen_estimated_fpr_ratio", "Share of new keys that come back as seen, from the tags.",
     live<&SeenFacts::estimated_fpr>},
    {"keysieve_seen_oldest_window_age_seconds", "Since the oldest live window began.",
     [](auto& seen, auto& view) {
       return seen.live ? number(view.now - seen.live->oldest_begins) : Value();
     }},
    {"keysieve_seen_window_overdue_seconds", "How long ago the newest window should have ended.",
     [](auto& seen, auto& view) {
       return seen.live ? number(std::max<UnixSeconds>(0, view.now - seen.live->newest_ends)) : Value();
     }},
    {"keysieve_seen_saved_age_seconds", "Since the set was last saved in its store.",
     [](auto& seen, auto& view) { return since(seen.loader.saved_at, view.now); }},
    {"keysieve_seen_keys_saved_total", "Keys that were saved in the store, for a reboot and for other hosts.",
     report<&SeenReport::keys_saved>, Type::Counter},
    {"keysieve_seen_keys_merged_total", "Keys of other hosts that were read from the store.",
     report<&SeenReport::keys_merged>, Type::Counter},
};

// A seen set has no valid_for.
constexpr std::array kSeenAvailabilities{Availability::Ready, Availability::Missing, Availability::Bypassed,
                                         Availability::Incompatible};

class Metrics {
 public:
  explicit Metrics(const LoaderView& view) : view_(view) {}

  std::string text() {
    of_loader();
    of_stores();
    of_directory();
    each_state<LoadedSet>("keysieve_set_availability",
                          "What lookups find: 1 for the state that the set is in.", view_.sets,
                          kAvailabilities);
    troubles();
    each<LoadedSet>(kSetMetrics, view_.sets);
    refused_generations();
    each_duration("keysieve_set_pull_duration_seconds", "Time of pulling a snapshot from the store.",
                  &SetReport::pulls);
    each_duration("keysieve_set_publish_duration_seconds",
                  "Time of publishing a snapshot: writing, checking, making current.", &SetReport::publishes);
    each_state<LoadedSeenSet>("keysieve_seen_availability",
                              "What workers of this host find: 1 for the state that the seen set is in.",
                              view_.seen, kSeenAvailabilities);
    each<LoadedSeenSet>(kSeenMetrics, view_.seen);
    return writer_.text();
  }

 private:
  void one(std::string_view name, std::string_view help, Value value) {
    writer_.family(Type::Gauge, name, help);
    if (value) writer_.sample({}, *value);
  }

  template <typename Set>
  void each(std::span<const Metric<Set>> metrics, const auto& sets) {
    for (const Metric<Set>& metric : metrics) {
      writer_.family(metric.type, metric.name, metric.help);
      for (const Set& set : sets) {
        const Value value = metric.value(set, view_);
        if (value) writer_.sample({{"set", set.name}}, *value);
      }
    }
  }

  // A sample for each set and each of the names.
  template <typename Set>
  void each_of(const auto& sets, std::string_view label, const auto& names, const auto& value_of) {
    for (const Set& set : sets) {
      for (const auto& name : names)
        writer_.sample({{"set", set.name}, {label, to_string(name)}}, value_of(set, name));
    }
  }

  template <typename Set>
  void each_state(std::string_view name, std::string_view help, const auto& sets,
                  std::span<const Availability> states) {
    writer_.family(Type::Gauge, name, help);
    each_of<Set>(sets, "state", states,
                 [](const Set& set, Availability state) { return set.availability == state ? 1.0 : 0.0; });
  }

  void each_duration(std::string_view name, std::string_view help, Durations SetReport::*durations) {
    writer_.family(Type::Histogram, name, help);
    for (const LoadedSet& set : view_.sets) writer_.histogram({{"set", set.name}}, (*set.loader).*durations);
  }

  void of_loader() {
    writer_.family(Type::Gauge, "keysieve_build_info", "The version of keysieved; always 1.");
    writer_.sample({{"version", kVersion}}, 1);
    one("keysieve_loader_start_time_seconds", "When keysieved was started, in Unix time.",
        number(view_.loader.started_at));
    one("keysieve_loader_ready", "1 when no set is held back by this host, as /healthz says.",
        number(view_.is_ready()));
    one("keysieve_loader_heartbeat_age_seconds", "Since the last sign of life of the loader's main loop.",
        view_.heartbeat.age.count());
  }

  void of_stores() {
    writer_.family(Type::Gauge, "keysieve_store_up", "1 when the store answered when it was asked last.");
    for (const StoreReport& store : view_.loader.stores) {
      writer_.sample({{"store", store.name}}, store.is_up ? 1 : 0);
    }
  }

  void of_directory() {
    if (!view_.directory) return;
    const MemoryUse& use = view_.directory->memory;
    one("keysieve_directory_visible_bytes", "Shared memory of all publications that have a name.",
        number(use.visible_bytes));
    one("keysieve_directory_pinned_bytes",
        "Shared memory of replaced publications that idle workers still map; on a tmpfs of its own.",
        number(use.pinned_bytes));
  }

  void troubles() {
    writer_.family(Type::Gauge, "keysieve_set_trouble",
                   "What keeps the loader from its work with the set: 1 for each trouble that it has.");
    each_of<LoadedSet>(view_.sets, "trouble", kSetTroubles, [](const LoadedSet& set, Trouble trouble) {
      return set.loader->troubles().has(trouble) ? 1.0 : 0.0;
    });
  }

  void refused_generations() {
    writer_.family(
        Type::Counter, "keysieve_set_refused_generations_total",
        "Generations that were refused because of damage or a guard; each counts once per reason.");
    each_of<LoadedSet>(view_.sets, "reason", kRefusals, [](const LoadedSet& set, ErrorKind reason) {
      const auto at = std::ranges::find(kRefusals, reason) - kRefusals.begin();
      return static_cast<double>(set.loader->refused[static_cast<std::size_t>(at)]);
    });
  }

  const LoaderView& view_;
  MetricWriter writer_;
};

}  // namespace

std::string metrics_text(const LoaderView& view) {
  return Metrics(view).text();
}

}  // namespace keysieve
