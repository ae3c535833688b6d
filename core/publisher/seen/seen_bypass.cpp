#include "core/publisher/seen/seen_bypass.hpp"

namespace keysieve {

void set_seen_bypass(const std::string& directory, std::string_view set_name, UnixSeconds until) {
  change_page(seen_directory(directory), set_name, [until](const SetFolder& folder) {
    const auto mapped = open_seen_page<SeenPage>(folder);
    bypass_of(mapped.page()).switch_to(until);
    return mapped.found_at(folder.path_of(kSeenPageName)) == MappedRegion::Found::This;
  });
}

}  // namespace keysieve
