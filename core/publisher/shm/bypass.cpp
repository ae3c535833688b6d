#include "core/publisher/shm/bypass.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include "core/publisher/shm/publisher_folder.hpp"
#include "core/publisher/shm/writable_pages.hpp"

namespace keysieve {
namespace {

// Calls `change` with the current control page; calls it again if that page has been replaced meanwhile.
template <typename Change>
void change_control(const std::string& directory, std::string_view set_name, Change change) {
  for (;;) {
    const SetFolder folder =
        SetFolder::open(directory, set_name, owner_to_trust(directory, std::string(set_name)));
    const WritableControlFile control(folder);
    change(control.writable_page());
    if (control.found_at(folder.path_of(kControlName)) == ControlFile::Found::This) return;
  }
}

// Sequentially consistent, for Publisher::clear_expired_bypass(). A reader that sees the bit (acquire,
// SetReader::refresh) sees the end as well.
void switch_on(const BypassSwitch& bypass, const std::string& directory, std::string_view set_name,
               UnixSeconds until) {
  change_control(directory, set_name, [&bypass, until](ControlPage& page) {
    (page.*bypass.until).store(until);
    page.current.fetch_or(bypass.bit);
  });
}

void switch_off(const BypassSwitch& bypass, const std::string& directory, std::string_view set_name) {
  change_control(directory, set_name, [&bypass](ControlPage& page) {
    (page.*bypass.until).store(kBypassOver);
    page.current.fetch_and(~bypass.bit);
  });
}

}  // namespace

std::optional<uid_t> owner_to_trust(const std::string& directory, const std::string& set_name) {
  struct stat folder {};
  if (::geteuid() == 0 && ::lstat((directory + "/" + set_name).c_str(), &folder) == 0) return folder.st_uid;
  return trusted_owner_of(directory, set_name);
}

void set_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until) {
  switch_on(kOperatorBypass, directory, set_name, until);
}

void clear_bypass(const std::string& directory, std::string_view set_name) {
  switch_off(kOperatorBypass, directory, set_name);
}

void set_store_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until) {
  switch_on(kStoreBypass, directory, set_name, until);
}

void clear_store_bypass(const std::string& directory, std::string_view set_name) {
  switch_off(kStoreBypass, directory, set_name);
}

}  // namespace keysieve
