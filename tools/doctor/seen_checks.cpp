// The seen sets of a directory: whether a worker could add keys, and what the loader says of them.
#include <fmt/core.h>

#include <algorithm>

#include "tools/doctor/doctor.hpp"
#include "tools/program/units.hpp"
#include "tools/status/seen_set_facts.hpp"

namespace keysieve {
namespace {

std::string fact_of(const SeenSetFacts& set) {
  if (!set.live) return set.reason;
  return fmt::format("{}: {} of {} in the newest of {}", set.reason.empty() ? "ready" : set.reason,
                     format_count(static_cast<std::uint64_t>(set.live->keys)),
                     format_count_of(set.live->capacity, "key"),
                     format_count_of(set.live->windows, "window"));
}

void check_seen_set(const SeenSetFacts& set, Findings& findings) {
  const std::string subject = "seen set " + set.name;
  const bool is_bypassed = set.availability == Availability::Bypassed;
  if (is_bypassed) findings.warn(subject, FactCode::Bypassed, fact_of(set));
  if (!is_bypassed && set.troubles.empty()) return findings.ok(subject, fact_of(set));
  for (const std::string_view code : set.troubles) {
    findings.add(set.live ? Severity::Warning : Severity::Error, subject, code, fact_of(set));
  }
}

}  // namespace

void check_seen_sets(const std::string& directory, const LoaderConfig* config, Findings& findings,
                     const std::string& shm_rmid_forced) {
  std::vector<std::string> names;
  try {
    names = seen_sets_in(directory);
  } catch (const Error& error) {
    return findings.fail("seen sets", error);
  }
  for (const std::string& name : names) {
    check_seen_set(seen_set_facts(directory, name, unix_now()), findings);
    if (config != nullptr && std::ranges::find(config->seen, name, &SeenConfig::name) == config->seen.end())
      findings.warn("seen set " + name, FactCode::NotConfigured, "is here, but not configured");
  }
  const bool has_any = !names.empty() || (config != nullptr && !config->seen.empty());
  if (has_any && is_shm_rmid_forced(shm_rmid_forced))
    findings.warn("seen sets", FactCode::SeenMemoryMayGo, kShmRmidForced);
  if (config == nullptr) return;
  for (const SeenConfig& seen : config->seen) {
    if (std::ranges::find(names, seen.name) == names.end())
      findings.add(Severity::Error, "seen set " + seen.name, to_string(Trouble::SeenMissing),
                   "configured, but not in " + seen_directory(directory));
  }
}

}  // namespace keysieve
