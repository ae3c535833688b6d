#include "tools/doctor/way_in.hpp"

#include <fmt/core.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>

#include "tools/doctor/volume.hpp"

namespace keysieve {
namespace {

constexpr const char* kAskElsewhere =
    "its groups are not known here: ask with --fastcgi, or in its container";

struct Place {
  std::string path;
  std::string depth;    // option of chgrp
  std::string files;    // in it, that must be readable too
  std::string setting;  // that makes a change of its group last
};

// As the shell finds them. Whoever can open the lock can hold off every publish.
std::string files_of_readers(const std::string& folder) {
  std::string files;
  for (const char* pattern : {"/control", "/*.ks", "/*.live"}) {
    glob_t found{};
    if (::glob((folder + pattern).c_str(), GLOB_NOSORT, nullptr, &found) == 0)
      files += " " + folder + pattern;
    ::globfree(&found);
  }
  return files;
}

std::string opening(const Place& place) {
  const std::string folder = "chmod g+rx " + place.path;
  return place.files.empty() ? folder : folder + "; chmod g+r" + place.files;
}

bool has_group(const User& user, gid_t group) {
  return user.gid == group || std::find(user.groups.begin(), user.groups.end(), group) != user.groups.end();
}

// Whoever joins any other group than the loader's own gets rights that have nothing to do with keysieve.
bool is_group_of_loader(const struct stat& status) {
  if (status.st_uid == 0 || status.st_gid == 0) return false;
  const auto loader = find_user(status.st_uid);
  return loader && has_group(*loader, status.st_gid);
}

bool is_in_volume(const Situation& situation) {
  struct stat status {};
  return ::stat(situation.question.directory.c_str(), &status) == 0 && is_volume(status);
}

// Nobody else can join a group.
bool has_name(const User& user) {
  return find_user(user.uid).has_value();
}

std::string way_into_pod(gid_t group_there, const User& user) {
  if (group_there == 0) return fmt::format("fsGroup: {} in the pod's securityContext", user.gid);
  return fmt::format(
      "fsGroup: {0} or supplementalGroups: [{0}] in the pod's securityContext; where php-fpm starts as root, "
      "{1} into group {0} in /etc/group of its image",
      group_there, user_name(user.uid));
}

std::string way_into(const Place& place, const User& user, const Situation& situation) {
  if (!user.has_known_groups) return kAskElsewhere;
  struct stat status {};
  const bool is_seen = ::stat(place.path.c_str(), &status) == 0;
  if (is_seen && has_group(user, status.st_gid)) return opening(place);
  const std::string open = is_seen && (status.st_mode & S_IXGRP) == 0 ? "; " + opening(place) : "";
  if (is_seen && has_name(user) && is_group_of_loader(status)) {
    const std::string restart = situation.worker ? "; " + situation.worker->restart() : "";
    return fmt::format("usermod -aG {} {}{}{}; or {}", group_name(status.st_gid), user_name(user.uid), open,
                       restart, place.setting);
  }
  if (is_seen && is_in_volume(situation)) return way_into_pod(status.st_gid, user);
  return fmt::format("chgrp {}{} {}{}; and {}", place.depth, group_name(user.gid), place.path, open,
                     place.setting);
}

}  // namespace

std::string way_past(const std::string& folder, const User& user) {
  return user.has_known_groups ? "chmod go+x " + folder : kAskElsewhere;
}

std::string way_into_directory(const Situation& situation, const User& user) {
  return way_into({.path = situation.question.directory,
                   .depth = "",
                   .files = "",
                   .setting = fmt::format("Group={} in the unit of keysieved", group_name(user.gid))},
                  user, situation);
}

std::string way_into_set(const Situation& situation, const User& user, const std::string& set_name) {
  const std::string folder = situation.question.directory + "/" + set_name;
  return way_into({.path = folder,
                   .depth = "-R ",
                   .files = files_of_readers(folder),
                   .setting = fmt::format("group = \"{}\" in keysieve.toml (keysieved's user must be in it)",
                                          group_name(user.gid))},
                  user, situation);
}

}  // namespace keysieve
