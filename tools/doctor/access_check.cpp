#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "tools/doctor/checks.hpp"
#include "tools/doctor/publisher.hpp"
#include "tools/doctor/way_in.hpp"

namespace keysieve {
namespace {

std::string groups_of(const User& user) {
  if (!user.has_known_groups) return "not known";
  std::string names = group_name(user.gid);
  for (const gid_t group : user.groups) {
    if (group != user.gid) names += ", " + group_name(group);
  }
  return names;
}

struct Reading {
  std::string set_name;
  std::optional<uid_t> trusted_owner;
  bool must_succeed = false;  // it can be read from here
  std::string way_in;
};

// What somebody tries, with all that must be known before this process becomes him.
struct Attempt {
  std::string who;
  std::string root;       // of his, without a slash at its end
  std::string directory;  // as he sees it
  std::string way_into_directory;
  std::vector<Reading> readings;
};

// Whom the worker believes, rightly or not; without one it is not asked who is believed.
std::optional<uid_t> trusted_owner(const Situation& situation, const std::string& set_name) {
  if (!situation.worker) return owner_of_set(situation, set_name);
  const auto user = find_user(situation.worker->owner);
  return user ? std::optional(user->uid) : std::nullopt;
}

Attempt attempt_of(const Situation& situation, const User& user) {
  Attempt attempt{
      .who = fmt::format("{} (groups {})", user_name(user.uid), groups_of(user)),
      .root = user.root == "/" ? "" : user.root,
      .directory = situation.worker ? situation.worker->directory : situation.question.directory,
      .way_into_directory = way_into_directory(situation, user),
      .readings = {},
  };
  for (const SetStatus& set : situation.sets) {
    attempt.readings.push_back({.set_name = set.name,
                                .trusted_owner = trusted_owner(situation, set.name),
                                .must_succeed = set.published.has_value(),
                                .way_in = way_into_set(situation, user, set.name)});
  }
  return attempt;
}

// The outermost folder on the way to the directory, or that itself, that this process may not pass.
std::filesystem::path what_denies(const std::filesystem::path& directory) {
  std::filesystem::path part;
  for (const auto& name : directory) {
    part /= name;
    if (::access(part.c_str(), X_OK) != 0 && errno == EACCES) return part;
  }
  return {};
}

bool may_pass(const Attempt& attempt, const User& user, Findings& findings) {
  const auto part = what_denies(attempt.directory);
  if (part.empty()) return true;
  std::error_code failure;
  const bool is_directory = std::filesystem::equivalent(part, attempt.directory, failure);
  findings.fail("access", fmt::format("{} cannot pass {}: Permission denied", attempt.who, part.native()),
                is_directory ? attempt.way_into_directory : way_past(attempt.root + part.native(), user));
  return false;
}

bool is_denied(std::string_view reason) {
  return reason.find("Permission denied") != std::string::npos;
}

std::string remedy_of(const Reading& reading, std::string_view reason) {
  if (is_denied(reason)) return reading.way_in;
  if (reason.find("configured owner") != std::string::npos) {
    return "keysieve.owner in php.ini must be whom the folder belongs to";
  }
  return "see what is said of set " + reading.set_name;
}

void read_sets(const Attempt& attempt, Findings& findings) {
  bool has_read = false;
  for (const Reading& reading : attempt.readings) {
    SetReader reader(
        {.directory = attempt.directory, .trusted_owner = reading.trusted_owner, .max_jitter = {}},
        reading.set_name);
    reader.follow();
    if (reader.attachment() != nullptr) {
      has_read = true;
      continue;
    }
    if (!reading.must_succeed && !is_denied(reader.reason())) continue;
    findings.fail("access",
                  fmt::format("{} cannot read {}: {}", attempt.who, reading.set_name, reader.reason()),
                  remedy_of(reading, reader.reason()));
  }
  if (has_read && findings.list().empty()) findings.ok("access", attempt.who + " can read what is published");
}

}  // namespace

void check_access(const Situation& situation, Findings& findings) {
  if (!situation.reader || !situation.has_directory || situation.sets.empty()) return;
  const User& user = *situation.reader;
  if (situation.worker && (situation.worker->extension_version.empty() || !situation.worker_reads_this()))
    return;
  if (!can_be(user)) {
    return findings.warn("access", "not looked at: only root can do it as " + user_name(user.uid),
                         "ask as root");
  }
  const Attempt attempt = attempt_of(situation, user);
  find_as(user, findings, "access", [&](Findings& found) {
    if (may_pass(attempt, user, found)) read_sets(attempt, found);
  });
}

}  // namespace keysieve
