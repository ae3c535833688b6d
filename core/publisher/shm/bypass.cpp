#include "core/publisher/shm/bypass.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <functional>

#include "core/publisher/shm/publisher_folder.hpp"

namespace keysieve {
namespace {

// Root may switch in a folder that was given to another user with all its files: workers that have it mapped
// still answer from it.
std::optional<uid_t> owner_to_trust(const std::string& directory, const std::string& set_name) {
  struct stat folder {};
  if (::geteuid() == 0 && ::lstat((directory + "/" + set_name).c_str(), &folder) == 0) return folder.st_uid;
  return trusted_owner_of(directory, set_name);
}

// Calls `change` with the set's folder, again until it returns true: the page that it has changed is still in
// its place, and so was not taken over unchanged.
void change_page(const std::string& directory, std::string_view set_name,
                 const std::function<bool(const SetFolder&)>& change) {
  const std::string name(set_name);
  while (!change(SetFolder::open(directory, name, owner_to_trust(directory, name)))) {
  }
}

void switch_bypass(const BypassSwitch& bypass, const std::string& directory, std::string_view set_name,
                   UnixSeconds until) {
  change_page(directory, set_name, [&](const SetFolder& folder) {
    const auto control = open_control_page<ControlPage>(folder);
    bypass_of(control.page(), bypass).switch_to(until);
    return control.found_at(folder.path_of(kControlName)) == MappedRegion::Found::This;
  });
}

}  // namespace

void set_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until) {
  switch_bypass(kOperatorBypass, directory, set_name, until);
}

void set_seen_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until) {
  change_page(seen_directory(directory), set_name, [until](const SetFolder& folder) {
    const auto seen = open_seen_page<SeenPage>(folder);
    bypass_of(seen.page()).switch_to(until);
    return seen.found_at(folder.path_of(kSeenPageName)) == MappedRegion::Found::This;
  });
}

void set_store_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until) {
  switch_bypass(kStoreBypass, directory, set_name, until);
}

}  // namespace keysieve
