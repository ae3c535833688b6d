#include <fmt/core.h>

#include <algorithm>

#include "tools/doctor/checks.hpp"
#include "tools/doctor/publisher.hpp"
#include "tools/doctor/worker_process.hpp"
#include "tools/program/program.hpp"
#include "tools/program/units.hpp"

namespace keysieve {
namespace {

constexpr double kWorkerClockTolerance = 2.0;

// Root and himself a worker believes anyway.
bool needs_trust(const Worker& worker, uid_t publisher) {
  return publisher != 0 && !(worker.user && worker.user->uid == publisher);
}

void check_publisher(const Worker& worker, uid_t publisher, const std::string& of_his,
                     const std::string& remedy, Findings& findings) {
  const auto trusted = find_user(worker.owner);
  const std::string seen = fmt::format("{} belongs to {}, who is", of_his, user_name(publisher));
  if (!needs_trust(worker, publisher) || (trusted && trusted->uid == publisher)) {
    return findings.ok("keysieve.owner", seen + " trusted");
  }
  if (!worker.owner.empty() && !trusted) {
    return findings.fail("keysieve.owner", fmt::format("user \"{}\" is not known", worker.owner), remedy);
  }
  findings.fail("keysieve.owner",
                fmt::format("is {}, but {} not trusted", worker.owner.empty() ? "empty" : worker.owner, seen),
                remedy);
}

// Folders that somebody has given to another user by mistake are not to be trusted: only those of keysieved.
std::string remedy_of_distrust(const Situation& situation, uid_t publisher) {
  std::string trust =
      fmt::format("keysieve.owner = {} in php.ini; {}", user_name(publisher), situation.worker->restart());
  const auto loader = loader_of(situation);
  if (loader && loader->uid == publisher && !situation.loaders.empty()) return trust;
  return fmt::format("if keysieved runs as {}: {}; else give the sets back to the user of keysieved",
                     user_name(publisher), trust);
}

void check_owner(const Situation& situation, Findings& findings) {
  const Worker& worker = *situation.worker;
  const auto publishers = publishers_of(situation);
  if (publishers.empty()) {
    return findings.warn("keysieve.owner", "not looked at: nobody can tell who publishes here",
                         "ask again when a set is published");
  }
  const auto to_trust = std::count_if(publishers.begin(), publishers.end(), [&](const auto& publisher) {
    return needs_trust(worker, publisher.first);
  });
  for (const auto& [publisher, of_his] : publishers) {
    const std::string remedy =
        to_trust == 1
            ? remedy_of_distrust(situation, publisher)
            : "PHP believes one user besides root: publish every set as that one, or in another directory";
    check_publisher(worker, publisher, of_his, remedy, findings);
  }
}

}  // namespace

void check_extension(const Situation& situation, Findings& findings) {
  if (!situation.worker) return;
  const Worker& worker = *situation.worker;
  const std::string php = fmt::format("PHP {} ({}{})", worker.php_version, worker.sapi,
                                      worker.is_thread_safe ? ", thread-safe" : "");
  const std::string minor = worker.php_minor();
  if (worker.extension_version.empty()) {
    return findings.fail("extension", php + " runs without keysieve",
                         fmt::format("apt install php{0}-keysieve; phpenmod -v {0} -s fpm keysieve; {1}",
                                     minor, worker.restart()));
  }
  const std::string seen = fmt::format("keysieve {} in {}", worker.extension_version, php);
  if (is_replaced_in(worker.pid)) {
    return findings.warn("extension", seen + " has been replaced on disk since php-fpm started",
                         worker.restart());
  }
  if (worker.extension_version != kVersion) {
    return findings.warn("extension", fmt::format("{}, but this program is {}", seen, kVersion),
                         "upgrade both, the extension first; " + worker.restart());
  }
  findings.ok("extension", fmt::format("{}, reads snapshot format {}", seen, worker.snapshot_formats));
}

void check_settings(const Situation& situation, Findings& findings) {
  if (!situation.worker || situation.worker->extension_version.empty()) return;
  const Worker& worker = *situation.worker;
  if (!worker.is_enabled) {
    findings.fail("keysieve.enabled", "is off: every lookup answers maybe",
                  "keysieve.enabled = 1 in php.ini; " + worker.restart());
  }
  if (!worker.instruction_set.empty()) {
    findings.warn("KEYSIEVE_INSTRUCTION_SET", "is " + worker.instruction_set + ": lookups may be slower",
                  "take it out of the environment of php-fpm, unless it is meant");
  }
  if (!situation.is_right_directory()) return;
  if (situation.worker_reads_this()) {
    findings.ok("keysieve.directory", worker.directory);
  } else {
    findings.fail(
        "keysieve.directory",
        fmt::format("is {} in PHP, the sets lie in {}", worker.directory, situation.question.directory),
        fmt::format("keysieve.directory = {} in php.ini; {}; in a chroot mount it there",
                    situation.question.directory, worker.restart()));
  }
  if (situation.has_directory) check_owner(situation, findings);
}

void check_worker_sets(const Situation& situation, Findings& findings) {
  if (!situation.worker) return;
  for (const SetStatus& set : situation.sets) {
    const auto found = situation.worker->sets.find(set.name);
    if (found == situation.worker->sets.end()) continue;
    const WorkerSet& there = found->second;
    const std::string subject = "worker, set " + set.name;
    if (there.availability != "Ready") {
      const bool is_meant = there.availability == "Bypassed" && set.availability == Availability::Bypassed;
      const std::string seen = "every lookup answers maybe: " + there.availability;
      const std::string remedy = situation.worker_reads_this() ? "see above; PHP's error log has the reason"
                                                               : "see keysieve.directory";
      findings.add({is_meant ? Severity::Warning : Severity::Error, subject, seen, remedy});
    } else if (set.published && there.publication < set.published->publication) {
      findings.warn(subject,
                    fmt::format("answers from publication {}, {} is current", there.publication,
                                set.published->publication),
                    "ask again; if it stays so, PHP's error log says why it was refused");
    } else {
      findings.ok(subject, fmt::format("answers from publication {}", there.publication));
    }
  }
}

void check_worker_clock(const Situation& situation, Findings& findings) {
  if (!situation.worker) return;
  const Worker& worker = *situation.worker;
  const bool is_right = worker.clock > worker.asked_at - kWorkerClockTolerance &&
                        worker.clock < worker.answered_at + kWorkerClockTolerance;
  const std::string seen = format_moment(static_cast<UnixSeconds>(worker.clock));
  if (is_right) return findings.ok("clock of the worker", seen);
  findings.fail("clock of the worker",
                fmt::format("it is {} there, {} here", seen,
                            format_moment(static_cast<UnixSeconds>(worker.answered_at))),
                "set the clocks; sets expire and bypasses end by the worker's own");
}

void check_confinement(const Situation& situation, Findings& findings) {
  if (!situation.worker) return;
  const Worker& worker = *situation.worker;
  if (!situation.question.worker->chroot.empty()) {
    findings.ok("chroot", situation.question.worker->chroot);
  }
  if (!worker.open_basedir.empty()) {
    findings.ok("open_basedir",
                worker.open_basedir + ": does not matter, the extension opens its directory itself");
  }
  const auto is_ready = [](const auto& set) { return set.second.availability == "Ready"; };
  const bool all_ready = std::all_of(worker.sets.begin(), worker.sets.end(), is_ready);
  if (const std::string label = security_label_of(worker.pid); !label.empty()) {
    const std::string& directory = situation.question.directory;
    findings.add(
        {all_ready ? Severity::Ok : Severity::Warning, "AppArmor, SELinux", "the worker runs as " + label,
         all_ready ? ""
                   : fmt::format("if the kernel's log (dmesg) says denied: AppArmor: \"{0}/** r,\" into the "
                                 "profile; SELinux: semanage fcontext -a -t httpd_var_run_t '{0}(/.*)?'; "
                                 "restorecon -R {0}",
                                 directory)});
  }
  if (const auto limit = address_space_of(worker.pid); limit && *limit < situation.wanted_bytes()) {
    findings.warn("address space",
                  fmt::format("the worker may map {}, three publications of every set take {}",
                              format_bytes(*limit), format_bytes(situation.wanted_bytes())),
                  "raise rlimit (LimitAS= of php-fpm's unit)");
  }
}

}  // namespace keysieve
