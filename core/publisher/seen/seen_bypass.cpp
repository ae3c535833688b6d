#include "core/publisher/seen/seen_bypass.hpp"

#include "core/publisher/seen/writable_seen_page.hpp"

namespace keysieve {

void set_seen_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until) {
  change_page(seen_directory(directory), set_name, [until](const SetFolder& folder) {
    const WritableSeenPageFile file(folder);
    const std::string path = folder.path_of(kSeenPageName);
    file.check(path);
    bypass_of(file.writable_page()).switch_to(until);
    return file.is_at(path);
  });
}

void clear_seen_bypass(const std::string& directory, std::string_view set_name) {
  set_seen_bypass(directory, set_name, kBypassOver);
}

}  // namespace keysieve
