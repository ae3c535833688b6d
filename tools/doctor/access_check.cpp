#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "tools/doctor/checks.hpp"

namespace keysieve {
namespace {

std::string groups_of(const User& user) {
  std::string names = group_name(user.gid);
  for (const gid_t group : user.groups) {
    if (group != user.gid) names += ", " + group_name(group);
  }
  return names;
}

// Whoever joins any other group than the loader's own gets rights that have nothing to do with keysieve.
bool is_group_of_loader(const struct stat& folder) {
  if (folder.st_uid == 0 || folder.st_gid == 0) return false;
  const auto loader = find_user(folder.st_uid);
  return loader &&
         std::find(loader->groups.begin(), loader->groups.end(), folder.st_gid) != loader->groups.end();
}

// What lets him in; asked before this process becomes him, who may see neither folder nor names.
std::string way_in(const Situation& situation, const User& user, const std::string& set_name) {
  struct stat status {};
  const std::string folder = situation.question.directory + "/" + set_name;
  const std::string group = group_name(user.gid);
  if (::stat(folder.c_str(), &status) != 0 || !is_group_of_loader(status)) {
    return fmt::format("chgrp -R {} {}; and group = \"{}\" in keysieve.toml", group, folder, group);
  }
  const std::string restart = situation.worker ? "; " + situation.worker->restart() : "";
  return fmt::format("usermod -aG {} {}{}; or group = \"{}\" in keysieve.toml", group_name(status.st_gid),
                     user_name(user.uid), restart, group);
}

struct Reading {
  std::string set_name;
  bool must_succeed = false;  // it can be read from here
  std::string way_in;
};

std::string remedy_of(const Reading& reading, const std::string& reason) {
  if (reason.find("Permission denied") != std::string::npos) return reading.way_in;
  if (reason.find("configured owner") != std::string::npos) {
    return "keysieve.owner in php.ini must be whom the folder belongs to";
  }
  return "see what is said of set " + reading.set_name;
}

void read_as(const Situation& situation, const User& user, Findings& findings) {
  const std::string& directory =
      situation.worker ? situation.worker->directory : situation.question.directory;
  const auto trusted = situation.worker ? find_user(situation.worker->owner) : std::nullopt;
  const uid_t owner = trusted ? trusted->uid : situation.publisher();
  const std::string who = fmt::format("{} (groups {})", user_name(user.uid), groups_of(user));
  std::vector<Reading> readings;
  for (const SetStatus& set : situation.sets) {
    readings.push_back({set.name, set.published.has_value(), way_in(situation, user, set.name)});
  }
  find_as(user, findings, "access", [&](Findings& found) {
    for (const Reading& reading : readings) {
      SetReader reader({.directory = directory, .trusted_owner = owner, .max_jitter = {}}, reading.set_name);
      static_cast<void>(reader.pin());
      if (reader.attachment() != nullptr || !reading.must_succeed) continue;
      found.fail("access", fmt::format("{} cannot read {}: {}", who, reading.set_name, reader.reason()),
                 remedy_of(reading, reader.reason()));
    }
    if (found.list().empty()) found.ok("access", who + " can read what is published");
  });
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
  read_as(situation, user, findings);
}

}  // namespace keysieve
