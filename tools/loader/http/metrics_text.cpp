#include "tools/loader/http/metrics_text.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "tools/loader/http/metric_writer.hpp"
#include "tools/program/program.hpp"

namespace keysieve {
namespace {

using Type = MetricWriter::Type;
using Value = std::optional<double>;
using OfSet = std::function<Value(const LoadedSet&)>;
using OfPublication = std::function<Value(const LivePublication&)>;

double number(std::uint64_t value) {
  return static_cast<double>(value);
}

// A seen set has no valid_for.
constexpr std::array kSeenAvailabilities{Availability::Ready, Availability::Missing, Availability::Bypassed,
                                         Availability::Incompatible};

// Seconds since then; nothing if it never happened.
Value since(UnixSeconds moment, UnixSeconds now) {
  if (moment == 0) return std::nullopt;
  return static_cast<double>(now - moment);
}

Value if_any(bool is_any, double value) {
  return is_any ? Value(value) : std::nullopt;
}

class Metrics {
 public:
  explicit Metrics(const LoaderView& view) : view_(view) {}

  std::string text() {
    of_loader();
    of_stores();
    of_directory();
    states();
    of_publications();
    of_layers();
    of_refreshes();
    of_seen_sets();
    return writer_.text();
  }

 private:
  void one(std::string_view name, std::string_view help, Value value) {
    writer_.family(Type::Gauge, name, help);
    if (value) writer_.sample({}, *value);
  }

  void each_set(std::string_view name, std::string_view help, const OfSet& value_of) {
    writer_.family(Type::Gauge, name, help);
    for (const LoadedSet& set : view_.sets) {
      if (const Value value = value_of(set)) writer_.sample({{"set", set.name}}, *value);
    }
  }

  void each_seen(std::string_view name, std::string_view help,
                 const std::function<Value(const LoadedSeenSet&)>& value_of, Type type = Type::Gauge) {
    if (view_.seen.empty()) return;
    writer_.family(type, name, help);
    for (const LoadedSeenSet& seen : view_.seen) {
      if (const Value value = value_of(seen)) writer_.sample({{"set", seen.name}}, *value);
    }
  }
  void each_live_seen(std::string_view name, std::string_view help,
                      const std::function<double(const SeenFacts&)>& value_of) {
    each_seen(name, help, [&](const LoadedSeenSet& seen) {
      return seen.live ? Value(value_of(*seen.live)) : std::nullopt;
    });
  }

  void each_published(std::string_view name, std::string_view help, const OfPublication& value_of) {
    each_set(name, help,
             [&](const LoadedSet& set) { return set.published ? value_of(*set.published) : std::nullopt; });
  }

  void each_with_layer(std::string_view name, std::string_view help,
                       const std::function<double(const LivePublication&)>& value_of) {
    each_published(name, help, [&](const LivePublication& published) {
      return published.layer_fill ? Value(value_of(published)) : std::nullopt;
    });
  }

  void each_duration(std::string_view name, std::string_view help, Durations SetReport::*durations) {
    writer_.family(Type::Histogram, name, help);
    for (const LoadedSet& set : view_.sets) {
      writer_.histogram({{"set", set.name}}, (*set.loader).*durations);
    }
  }

  void of_loader();
  void of_stores();
  void of_directory();
  void states();
  void of_publications();
  void of_layers();
  void of_refreshes();
  void refused_generations();
  void of_seen_sets();
  void seen_states();

