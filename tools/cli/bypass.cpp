// keysieve bypass: the switch for 3 a.m.; every lookup in a set answers maybe, on this host from the next
// call on, or on every host that follows a store. For a seen set, whose workers then answer as on_unavailable
// says, only on this host.
#include "core/publisher/shm/bypass.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "core/worker/base/error.hpp"
#include "core/worker/shm/set_reader.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/set_names.hpp"
#include "tools/program/optional_json.hpp"
#include "tools/program/units.hpp"
#include "tools/status/seen_set_facts.hpp"
#include "tools/status/set_facts.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve {
namespace {

struct BypassOptions {
  std::optional<std::string> set_name;
  std::string directory;
  std::optional<std::string> store_url;
  std::optional<UnixSeconds> for_seconds;
  bool off = false;
  bool show = false;
  bool allow_unknown_set = false;
};

// What a bypass of a set means.
struct Meaning {
  std::string on;
  std::string_view off;
};
constexpr const char* kMaybe = "every lookup answers maybe";

// `until`: nothing for off, 0 for without end.
void add_state(Report& report, const std::optional<UnixSeconds>& until, const Meaning& meaning) {
  const std::string end = until.value_or(0) == 0 ? "`--off`" : format_moment(*until);
  const std::string text =
      until ? fmt::format("on, until {}: {}", end, meaning.on) : std::string(meaning.off);
  report.add("bypass", text, "bypass", until.has_value());
  if (until.value_or(0) != 0) report.add_member("bypass_until", *until);
}

std::optional<UnixSeconds> wanted_end(const BypassOptions& options) {
  if (options.off) return std::nullopt;
  return options.for_seconds ? unix_now() + *options.for_seconds : 0;
}

// What it means that the switch of this host is off.
std::string_view off_text(const BypassOptions& options) {
  SetReader reader = status_reader(options.directory, *options.set_name);
  reader.follow();
  if (reader.availability() == Availability::Ready) return "off: lookups answer normally";
  return code_of(set_facts(reader, unix_now(), Reading::Headers)) == to_string(Availability::Bypassed)
             ? "off on this host, but on in the store: see --store"
             : "off on this host; keysieve status says why the set does not answer";
}

void bypass_published(Report& report, const BypassOptions& options) {
  const auto until = wanted_end(options);
  set_bypass(options.directory, *options.set_name, until.value_or(kBypassOver));
  add_state(report, until, {.on = kMaybe, .off = until ? "" : off_text(options)});
}

std::string meaning_of(OnUnavailable answer) {
  const char* meaning = answer == OnUnavailable::New    ? "every key is new"
                        : answer == OnUnavailable::Seen ? "every key is seen"
                                                        : "each call throws an exception";
  return fmt::format("workers answer as on_unavailable says: \"{}\", {}", to_string(answer), meaning);
}

void bypass_seen(Report& report, const BypassOptions& options) {
  const auto until = wanted_end(options);
  set_seen_bypass(options.directory, *options.set_name, until.value_or(kBypassOver));
  SeenReader reader = seen_status_reader(options.directory, *options.set_name);
  const bool is_ready = reader.follow();
  add_state(report, until,
            {.on = meaning_of(reader.on_unavailable()),
             .off = is_ready ? "off: workers add keys again"
                             : "off; keysieve status says why the set takes no keys"});
  report.add_member("on_unavailable", to_string(reader.on_unavailable()));
}

void bypass_here(const BypassOptions& options) {
  if (!options.set_name)
    throw Error(ErrorKind::Usage, "SET is missing; only with --store can all sets be bypassed at once");
  Report report;
  report.add("set", *options.set_name, "set", *options.set_name);
  for (const SetType type : sets_named(options.directory, *options.set_name)) {
    type == SetType::Published ? bypass_published(report, options) : bypass_seen(report, options);
  }
  report.print();
}

void add_record(Report& report, const std::string& label, const std::string& name, const StoreBypass& until) {
  const std::string end = until.value_or(0) == 0 ? "" : ", until " + format_moment(*until);
  report.add(label, until ? "on" + end : "off", name,
             until ? Json{{"until", number_or_null(*until)}} : Json());
}

void show(Report& report, const BypassOptions& options, Store& store) {
  const StoreBypasses bypasses = read_store_bypasses(store, options.set_name);
  add_state(report, bypassed_until(bypasses, unix_now()),
            {.on = kMaybe, .off = "off in the store; hosts may have bypasses of their own"});
  if (options.set_name) add_record(report, "of the set", "of_set", bypasses.of_set);
  add_record(report, "of all sets", "of_all", bypasses.of_all);
}

// A bypass of a mistyped name would say "on" while the set that was meant goes on answering.
void check_means_a_set(const BypassOptions& options, Store& store) {
  if (!options.set_name || options.allow_unknown_set) return;
  if (read_store_bypasses(store, *options.set_name).of_set) return;
  if (is_only_seen(store, options.directory, *options.set_name)) {
    throw Error(
        ErrorKind::Usage,
        fmt::format("{0} is a seen set, which is bypassed on each host by itself: keysieve bypass {0}",
                    *options.set_name));
  }
  check_known(store, options.directory, *options.set_name);
}

void bypass_in_store(const BypassOptions& options) {
  if (options.set_name) checked_set_name(*options.set_name);
  const auto store = open_given_store(*options.store_url, options.show ? StoreUse::Read : StoreUse::Bypass);
  check_means_a_set(options, *store);
  if (!options.show) set_store_bypass(*store, options.set_name, wanted_end(options));
  Report report;
  report.add("set", options.set_name.value_or("all sets of the store"), "set",
             options.set_name ? Json(*options.set_name) : Json());
  report.add("store", store->name(), "store", store->name());
  show(report, options, *store);
  report.print();
}

}  // namespace

