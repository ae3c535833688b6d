// keysieve bypass: the switch for 3 a.m.; every lookup in a set answers maybe from the next call on.
#include "core/shm/bypass.hpp"

#include <fmt/format.h>

#include <memory>

#include "core/base/error.hpp"
#include "tools/cli/options.hpp"
#include "tools/cli/report.hpp"
#include "tools/cli/verbs.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

struct BypassOptions {
  std::string set_name;
  std::string directory;
  std::optional<UnixSeconds> for_seconds;
  bool off = false;
  bool json = false;
};

void bypass(const BypassOptions& options) {
  const UnixSeconds until = options.for_seconds ? unix_now() + *options.for_seconds : 0;
  if (options.off) {
    clear_bypass(options.directory, options.set_name);
  } else {
    set_bypass(options.directory, options.set_name, until);
  }
  const std::string state = options.off ? "off: lookups are answered"
                            : until == 0
                                ? "on, until `--off`: every lookup answers maybe"
                                : "on, until " + format_moment(until) + ": every lookup answers maybe";
  Report report;
  report.add("set", options.set_name, "set", options.set_name);
  report.add("bypass", state, "bypass", !options.off);
  if (!options.off && until != 0) report.add("until", format_moment(until), "bypass_until", until);
  report.print(options.json);
}

}  // namespace

void add_bypass(CLI::App& program, Outcome& /*outcome*/) {
  auto options = std::make_shared<BypassOptions>();
  CLI::App* verb =
      add_verb(program, "bypass", "Make every lookup in a set answer maybe, from the next call on",
               "  keysieve bypass tags\n"
               "  keysieve bypass tags --for 2h\n"
               "  keysieve bypass tags --off");
  verb->add_option("SET", options->set_name, "Name of the set")->required();
  add_directory(verb, options->directory);
  auto* limit = add_parsed(
                    verb, "--for", options->for_seconds,
                    [](const std::string& text) {
                      const auto span = std::chrono::ceil<std::chrono::seconds>(parse_duration(text)).count();
                      if (span == 0) throw UsageError("a bypass lasts longer than nothing; --off ends it");
                      return span;
                    },
                    "End it by itself after this time: 30m, 2h [until --off]")
                    ->type_name("DURATION");
  verb->add_flag("--off", options->off, "Answer again")->excludes(limit);
  add_json(verb, options->json);
  verb->callback([options] { bypass(*options); });
}

}  // namespace keysieve
