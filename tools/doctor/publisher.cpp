#include "tools/doctor/publisher.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "tools/doctor/loader_process.hpp"

namespace keysieve {
namespace {

// Of a place that nobody else may write to.
std::optional<uid_t> sole_owner(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return std::nullopt;
  return status.st_uid;
}

std::vector<uid_t> possible_publishers(const Situation& situation) {
  std::vector<uid_t> found;
  const auto add = [&](std::optional<uid_t> uid) {
    if (uid) found.push_back(*uid);
  };
  const auto owner = sole_owner(situation.question.directory);
  if (owner != 0U) add(owner);
  for (const SetStatus& set : situation.sets) add(owner_of_set(situation, set.name));
  if (situation.config) add(sole_owner(situation.config->cache));
  for (const User& loader : running_loaders(situation)) add(loader.uid);
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

std::optional<uid_t> publisher_of(const Situation& situation) {
  const std::vector<uid_t> possible = possible_publishers(situation);
  const auto other = std::find_if(possible.begin(), possible.end(), [](uid_t uid) { return uid != 0; });
  if (other != possible.end()) return *other;
  return possible.empty() ? std::nullopt : std::optional<uid_t>(0);
}

std::vector<User> running_loaders(const Situation& situation) {
  std::vector<User> found;
  if (!situation.config) return found;
  for (const std::string& process : loaders_with(*situation.question.config_path)) {
    if (const auto user = user_of_process(process)) found.push_back(*user);
  }
  return found;
}

std::optional<User> loader_of(const Situation& situation) {
  const std::vector<User> running = running_loaders(situation);
  if (!running.empty()) return running.front();
  const auto publisher = publisher_of(situation);
  if (!publisher || (*publisher == 0 && sole_owner(situation.config->cache) != 0U)) return std::nullopt;
  return user_with(*publisher);
}

}  // namespace keysieve
