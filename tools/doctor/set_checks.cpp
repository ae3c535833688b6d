#include <fmt/core.h>

#include <algorithm>

#include "core/snapshot/layout.hpp"
#include "tools/doctor/checks.hpp"
#include "tools/doctor/foreign_folder.hpp"
#include "tools/doctor/publisher.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr std::chrono::seconds kPatience{60};  // with a loader that looks every five seconds
constexpr UnixSeconds kClockTolerance = 5;

std::string age(UnixSeconds moment, UnixSeconds now) {
  return format_duration(std::chrono::seconds(std::max<UnixSeconds>(0, now - moment))) + " ago";
}

std::string commands_against_bypass(const SetStatus& set) {
  std::string here = fmt::format("keysieve bypass {} --off", set.name);
  std::string in_store = here + " --store URL";
  if (set.bypasses && !set.bypasses->by_operator.is_on && !set.bypasses->in_store.is_on) {
    return "keysieved publishes it again as soon as it can; journalctl -u keysieved says what keeps it";
  }
  if (!set.bypasses || !set.bypasses->in_store.is_on) return here;
  return set.bypasses->by_operator.is_on ? here + "; " + in_store : in_store;
}

// Who publishes there by hand, as root say, keeps him out.
bool is_for_a_loader(const Situation& situation) {
  return situation.config || !sole_owner(situation.question.directory);
}

std::string remedy_of(const Situation& situation, const SetStatus& set) {
  const std::string folder = situation.question.directory + "/" + set.name;
  switch (set.availability) {
    case Availability::Expired:
      return "build and push it anew; journalctl -u keysieved says whether the loader gets it";
    case Availability::Bypassed:
      return commands_against_bypass(set);
    case Availability::Incompatible:
      return "upgrade keysieve on this host first, then loaders, then builders; until then build with "
             "--format";
    default:
      break;
  }
  if (set.reason.find("belongs to uid") != std::string::npos)
    return remedy_of_foreign_folder(situation, set.name);
  if (set.reason.find("may write") != std::string::npos)
    return is_known_as_set(situation, set.name) ? "chmod -R go-w " + folder : whose_is_it(situation);
  if (set.reason.find("Permission denied") != std::string::npos)
    return "ask as root, or as the loader's user";
  const std::string ask = "journalctl -u keysieved says why";
  return is_for_a_loader(situation) ? ask : ask + "; by hand: keysieve publish FILE.ks";
}

std::string key_profile_text(const PublicationStatus& set) {
  return set.key_profile.empty() ? "" : fmt::format("key profile \"{}\", ", set.key_profile);
}

void check_set(const Situation& situation, const SetStatus& set, Findings& findings) {
  const std::string subject = "set " + set.name;
  if (set.damage) {
    return findings.fail(
        subject, "damaged: " + *set.damage,
        fmt::format("keysieve bypass {} until keysieved, which reads all bytes again and again, has "
                    "published it anew, or somebody by hand",
                    set.name));
  }
  if (set.availability == Availability::Ready) {
    return findings.ok(
        subject,
        fmt::format("ready: publication {}, {}, {} keys, {}format {}, keys of {}", set.published->publication,
                    set.published->generation == 0 ? "from a file"
                                                   : fmt::format("generation {}", set.published->generation),
                    format_count(set.published->key_count), key_profile_text(*set.published),
                    set.published->format, age(set.published->as_of, situation.now)));
  }
  if (set.availability == Availability::Bypassed) {  // somebody wants it so
    return findings.warn(subject, set.reason, remedy_of(situation, set));
  }
  findings.fail(subject, fmt::format("{}: {}", to_string(set.availability), set.reason),
                remedy_of(situation, set));
}

std::chrono::seconds patience_of(const Situation& situation) {
  const LoaderConfig* config = situation.config_of_this();
  if (config == nullptr) return kPatience;
  return std::max(kPatience, 3 * std::chrono::ceil<std::chrono::seconds>(config->poll_interval));
}

// Bypassed first: whoever has it attached would go on answering from what is removed.
std::string commands_that_take_away(const std::string& directory, const std::string& set_name) {
  return fmt::format("keysieve bypass {1} --directory {0} && rm -r {0}/{1}", directory, set_name);
}

void report_silence(const Situation& situation, const std::string& set_name, const PublicationStatus& set,
                    Findings& findings) {
  const std::string subject = "loader of " + set_name;
  const std::string seen = "gave its last sign of life " + age(set.heartbeat, situation.now);
  if (situation.config_of_this() == nullptr) {
    return findings.warn(subject, fmt::format("{}, more than {}", seen, format_duration(kPatience)),
                         "--config FILE, that of keysieved, tells how long it may be");
  }
  if (!situation.is_configured(set_name)) {
    return findings.warn(
        subject, seen + ": published here, but not configured",
        "configure it, or take it away: " + commands_that_take_away(situation.question.directory, set_name));
  }
  findings.fail(subject, seen, "systemctl restart keysieved; journalctl -u keysieved");
}

void check_heartbeat(const Situation& situation, const std::string& set_name, const PublicationStatus& set,
                     Findings& findings) {
  const std::string subject = "loader of " + set_name;
  const auto is_old = [&](UnixSeconds moment) {
    return situation.now - moment > patience_of(situation).count();
  };
  if (set.heartbeat == 0) {
    return findings.ok(subject, "none: published by hand, nobody refreshes it");
  }
  if (is_old(set.heartbeat)) return report_silence(situation, set_name, set, findings);
  if (is_old(set.last_confirmed)) {
    return findings.warn(
        subject,
        "is alive, but has confirmed nothing with the store " +
            (set.last_confirmed == 0 ? "yet" : "since " + age(set.last_confirmed, situation.now)),
        "journalctl -u keysieved: the store is away, or a generation is refused");
  }
  findings.ok(subject, "gave a sign of life " + age(set.heartbeat, situation.now));
}

}  // namespace

void check_sets(const Situation& situation, Findings& findings) {
  if (!situation.has_directory) return;
  for (const SetStatus& set : situation.sets) check_set(situation, set, findings);
  if (situation.sets.empty()) {
    findings.fail("sets", situation.question.directory + ": no set is published here",
                  "journalctl -u keysieved; or name the right one: --directory DIR");
  }
}

void check_heartbeats(const Situation& situation, Findings& findings) {
  for (const SetStatus& set : situation.sets) {
    if (set.published) check_heartbeat(situation, set.name, *set.published, findings);
  }
}

// What was written on this host is not of the future, unless the clock has gone back or differs between
// containers.
void check_clock(const Situation& situation, Findings& findings) {
  bool is_right = true;
  for (const SetStatus& set : situation.sets) {
    if (!set.published) continue;
    const PublicationStatus& published = *set.published;
    const UnixSeconds latest = std::max({published.published_at, published.heartbeat, published.as_of});
    if (latest <= situation.now + kClockTolerance) continue;
    is_right = false;
    findings.fail("clock",
                  fmt::format("it is {} here, but {} is of {}", format_moment(situation.now), set.name,
                              format_moment(latest)),
                  "timedatectl: set the clock of this host, or of the one that builds; sets expire by it");
  }
  if (is_right && !situation.sets.empty()) findings.ok("clock", format_moment(situation.now));
}

}  // namespace keysieve