void add_bypass(CLI::App& program, VerbResult& /*result*/) {
  auto options = std::make_shared<BypassOptions>();
  CLI::App* verb = add_verb(
      program, "bypass",
      "Make every lookup in a set answer maybe, or as on_unavailable says, from the next call on",
      "  keysieve bypass tags\n"
      "  keysieve bypass tags --for 2h\n"
      "  keysieve bypass tags --off\n"
      "  keysieve bypass tags --store redis://cache:6379/2 --for 2h\n"
      "  keysieve bypass --store redis://cache:6379/2\n"
      "  keysieve bypass --store redis://cache:6379/2 --show\n"
      "The switches of a host and of a store are independent: lookups answer normally only when\n"
      "all are off. A set that neither the store nor this host has is refused: the name may be\n"
      "mistyped. Ahead of its first push, --allow-unknown-set takes it.\n"
      "  keysieve bypass clicks --for 10m\n"
      "A seen set has no switch in a store. While it is bypassed, workers of this host neither ask nor\n"
      "add: they answer as its on_unavailable says, and keys that come meanwhile are not remembered.");
  verb->add_option("SET", options->set_name, "Name of the set; without it all published sets of the --store");
  add_directory(verb, options->directory);
  auto* store =
      verb->add_option("--store", options->store_url,
                       "On every host that follows this store: " + store_schemes() + ", instead of this host")
          ->type_name("URL");
  auto* limit = add_parsed(
                    verb, "--for", options->for_seconds,
                    [](const std::string& text) {
                      const auto span = std::chrono::ceil<std::chrono::seconds>(parse_duration(text)).count();
                      if (span == 0) throw Error(ErrorKind::Usage, "must be above 0; --off ends a bypass");
                      return span;
                    },
                    "End it automatically after this time: 30m, 2h [until --off]")
                    ->type_name("DURATION");
  auto* off = verb->add_flag("--off", options->off, "Answer again")->excludes(limit);
  verb->add_flag("--show", options->show, "Change nothing, show what the --store says")
      ->needs(store)
      ->excludes(limit)
      ->excludes(off);
  add_allow_unknown_set(verb, options->allow_unknown_set);
  verb->callback([options] { options->store_url ? bypass_in_store(*options) : bypass_here(*options); });
}

}  // namespace keysieve
