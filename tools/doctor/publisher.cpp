#include "tools/doctor/publisher.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <set>

#include "core/shm/set_folder.hpp"

namespace keysieve {
namespace {

// Root makes folders for others.
std::optional<uid_t> sole_owner_but_root(const std::string& path) {
  const auto owner = sole_owner(path);
  return owner == 0U ? std::nullopt : owner;
}

// Those who publish the sets of the configuration here, which there must be, as far as the folders tell.
std::set<uid_t> owners_of_configured_sets(const Situation& situation) {
  if (!situation.loader_publishes_here()) return {};
  if (const auto owner = sole_owner_but_root(situation.question.directory)) return {*owner};
  std::set<uid_t> owners;
  for (const SetConfig& set : situation.config->sets) {
    if (const auto owner = owner_of_set(situation, set.name)) owners.insert(*owner);
  }
  owners.erase(0);
  return owners;
}

std::optional<uid_t> who_will_publish(const Situation& situation) {
  if (const auto loader = loader_of(situation)) return loader->uid;
  return situation.config ? std::nullopt : sole_owner_but_root(situation.question.directory);
}

}  // namespace

std::optional<uid_t> owner_of(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return status.st_uid;
}

std::optional<uid_t> owner_of_set(const Situation& situation, const std::string& set_name) {
  return owner_of(situation.question.directory + "/" + set_name);
}

std::optional<uid_t> sole_owner(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return std::nullopt;
  return status.st_uid;
}

bool may_be_published(const std::string& folder) {
  struct stat status {};
  return ::lstat((folder + "/" + kControlName).c_str(), &status) == 0 || errno == EACCES;
}

std::map<uid_t, std::string> publishers_of(const Situation& situation) {
  std::map<uid_t, std::string> found;
  for (const SetStatus& set : situation.sets) {
    const std::string folder = situation.question.directory + "/" + set.name;
    const auto owner = owner_of(folder);
    if (owner && may_be_published(folder)) found.emplace(*owner, folder);
  }
  if (!found.empty()) return found;
  if (const auto owner = who_will_publish(situation)) {
    found.emplace(*owner, "what is to be published in " + situation.question.directory);
  }
  return found;
}

std::optional<User> loader_of(const Situation& situation) {
  if (!situation.config) return std::nullopt;
  if (!situation.loaders.empty()) return situation.loaders.front().user;
  std::set<uid_t> owners = owners_of_configured_sets(situation);
  if (owners.empty()) {
    if (const auto owner = sole_owner_but_root(situation.config->cache)) owners = {*owner};
  }
  return owners.size() == 1 ? std::optional(user_with(*owners.begin())) : std::nullopt;
}

}  // namespace keysieve
