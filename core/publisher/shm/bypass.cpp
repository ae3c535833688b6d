#include "core/publisher/shm/bypass.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "core/publisher/shm/publisher_folder.hpp"

namespace keysieve {
namespace {

void switch_bypass(const BypassSwitch& bypass, const std::string& directory, std::string_view set_name,
                   UnixSeconds until) {
  change_page(directory, set_name, [&](const SetFolder& folder) {
    const auto control = open_control_page<ControlPage>(folder);
    bypass_of(control.page(), bypass).switch_to(until);
    return control.found_at(folder.path_of(kControlName)) == MappedRegion::Found::This;
  });
}

}  // namespace

std::optional<uid_t> owner_to_trust(const std::string& directory, const std::string& set_name) {
  struct stat folder {};
  if (::geteuid() == 0 && ::lstat((directory + "/" + set_name).c_str(), &folder) == 0) return folder.st_uid;
  return trusted_owner_of(directory, set_name);
}

void change_page(const std::string& directory, std::string_view set_name,
                 const std::function<bool(const SetFolder&)>& change) {
  const std::string name(set_name);
  while (!change(SetFolder::open(directory, name, owner_to_trust(directory, name)))) {
  }
}

void set_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until) {
  switch_bypass(kOperatorBypass, directory, set_name, until);
}

void set_store_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until) {
  switch_bypass(kStoreBypass, directory, set_name, until);
}

}  // namespace keysieve
