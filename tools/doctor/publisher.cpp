#include "tools/doctor/publisher.hpp"

#include <sys/stat.h>

#include "tools/doctor/loader_process.hpp"

namespace keysieve {
namespace {

// The directory's own user, where nobody else may make a set in it. Root makes directories for others.
std::optional<uid_t> owner_of_sets(const Situation& situation) {
  const auto of_directory = sole_owner(situation.question.directory);
  if (of_directory && *of_directory != 0) return of_directory;
  std::optional<uid_t> found;
  for (const SetStatus& set : situation.sets) {
    if (const auto owner = owner_of_set(situation, set.name)) found = owner;
    if (found && *found != 0) return found;
  }
  return found;
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

std::optional<uid_t> publisher_of(const Situation& situation) {
  if (const auto owner = owner_of_sets(situation)) return owner;
  const auto loader = loader_of(situation);
  return loader ? std::optional(loader->uid) : std::nullopt;
}

std::vector<User> running_loaders(const Situation& situation) {
  std::vector<User> found;
  if (!situation.config) return found;
  for (const std::string& process :
       loaders_with(*situation.question.config_path, situation.config->directory)) {
    if (const auto user = user_of_process(process)) found.push_back(*user);
  }
  return found;
}

std::optional<User> loader_of(const Situation& situation) {
  if (!situation.config) return std::nullopt;
  const std::vector<User> running = running_loaders(situation);
  if (!running.empty()) return running.front();
  auto uid = situation.loader_publishes_here() ? owner_of_sets(situation) : std::nullopt;
  if (!uid || *uid == 0) uid = sole_owner(situation.config->cache);
  return uid ? std::optional(user_with(*uid)) : std::nullopt;
}

}  // namespace keysieve
