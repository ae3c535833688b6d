#include "tools/doctor/foreign_folder.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "tools/doctor/publisher.hpp"

namespace keysieve {
namespace {

bool may_write(const User& user, const std::string& directory) {
  Findings denials;
  find_as(user, denials, "directory", [&](Findings& found) {
    if (::access(directory.c_str(), W_OK | X_OK) != 0) found.fail("directory", "", "");
  });
  return denials.list().empty();
}

bool has_folders_of_others(const Situation& situation) {
  return std::any_of(situation.sets.begin(), situation.sets.end(), [&](const SetStatus& set) {
    return !situation.is_configured(set.name) && owner_of_set(situation, set.name);
  });
}

std::string remedy_for(const User& loader, const Situation& situation, const std::string& set_name) {
  const std::string& directory = situation.question.directory;
  const uid_t owner = owner_of(directory + "/.").value_or(0);
  if (owner != 0 && owner != loader.uid)
    return "run keysieved as " + user_name(owner) + ": User= of its unit";
  std::string removal = fmt::format("rm -r {}/{}; keysieved makes it anew", directory, set_name);
  if (may_write(loader, directory)) return removal;
  if (has_folders_of_others(situation)) {
    return "keysieved needs a directory of its own: directory = … in " + *situation.question.config_path;
  }
  std::string gift = fmt::format("chown {} {}", user_name(loader.uid), directory);
  return owner_of_set(situation, set_name) == loader.uid ? gift : gift + "; " + removal;
}

}  // namespace

bool is_known_as_set(const Situation& situation, const std::string& set_name) {
  return situation.is_configured(set_name) || may_be_published(situation.question.directory + "/" + set_name);
}

std::string whose_is_it(const Situation& situation) {
  const std::string question = "whose is it? keysieved has not made it, or --directory is wrong";
  return situation.config ? question : question + "; --config FILE, that of keysieved, tells";
}

std::string remedy_of_foreign_folder(const Situation& situation, const std::string& set_name) {
  if (!situation.is_configured(set_name)) return whose_is_it(situation);
  if (situation.loaders.empty()) return "start keysieved, and ask again, as root, where it is seen to run";
  const User& loader = situation.loaders.front().user;
  if (!can_be(loader)) return "ask as root";
  return remedy_for(loader, situation, set_name);
}

}  // namespace keysieve
