// keysieve bypass: the switch for 3 a.m.; every lookup in a set answers maybe, on this host from the next
// call on, or on every host that follows a store. For a seen set, whose workers then answer as on_unavailable
// says, only on this host.
#include "core/publisher/shm/bypass.hpp"

#include <fmt/core.h>

#include "core/worker/shm/set_reader.hpp"
#include "tools/cli/set_names.hpp"
#include "tools/cli/verb.hpp"
#include "tools/status/fields.hpp"
#include "tools/status/seen_set_facts.hpp"
#include "tools/status/set_facts.hpp"
#include "tools/transfer/store_bypass.hpp"

namespace keysieve {
namespace {

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

std::string meaning_of(OnUnavailable answer) {
  const char* meaning = answer == OnUnavailable::New    ? "every key is new"
                        : answer == OnUnavailable::Seen ? "every key is seen"
                                                        : "each call throws an exception";
  return fmt::format("workers answer as on_unavailable says: \"{}\", {}", to_string(answer), meaning);
}

void add_record(Report& report, const std::string& label, const std::string& name, const StoreBypass& until) {
  const std::string end = until.value_or(0) == 0 ? "" : ", until " + format_moment(*until);
  report.add(label, until ? "on" + end : "off", name,
             until ? Json{{"until", to_value_if_any(*until)}} : Json());
}

class BypassVerb {
 public:
  void declare(CLI::App* verb) {
    verb->add_option("SET", set_name_, "Name of the set; without it all published sets of the --store");
    add_directory(verb, directory_);
    auto* store = verb->add_option("--store", store_url_,
                                   "On every host that follows this store: " + store_schemes() +
                                       ", instead of this host")
                      ->type_name("URL");
    const auto parse = [](const std::string& text) {
      const auto span = std::chrono::ceil<std::chrono::seconds>(parse_duration(text)).count();
      if (span == 0) throw Error(ErrorKind::Usage, "must be above 0; --off ends a bypass");
      return span;
    };
    auto* limit = add_parsed(verb, "--for DURATION", for_seconds_, parse,
                             "End it automatically after this time: 30m, 2h [until --off]");
    auto* off = verb->add_flag("--off", off_, "Answer again")->excludes(limit);
    verb->add_flag("--show", show_, "Change nothing, show what the --store says")
        ->needs(store)
        ->excludes(limit)
        ->excludes(off);
    add_allow_unknown_set(verb, allow_unknown_set_);
  }

  int run() {
    store_url_ ? bypass_in_store() : bypass_here();
    return 0;
  }

 private:
  std::optional<UnixSeconds> wanted_end() {
    if (off_) return std::nullopt;
    return for_seconds_ ? unix_now() + *for_seconds_ : 0;
  }

  // What it means that the switch of this host is off.
  std::string_view off_text() {
    SetReader reader = status_reader(directory_, *set_name_);
    reader.follow();
    if (reader.availability() == Availability::Ready) return "off: lookups answer normally";
    return code_of(set_facts(reader, unix_now(), Reading::Headers)) == to_string(Availability::Bypassed)
               ? "off on this host, but on in the store: see --store"
               : "off on this host; keysieve status says why the set does not answer";
  }

  void bypass_published(Report& report) {
    const auto until = wanted_end();
    set_bypass(directory_, *set_name_, until.value_or(kBypassOver));
    add_state(report, until, {.on = kMaybe, .off = until ? "" : off_text()});
  }

  void bypass_seen(Report& report) {
    const auto until = wanted_end();
    set_seen_bypass(directory_, *set_name_, until.value_or(kBypassOver));
    SeenReader reader = seen_status_reader(directory_, *set_name_);
    const bool is_ready = reader.follow();
    add_state(report, until,
              {.on = meaning_of(reader.on_unavailable()),
               .off = is_ready ? "off: workers add keys again"
                               : "off; keysieve status says why the set takes no keys"});
    report.add_member("on_unavailable", to_string(reader.on_unavailable()));
  }

  void bypass_here() {
    if (!set_name_)
      throw Error(ErrorKind::Usage, "SET is missing; only with --store can all sets be bypassed at once");
    Report report;
    report.add("set", *set_name_);
    for (const SetType type : sets_named(directory_, *set_name_)) {
      type == SetType::Published ? bypass_published(report) : bypass_seen(report);
    }
    report.print();
  }

  void show(Report& report, Store& store) {
    const StoreBypasses bypasses = read_store_bypasses(store, set_name_);
    add_state(report, bypassed_until(bypasses, unix_now()),
              {.on = kMaybe, .off = "off in the store; hosts may have bypasses of their own"});
    if (set_name_) add_record(report, "of the set", "of_set", bypasses.of_set);
    add_record(report, "of all sets", "of_all", bypasses.of_all);
  }

  // A bypass of a mistyped name would say "on" while the set that was meant goes on answering.
  void check_means_a_set(Store& store) {
    if (!set_name_ || allow_unknown_set_) return;
    if (read_store_bypasses(store, *set_name_).of_set) return;
    check_known(store, directory_, *set_name_);
  }

  void bypass_in_store() {
    if (set_name_) checked_set_name(*set_name_);
    const auto store = open_given_store(*store_url_, show_ ? StoreUse::Read : StoreUse::Bypass);
    check_means_a_set(*store);
    if (!show_) set_store_bypass(*store, set_name_, wanted_end());
    Report report;
    report.add("set", set_name_.value_or("all sets of the store"), "set",
               set_name_ ? Json(*set_name_) : Json());
    report.add("store", store->name());
    show(report, *store);
    report.print();
  }

  std::optional<std::string> set_name_;
  std::string directory_;
  std::optional<std::string> store_url_;
  std::optional<UnixSeconds> for_seconds_;
  bool off_ = false;
  bool show_ = false;
  bool allow_unknown_set_ = false;
};

}  // namespace

extern const Verb kBypass{
    "bypass", "Make every lookup in a set answer maybe, or as on_unavailable says, from the next call on",
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
    "add: they answer as its on_unavailable says, and keys that come meanwhile are not remembered.",
    prepare<BypassVerb>};

}  // namespace keysieve