  const LoaderView& view_;
  MetricWriter writer_;
};

void Metrics::of_loader() {
  writer_.family(Type::Gauge, "keysieve_build_info", "The version of keysieved; always 1.");
  writer_.sample({{"version", kVersion}}, 1);
  one("keysieve_loader_start_time_seconds", "When keysieved was started, in Unix time.",
      static_cast<double>(view_.loader.started_at));
  one("keysieve_loader_ready", "1 when no set is held back by this host, as /healthz says.",
      view_.is_ready() ? 1 : 0);
  one("keysieve_loader_heartbeat_age_seconds", "Since the last sign of life of the loader's main loop.",
      view_.heartbeat.age.count());
}

void Metrics::of_stores() {
  writer_.family(Type::Gauge, "keysieve_store_up", "1 when the store answered when it was asked last.");
  for (const StoreReport& store : view_.loader.stores) {
    writer_.sample({{"store", store.name}}, store.is_up ? 1 : 0);
  }
}

void Metrics::of_directory() {
  if (!view_.directory) return;
  const MemoryUse& use = view_.directory->memory;
  one("keysieve_directory_visible_bytes", "Shared memory of all publications that have a name.",
      number(use.visible_bytes));
  one("keysieve_directory_pinned_bytes",
      "Shared memory of replaced publications that idle workers still map; on a tmpfs of its own.",
      use.pinned_bytes ? Value(number(*use.pinned_bytes)) : std::nullopt);
}

void Metrics::states() {
  writer_.family(Type::Gauge, "keysieve_set_availability",
                 "What lookups find: 1 for the state that the set is in.");
  for (const LoadedSet& set : view_.sets) {
    for (const Availability state : kAvailabilities) {
      writer_.sample({{"set", set.name}, {"state", to_string(state)}}, set.availability == state ? 1 : 0);
    }
  }
  writer_.family(Type::Gauge, "keysieve_set_trouble",
                 "What keeps the loader from its work with the set: 1 for each trouble that it has.");
  for (const LoadedSet& set : view_.sets) {
    for (const Trouble trouble : kSetTroubles) {
      writer_.sample({{"set", set.name}, {"trouble", to_string(trouble)}},
                     set.loader->troubles().has(trouble) ? 1 : 0);
    }
  }
}

void Metrics::of_publications() {
  using Publication = const LivePublication&;
  each_published("keysieve_set_generation", "Generation that is live; 0: published from a file.",
                 [](Publication set) { return number(set.generation); });
  each_published("keysieve_set_publication", "Publication that is live; rises with each publish.",
                 [](Publication set) { return number(set.id.publication); });
  each_published("keysieve_set_published_age_seconds", "Since it was published on this host.",
                 [&](Publication set) { return since(set.published_at, view_.now); });
  each_published("keysieve_set_as_of_age_seconds", "Since its keys began to be read from their source.",
                 [&](Publication set) { return since(set.as_of, view_.now); });
  each_published("keysieve_set_expires_in_seconds",
                 "Until lookups answer maybe because it is too old, negative afterwards; only with a limit.",
                 [&](Publication set) {
                   return if_any(set.valid_until != 0, static_cast<double>(set.valid_until - view_.now));
                 });
  each_published("keysieve_set_valid_for_seconds",
                 "How long the snapshot is valid after its keys began to be read; only with a limit.",
                 [](Publication set) {
                   return if_any(set.valid_until != 0, static_cast<double>(set.valid_until - set.as_of));
                 });
  each_published("keysieve_set_keys", "Keys of the snapshot that is live.",
                 [](Publication set) { return number(set.key_count); });
  each_published(
      "keysieve_set_known_absent_keys",
      "Keys that the live snapshot was built to answer absent for certain; only if it was.",
      [](Publication set) { return set.known_absent ? Value(number(*set.known_absent)) : std::nullopt; });
  each_published("keysieve_set_bytes", "Size of the snapshot that is live.",
                 [](Publication set) { return number(set.bytes); });
  each_published("keysieve_set_estimated_fpr_ratio", "Estimated false-positive rate of the snapshot alone.",
                 [](Publication set) { return set.estimated_fpr; });
  each_set("keysieve_set_max_fpr_ratio",
           "Highest estimated rate that the configuration allows, where it does.",
           [](const LoadedSet& set) { return set.loader->max_fpr; });
  each_set("keysieve_set_keys_change_ratio",
           "Keys of what is live, less those of what was live before on this host, as a share of these.",
           [](const LoadedSet& set) { return set.loader->key_change; });
}

void Metrics::of_layers() {
  using Publication = const LivePublication&;
  each_with_layer("keysieve_set_added_keys", "Keys added since the snapshot was built, in the live layer.",
                  [](Publication set) { return number(set.added_keys); });
  each_with_layer("keysieve_set_layer_bytes", "Size of the live layer.",
                  [](Publication set) { return number(set.layer.bytes()); });
  each_with_layer("keysieve_set_layer_fill_ratio", "Share of the live layer's bits that are set.",
                  [](Publication set) { return set.layer_fill->fill_ratio; });
  each_with_layer("keysieve_set_layer_estimated_fpr_ratio",
                  "Estimated false-positive rate that the live layer adds.",
                  [](Publication set) { return set.layer_fill->estimated_fpr; });
}

void Metrics::of_refreshes() {
  each_published("keysieve_set_confirmed_age_seconds",
                 "Since the loader last saw that the store has nothing newer than what is live.",
                 [&](const LivePublication& set) { return since(set.last_confirmed, view_.now); });
  each_set("keysieve_set_store_generation", "Generation that the store called current when it last answered.",
           [](const LoadedSet& set) {
             return if_any(set.loader->store_generation != 0, number(set.loader->store_generation));
           });
  each_set("keysieve_set_store_lag_seconds",
           "How long this host has known of a current generation that is not live; 0: it is live.",
           [&](const LoadedSet& set) {
             return if_any(set.loader->store_generation != 0,
                           store_lag_seconds(*set.loader, view_.steady_now));
           });
  each_set("keysieve_set_adds_kept", "Entries of the adds log that this host keeps, for the next live layer.",
           [](const LoadedSet& set) { return number(set.loader->adds_kept); });
  refused_generations();
  each_duration("keysieve_set_pull_duration_seconds", "Time of pulling a snapshot from the store.",
                &SetReport::pulls);
  each_duration("keysieve_set_publish_duration_seconds",
                "Time of publishing a snapshot: writing, checking, making current.", &SetReport::publishes);
}

void Metrics::refused_generations() {
  writer_.family(Type::Counter, "keysieve_set_refused_generations_total",
                 "Generations that were refused because of damage or a guard; each counts once per reason.");
  for (const LoadedSet& set : view_.sets) {
    for (std::size_t i = 0; i < kRefusals.size(); ++i) {
      writer_.sample({{"set", set.name}, {"reason", to_string(kRefusals[i])}},
                     number(set.loader->refused[i]));
    }
  }
}

void Metrics::seen_states() {
  if (view_.seen.empty()) return;
  writer_.family(Type::Gauge, "keysieve_seen_availability",
                 "What workers of this host find: 1 for the state that the seen set is in.");
  for (const LoadedSeenSet& seen : view_.seen) {
    for (const Availability state : kSeenAvailabilities) {
      writer_.sample({{"set", seen.name}, {"state", to_string(state)}}, seen.availability == state ? 1 : 0);
    }
  }
}

void Metrics::of_seen_sets() {
  seen_states();
  each_seen("keysieve_seen_trouble", "1 when the loader cannot do what it should with the set.",
            [](const LoadedSeenSet& seen) { return seen.loader.trouble.empty() ? 0 : 1; });
  each_live_seen("keysieve_seen_estimated_window_keys", "Keys of the newest window, from its tags.",
                 [](const SeenFacts& live) { return live.keys; });
  each_live_seen("keysieve_seen_window_capacity_keys",
                 "Keys that the newest window is made for, grown or not.",
                 [](const SeenFacts& live) { return number(live.capacity); });
  each_seen("keysieve_seen_window_full",
            "1 when the newest window has more keys than all its filters are made for.",
            [](const LoadedSeenSet& seen) { return seen.loader.is_full ? 1 : 0; });
  each_live_seen("keysieve_seen_windows", "Live windows; more than configured while windows last longer.",
                 [](const SeenFacts& live) { return number(live.windows); });
  each_live_seen("keysieve_seen_filters", "Filters that each lookup asks.",
                 [](const SeenFacts& live) { return number(live.filters); });
  each_live_seen("keysieve_seen_bytes", "Memory of all filters.",
                 [](const SeenFacts& live) { return number(live.bytes); });
  each_live_seen("keysieve_seen_estimated_fpr_ratio",
                 "Share of new keys that come back as seen, from the tags.",
                 [](const SeenFacts& live) { return live.estimated_fpr; });
  each_live_seen("keysieve_seen_oldest_window_age_seconds", "Since the oldest live window began.",
                 [&](const SeenFacts& live) { return static_cast<double>(view_.now - live.oldest_begins); });
  each_live_seen("keysieve_seen_window_overdue_seconds", "How long ago the newest window should have ended.",
                 [&](const SeenFacts& live) {
                   return static_cast<double>(std::max<UnixSeconds>(0, view_.now - live.newest_ends));
                 });
  each_seen("keysieve_seen_saved_age_seconds", "Since the set was last saved in its store.",
            [&](const LoadedSeenSet& seen) { return since(seen.loader.saved_at, view_.now); });
  each_seen(
      "keysieve_seen_keys_saved_total",
      "Keys that were saved in the store, for a reboot and for other hosts.",
      [](const LoadedSeenSet& seen) { return number(seen.loader.keys_saved); }, Type::Counter);
  each_seen(
      "keysieve_seen_keys_merged_total", "Keys of other hosts that were read from the store.",
      [](const LoadedSeenSet& seen) { return number(seen.loader.keys_merged); }, Type::Counter);
}

}  // namespace

std::string metrics_text(const LoaderView& view) {
  return Metrics(view).text();
}

}  // namespace keysieve
