#include "tools/doctor/way_in.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

namespace keysieve {
namespace {

struct Place {
  std::string path;
  std::string depth;    // option of chmod and chgrp
  std::string setting;  // that makes a change of its group last
};

bool has_group(const User& user, gid_t group) {
  return user.gid == group || std::find(user.groups.begin(), user.groups.end(), group) != user.groups.end();
}

// Whoever joins any other group than the loader's own gets rights that have nothing to do with keysieve.
bool is_group_of_loader(const struct stat& status) {
  if (status.st_uid == 0 || status.st_gid == 0) return false;
  const auto loader = find_user(status.st_uid);
  return loader && has_group(*loader, status.st_gid);
}

std::string way_into(const Place& place, const User& user, const Situation& situation) {
  struct stat status {};
  const bool is_seen = ::stat(place.path.c_str(), &status) == 0;
  std::string chmod = fmt::format("chmod {}g+rX {}", place.depth, place.path);
  if (is_seen && has_group(user, status.st_gid)) return chmod;
  const std::string open = is_seen && (status.st_mode & S_IXGRP) == 0 ? "; " + chmod : "";
  if (is_seen && is_group_of_loader(status)) {
    const std::string restart = situation.worker ? "; " + situation.worker->restart() : "";
    return fmt::format("usermod -aG {} {}{}{}; or {}", group_name(status.st_gid), user_name(user.uid), open,
                       restart, place.setting);
  }
  return fmt::format("chgrp {}{} {}{}; and {}", place.depth, group_name(user.gid), place.path, open,
                     place.setting);
}

}  // namespace

std::string way_into_directory(const Situation& situation, const User& user) {
  return way_into({.path = situation.question.directory,
                   .depth = "",
                   .setting = fmt::format("Group={} in the unit of keysieved", group_name(user.gid))},
                  user, situation);
}

std::string way_into_set(const Situation& situation, const User& user, const std::string& set_name) {
  return way_into({.path = situation.question.directory + "/" + set_name,
                   .depth = "-R ",
                   .setting = fmt::format("group = \"{}\" in keysieve.toml", group_name(user.gid))},
                  user, situation);
}

}  // namespace keysieve
